//===- DatasetWorkerCopyCheck.cpp -----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/FieldUses.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/DataLoaders.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-dataset-worker-copy.md says what it finds and why.
class DatasetWorkerCopyCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

struct Workers {
  std::optional<int64_t> Count; ///< Unknown: one for each core, or some.
  const Expr *Where;
};

/// How many workers \p E says, as far as it can be computed.
std::optional<Workers> countOf(const Expr *E, const FunctionDecl *In,
                               const ASTContext &Context) {
  if (std::optional<int64_t> Count = cpp::constantInt(E, Context))
    return Workers{Count, E};
  if (torch::asksForConcurrency(E))
    return Workers{std::nullopt, E};
  // config.workers, which its class starts with a number above 0: some.
  if (const auto *Member = dyn_cast<MemberExpr>(E->IgnoreParenImpCasts()))
    if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
        Field && Field->getInClassInitializer())
      if (std::optional<Workers> Usual =
              countOf(Field->getInClassInitializer(), nullptr, Context))
        return Usual->Count == 0 ? *Usual : Workers{std::nullopt, E};
  // int workers = 4; that nobody changes.
  const VarDecl *Var = cpp::variableOf(E);
  if (Var && Var->isLocalVarDecl() && Var->hasInit() && In && In->hasBody() &&
      cpp::writesTo(Var, In->getBody()).empty())
    return countOf(Var->getInit(), nullptr, Context);
  return std::nullopt;
}

/// The workers that \p Options ask for; nullopt for the default of none.
std::optional<Workers> workersOf(const Expr *Options, const FunctionDecl *In,
                                 const ASTContext &Context) {
  // Chains and variables are short; the bound guards against odd code.
  for (unsigned Steps = 0; Options && Steps < cpp::MaxChase; ++Steps) {
    torch::WorkersSetter Setter = torch::asWorkersSetter(Options);
    if (Setter.Workers)
      return countOf(Setter.Workers, In, Context);
    if (Setter.Object) {
      Options = Setter.Object;
      continue;
    }
    const VarDecl *Var = cpp::variableOf(Options);
    if (!Var || isa<ParmVarDecl>(Var) || !Var->hasInit())
      return std::nullopt;
    // options.workers(4); as a statement of its own: the last one counts.
    std::optional<Workers> Set;
    if (Var->isLocalVarDecl() && In && In->hasBody())
      cpp::forEachCall(In->getBody(), [&](const CallExpr *Call) {
        const Expr *Link = Call;
        const Expr *Value = nullptr;
        for (unsigned I = 0; I < 32; ++I) {
          torch::WorkersSetter Inner = torch::asWorkersSetter(Link);
          if (!Inner.Object)
            break;
          if (Inner.Workers && !Value)
            Value = Inner.Workers;
          Link = Inner.Object;
        }
        if (Value && cpp::variableOf(Link) == Var)
          Set = countOf(Value, In, Context);
      });
    if (Set)
      return Set;
    Options = Var->getInit();
  }
  return std::nullopt;
}

