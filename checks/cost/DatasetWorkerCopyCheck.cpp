//===- DatasetWorkerCopyCheck.cpp -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/DataLoaders.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

constexpr struct DatasetWorkerCopyReasons {
  Reason NotIndexed{"not-indexed", Effect::Advice,
                    "It is a container of strings, or of containers that are "
                    "not indexed by the example: many of them, or few."};
  Reason NoWorkers{"no-workers", Effect::Silent,
                   "The loader has no workers, which is the default, or one."};
  Reason Unknown{"workers-unknown", Effect::Silent,
                 "The number of workers is known at run time only."};
  Reason Seeded{"seeded-where-used", Effect::Silent,
                "The engine is seeded or assigned where it is used."};
  Reason CopiesItself{"copies-itself", Effect::Silent,
                      "The class has a copy constructor of its own."};
  Reason Small{"small-data", Effect::Silent,
               "It is small as a rule: a container of numbers with one entry "
               "for an example (labels, means), or strings that are called "
               "paths, files, names or classes."};
} DatasetWorkerCopy{};

/// docs/checks/libtorch-dataset-worker-copy.md says what it finds and why.
class DatasetWorkerCopyCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

struct Workers {
  std::optional<int64_t> Count; ///< Unknown: one for each core, or some.
  const Expr *Where = nullptr;
  const Reason *WhyNot = nullptr; ///< Set where there are not surely several.
};

/// How many workers \p E says, as far as it can be computed.
Workers countOf(const Expr *E, cpp::Body *In, const ASTContext &Context) {
  if (std::optional<int64_t> Count = cpp::constantInt(E, Context))
    return {Count, E, *Count < 2 ? &DatasetWorkerCopy.NoWorkers : nullptr};
  if (torch::asksForConcurrency(E))
    return {std::nullopt, E};
  // config.workers, which its class starts with a number above 0: some.
  const auto *Member = dyn_cast<MemberExpr>(cpp::stripImplicit(E));
  if (const auto *Field = dyn_cast_or_null<FieldDecl>(
          Member ? Member->getMemberDecl() : nullptr);
      Field && Field->getInClassInitializer()) {
    Workers Usual = countOf(Field->getInClassInitializer(), nullptr, Context);
    if (Usual.Where)
      return Usual.Count == 0 ? Usual : Workers{std::nullopt, E};
  }
  // int workers = 4; that nobody changes.
  if (const Expr *Origin = In ? In->originOf(E) : nullptr;
      Origin && Origin != cpp::stripImplicit(E))
    return countOf(Origin, nullptr, Context);
  return {std::nullopt, nullptr, &DatasetWorkerCopy.Unknown};
}

/// The workers that \p Options ask for; none by default.
Workers workersOf(const Expr *Options, cpp::Body *In,
                  const ASTContext &Context) {
  // Variables stand for few others; the bound guards against odd code.
  for (unsigned Hops = 0; Options && Hops < cpp::MaxChase; ++Hops) {
    torch::WorkersSetter Chain = torch::asWorkersSetter(Options);
    const VarDecl *Var = cpp::variableOf(Chain.Object);
    // options.workers(4); as a statement of its own: the last one counts.
    if (!Chain.Workers && Var && Var->isLocalVarDecl() && In)
      cpp::forEachCall(In->root(), [&](const CallExpr *Call) {
        torch::WorkersSetter Set = torch::asWorkersSetter(Call);
        if (Set.Workers && cpp::variableOf(Set.Object) == Var)
          Chain.Workers = Set.Workers;
      });
    if (Chain.Workers)
      return countOf(Chain.Workers, In, Context);
    if (isa<MemberExpr>(cpp::stripImplicit(Chain.Object)) ||
        isa_and_nonnull<ParmVarDecl>(Var))
      return {std::nullopt, nullptr, &DatasetWorkerCopy.Unknown};
    Options = Var ? Var->getInit() : nullptr;
  }
  return {std::nullopt, nullptr, &DatasetWorkerCopy.NoWorkers};
}

/// A member that each copy of an object has for itself, and that the methods
/// which run on the copy use.
struct CopiedMember {
  enum Kind {
    Random, ///< A generator of random numbers, with its state.
    Cache,  ///< What a method that runs on the copy adds elements to.
    Data,   ///< Numbers for every example, a large array, many strings.
  };
  Kind What;
  const FieldDecl *Field;
  const flow::CopyUse *Use; ///< By methods that run on the copy.
  const Reason *Why;        ///< Set where it is weaker than others, or silent.
};

/// What a value owns on the heap, from little to much.
enum class Owns {
  Nothing,
  String,
  Numbers, ///< One row of numbers.
  Strings,
  Rows,  ///< Numbers in containers of containers.
  Large, ///< An array, in the object itself.
};