/// A member that each copy of an object has for itself, and that the methods
/// which run on the copy use.
struct CopiedMember {
  enum Kind {
    Random, ///< A generator of random numbers, with its state.
    Cache,  ///< What a method that runs on the copy adds elements to.
    Data,   ///< Numbers for every example, or a large array.
    Some,   ///< Containers of strings or of containers, many or few.
  };
  Kind What;
  const FieldDecl *Field;
  const Expr *Used;   ///< Where a method uses it; null: in another unit.
  std::string UsedAt; ///< There, as file:line.
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
    // Handles: copies refer to the same data.
    if (torch::ownsTensors(T) || !cpp::pointeeOf(T).isNull())
      return Owns::Nothing;
    if (cpp::isContainer(R))
      return ofContainer(R);
    if (cpp::isStdClass(R, {"basic_string"}))
      return Owns::String;
    if (cpp::isStdClass(R, {"array"}) && isLarge(T))
      return Owns::Large;
    if (cpp::isStdClass(R, {"pair", "tuple", "array", "optional"}))
      return ofArguments(R);
    if (R->isInStdNamespace())
      return Owns::Nothing;
    if (!cpp::isUserCode(R->getLocation(), Context.getSourceManager()))
      return Owns::Nothing;
    Owns Most = Owns::Nothing;
    for (const CXXBaseSpecifier &Base : R->bases())
      Most = std::max(Most, of(Base.getType()));
    for (const FieldDecl *Field : R->fields())
      Most = std::max(Most, of(Field->getType()));
    return Most;
  }

  /// The most that an argument owns: of std::pair, of a container's elements.
  Owns ofArguments(const CXXRecordDecl *R) {
    Owns Most = Owns::Nothing;
    cpp::forEachArgument(R, [&](QualType T) { Most = std::max(Most, of(T)); });
    return Most;
  }

  Owns ofContainer(const CXXRecordDecl *R) {
    switch (ofArguments(R)) {
    case Owns::Large:
    case Owns::Rows:
    case Owns::Numbers:
      return Owns::Rows;
    case Owns::Strings:
    case Owns::String:
      return Owns::Strings;
    case Owns::Nothing:
      break;
    }
    // Plain elements: numbers, and structs of numbers; not handles, pointers
    // or classes of other libraries, which share or are not known.
    bool Plain = true;
    cpp::forEachArgument(R, [&](QualType T) {
      const CXXRecordDecl *Element = T->getAsCXXRecordDecl();
      if (T->isPointerType() || torch::mayHoldTensor(T) ||
          (Element && !(Element->hasDefinition() &&
                        isPlainRecord(Element->getDefinition()))))
        Plain = false;
    });
    return Plain ? Owns::Numbers : Owns::Nothing;
  }

  static bool isPlainRecord(const CXXRecordDecl *R) {
    if (R->isInStdNamespace()) {
      // The traits next to the elements: allocator, less, hash.
      return cpp::isStdClass(R,
                             {"allocator", "less", "hash", "equal_to", "pair",
                              "tuple", "array", "complex", "char_traits"});
    }
    return R->isTriviallyCopyable();
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
bool holdsEngine(QualType T, const SourceManager &SM,
                 llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Seen) {
  if (torch::isRandomEngine(T))
    return true;
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || !R->hasDefinition() || !Seen.insert(R).second ||
      !cpp::isUserCode(R->getLocation(), SM) ||
      copiesItself(R->getDefinition()))
    return false;
  return llvm::any_of(R->getDefinition()->fields(), [&](const FieldDecl *F) {
    return holdsEngine(F->getType(), SM, Seen);
  });
}

bool holdsEngine(QualType T, const SourceManager &SM) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
  return holdsEngine(T, SM, Seen);
}

void collect(const CXXRecordDecl *Class, const flow::CopyUses &Used,
             const ASTContext &Context,
             llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Seen,
             llvm::SmallVectorImpl<CopiedMember> &Found) {
  if (!Seen.insert(Class).second || copiesItself(Class))
    return;
  const SourceManager &SM = Context.getSourceManager();
  for (const CXXBaseSpecifier &Base : Class->bases()) {
    const CXXRecordDecl *R = Base.getType()->getAsCXXRecordDecl();
    if (R && R->hasDefinition() && cpp::isUserCode(R->getLocation(), SM))
      collect(R->getDefinition(), Used, Context, Seen, Found);
  }
  for (const FieldDecl *Field : Class->fields()) {
    auto It = Used.Of.find(Field);
    if (It == Used.Of.end() || !Field->getIdentifier())
      continue;
    const flow::CopyUse &Use = It->second;
    if (holdsEngine(Field->getType(), SM)) {
      if (!Use.Seeded)
        Found.push_back({CopiedMember::Random, Field, Use.First, Use.FirstAt});
      continue;
    }
    Owns What = OwnedData(Context).of(Field->getType());
    if (Use.isFilled() && !Use.Emptied &&
        cpp::isContainer(cpp::recordOf(Field->getType())) &&
        (torch::mayHoldTensor(Field->getType()) || What >= Owns::Rows)) {
      Found.push_back({CopiedMember::Cache, Field, Use.Filled, Use.FilledAt});
      continue;
    }
    if (What == Owns::Large || (What == Owns::Rows && Use.Indexed) ||
        (What == Owns::Numbers && Use.Strided))
      Found.push_back({CopiedMember::Data, Field, Use.First, Use.FirstAt});
    else if (What == Owns::Rows || (What == Owns::Strings &&
                                    !torch::namesSmallText(Field->getName())))
      Found.push_back({CopiedMember::Some, Field, Use.First, Use.FirstAt});
  }
}

/// The members of \p Class and its bases that matter when an object is copied
/// for each of several threads. Handles (tensors, std::shared_ptr, cv::Mat)
/// are shared by the copies and stay out, and so does everything in a class
/// with a copy constructor of its own, a generator that is seeded where it is
/// used, and what looks small: labels, names, paths.
llvm::SmallVector<CopiedMember, 2> copiedMembers(const CXXRecordDecl *Class) {
  const ASTContext &Context = Class->getASTContext();
  flow::CopyUses Used(Context.getSourceManager());
  for (const CXXMethodDecl *Method : Class->methods())
    if (torch::isWorkersEntry(Method))
      Used.add(Method);
  llvm::SmallVector<CopiedMember, 2> Found;
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
  collect(Class, Used, Context, Seen, Found);
  return Found;
}

} // namespace

void DatasetWorkerCopyCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasName(torch::MakeDataLoader))),
               optionally(forFunction(functionDecl().bind("in"))))
          .bind("loader"),
      this);
}

void DatasetWorkerCopyCheck::checkMatch(const Match &Result) {
  const auto *Loader = Result.Nodes.getNodeAs<CallExpr>("loader");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  const Expr *Options = torch::loaderOptions(Loader);
  std::optional<Workers> Count =
      Options ? workersOf(Options, In, *Result.Context) : std::nullopt;
  if (!Count || (Count->Count && *Count->Count < 2))
    return;
  const std::string Each =
      Count->Count ? "each of the " + std::to_string(*Count->Count) + " workers"
                   : std::string("each worker");

  for (const CXXRecordDecl *Class : torch::copiedPerWorker(Loader))
    for (const CopiedMember &Member : copiedMembers(Class)) {
      const std::string Name = "'" + Member.Field->getNameAsString() + "'";
      Finding F;
      F.Loc = Member.Field->getLocation();
      F.Strength =
          Member.What == CopiedMember::Some ? Level::Advisory : Level::Likely;
      if (Member.What == CopiedMember::Cache)
        F.Message = Each + " of the data loader fills its own copy of " + Name +
                    ", and their memory adds up; share it through a "
                    "std::shared_ptr, with a mutex";
      else if (Member.What == CopiedMember::Random)
        F.Message = Each + " of the data loader has a copy of " + Name +
                    " and draws the same random numbers; seed a generator from "
                    "the index where it is used";
      else
        F.Message = Each + " of the data loader has a copy of " + Name +
                    "; a tensor or a std::shared_ptr to the data is shared";
      const std::string Does =
          (Member.What == CopiedMember::Cache ? "a worker adds to its copy of "
                                              : "a worker uses its copy of ") +
          Name;
      if (Member.Used)
        F.Steps.push_back({Member.Used->getExprLoc(), Does + " here"});
      else
        F.Steps.push_back({F.Loc, Does + " at " + Member.UsedAt});
      F.Steps.push_back({Loader->Stmt::getBeginLoc(),
                         "this loader copies '" + Class->getNameAsString() +
                             "' for each worker"});
      F.Steps.push_back(
          {Count->Where->getExprLoc(), "the number of workers is set here"});
      report(F);
    }
}

LIBTORCH_CHECK(DatasetWorkerCopyCheck, NoReasons);

} // namespace libtorch_tidy