constexpr CharUnits::QuantityType LargeArray = 1 << 20;

class OwnedData {
public:
  explicit OwnedData(const ASTContext &Context) : Context(Context) {}

  Owns of(QualType T) {
    if (T.isNull() || T->isDependentType() || T->isReferenceType() ||
        T->isPointerType())
      return Owns::Nothing;
    if (const auto *Array = Context.getAsConstantArrayType(T))
      return isLarge(T) ? Owns::Large : of(Array->getElementType());
    const CXXRecordDecl *R = T->getAsCXXRecordDecl();
    if (!R || !R->hasDefinition())
      return Owns::Nothing;
    // A class that owns its like is first met as one that owns nothing.
    if (auto [It, New] = Known.try_emplace(R, Owns::Nothing); !New)
      return It->second;
    return Known[R] = of(R->getDefinition(), T);
  }

private:
  bool isLarge(QualType T) const {
    return !T->isIncompleteType() &&
           Context.getTypeSizeInChars(T).getQuantity() >= LargeArray;
  }

  Owns of(const CXXRecordDecl *R, QualType T) {
    Owns Most = Owns::Nothing;
    auto Add = [&](QualType Part) {
      Most = std::max(Most, of(Part));
      return false;
    };
    // Handles: copies refer to the same data.
    if (torch::ownsTensors(T) || !cpp::pointeeOf(T).isNull())
      return Owns::Nothing;
    if (cpp::isContainer(R)) {
      cpp::anyTypeArgument(R, Add);
      if (Most == Owns::String || Most == Owns::Strings)
        return Owns::Strings;
      if (Most != Owns::Nothing)
        return Owns::Rows;
      return cpp::anyTypeArgument(R, isNotPlain) ? Owns::Nothing
                                                 : Owns::Numbers;
    }
    if (cpp::isStdClass(R, {"basic_string"}))
      return Owns::String;
    if (cpp::isStdClass(R, {"array"}) && isLarge(T))
      return Owns::Large;
    if (cpp::isStdClass(R, {"pair", "tuple", "array", "optional"}))
      cpp::anyTypeArgument(R, Add);
    else if (!R->isInStdNamespace() &&
             cpp::isUserCode(R->getLocation(), Context.getSourceManager()))
      cpp::anyPart(R, Add);
    return Most;
  }

  /// Not a number or a struct of numbers: handles, pointers and classes of
  /// other libraries, which share or are not known.
  static bool isNotPlain(QualType T) {
    if (T->isPointerType() || torch::mayHoldTensor(T))
      return true;
    const CXXRecordDecl *R = T->getAsCXXRecordDecl();
    if (!R || !R->hasDefinition())
      return R != nullptr;
    // The traits next to the elements: allocator, less, hash.
    return R->isInStdNamespace()
               ? !cpp::isStdClass(R, {"allocator", "less", "hash", "equal_to",
                                      "pair", "tuple", "array", "complex",
                                      "char_traits"})
               : !R->isTriviallyCopyable();
  }

  const ASTContext &Context;
  llvm::DenseMap<const CXXRecordDecl *, Owns> Known;
};

bool copiesItself(const CXXRecordDecl *R) {
  return llvm::any_of(R->ctors(), [](const CXXConstructorDecl *Ctor) {
    return Ctor->isCopyConstructor() && Ctor->isUserProvided();
  });
}

/// A generator, or a member of a user's class that holds one by value.
bool holdsEngine(QualType T, const SourceManager &SM) {
  if (torch::isRandomEngine(T))
    return true;
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  return R && R->hasDefinition() && cpp::isUserCode(R->getLocation(), SM) &&
         !copiesItself(R->getDefinition()) &&
         llvm::any_of(R->getDefinition()->fields(), [&](const FieldDecl *F) {
           return holdsEngine(F->getType(), SM);
         });
}

/// What the copy of \p Field is worth that \p Use uses, if anything.
std::optional<CopiedMember> copyOf(const FieldDecl *Field,
                                   const flow::CopyUse &Use) {
  const ASTContext &Context = Field->getASTContext();
  const QualType T = Field->getType();
  if (holdsEngine(T, Context.getSourceManager()))
    return CopiedMember{CopiedMember::Random, Field, &Use,
                        Use.Seeded ? &DatasetWorkerCopy.Seeded : nullptr};
  const Owns What = OwnedData(Context).of(T);
  if (Use.isFilled() && !Use.Emptied && cpp::isContainer(cpp::recordOf(T)) &&
      (torch::mayHoldTensor(T) || What >= Owns::Rows))
    return CopiedMember{CopiedMember::Cache, Field, &Use, nullptr};
  if (What == Owns::Nothing || What == Owns::String)
    return std::nullopt;
  const Reason *Why =
      What == Owns::Large || (What == Owns::Rows && Use.Indexed) ||
              (What == Owns::Numbers && Use.Strided)
          ? nullptr
      : What == Owns::Numbers ||
              (What == Owns::Strings && torch::namesSmallText(Field->getName()))
          ? &DatasetWorkerCopy.Small
          : &DatasetWorkerCopy.NotIndexed;
  return CopiedMember{CopiedMember::Data, Field, &Use, Why};
}

/// Adds to \p Found the members of \p Class and its bases that matter when an
/// object is copied for each of several threads. Handles (tensors,
/// std::shared_ptr, cv::Mat) are shared by the copies and stay out.
void collect(const CXXRecordDecl *Class, const flow::CopyUses &Used,
             const Reason *Why, llvm::SmallVectorImpl<CopiedMember> &Found) {
  if (copiesItself(Class))
    Why = &DatasetWorkerCopy.CopiesItself;
  for (const CXXBaseSpecifier &Base : Class->bases()) {
    const CXXRecordDecl *R = Base.getType()->getAsCXXRecordDecl();
    if (R && R->hasDefinition() &&
        cpp::isUserCode(R->getLocation(),
                        Class->getASTContext().getSourceManager()))
      collect(R->getDefinition(), Used, Why, Found);
  }
  for (const FieldDecl *Field : Class->fields()) {
    auto It = Used.Of.find(Field);
    if (It == Used.Of.end() || !Field->getIdentifier())
      continue;
    if (auto Copy = copyOf(Field, It->second)) {
      Copy->Why = Why ? Why : Copy->Why;
      Found.push_back(*Copy);
    }
  }
}

Finding worded(const CopiedMember &Copy, const CXXRecordDecl *Class,
               const CallExpr *Loader, const Workers &Copies) {
  const std::string Name = quoted(Copy.Field);
  const bool IsCache = Copy.What == CopiedMember::Cache;
  const Expr *Used = IsCache ? Copy.Use->Filled : Copy.Use->First;
  Finding F =
      Finding::at(Copy.Field->getLocation())
          .says((Copy.What == CopiedMember::Random ? "repeated random numbers: "
                                                   : "duplicated memory: ") +
                (Copies.Count ? "each of the " + std::to_string(*Copies.Count) +
                                    " workers"
                              : "each worker") +
                " of the data loader " +
                (IsCache ? "fills its own copy of " + Name +
                               ", and their memory adds up; share it through a "
                               "std::shared_ptr, with a mutex"
                 : Copy.What == CopiedMember::Random
                     ? "has a copy of " + Name +
                           " and draws the same random numbers; seed a "
                           "generator from the index where it is used"
                     : "has a copy of " + Name +
                           "; a tensor or a std::shared_ptr to the data is "
                           "shared"))
          .note(Used ? Used->getExprLoc() : Copy.Field->getLocation(),
                (IsCache ? "a worker adds to its copy of "
                         : "a worker uses its copy of ") +
                    Name +
                    (Used ? " here"
                          : " at " + (IsCache ? Copy.Use->FilledAt
                                              : Copy.Use->FirstAt)))
          .note(Loader->Stmt::getBeginLoc(),
                "this loader copies " + quoted(Class) + " for each worker");
  if (Copies.Where)
    F.note(Copies.Where, "the number of workers is set here");
  return F.because(Copy.Why);
}

} // namespace

void DatasetWorkerCopyCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasName(torch::MakeDataLoader))))
          .bind("loader"),
      this);
}

void DatasetWorkerCopyCheck::checkMatch(const Match &Result) {
  const auto *Loader = Result.Nodes.getNodeAs<CallExpr>("loader");
  const Workers Copies =
      workersOf(torch::loaderOptions(Loader),
                cpp::Body::around(Loader, *Result.Context), *Result.Context);
  if (Copies.WhyNot && !asksWhy())
    return;
  for (const CXXRecordDecl *Class : torch::copiedPerWorker(Loader)) {
    flow::CopyUses Used(*Result.SourceManager);
    for (const CXXMethodDecl *Method : Class->methods())
      if (torch::isWorkersEntry(Method))
        Used.add(Method);
    llvm::SmallVector<CopiedMember, 2> Found;
    collect(Class, Used, Copies.WhyNot, Found);
    for (const CopiedMember &Copy : Found)
      report(worded(Copy, Class, Loader, Copies));
  }
}

LIBTORCH_CHECK(DatasetWorkerCopyCheck, DatasetWorkerCopy);

} // namespace libtorch_tidy
