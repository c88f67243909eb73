//===- OomCatchTypeCheck.cpp ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Exceptions.h"
#include "analysis/torch/api/Factories.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::OutOfMemoryIn;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy {

namespace {

constexpr struct OomCatchTypeReasons {
  Reason OtherWork{"other-work", Effect::Likely,
                   "The `try` block runs other heavy work, too, whose errors "
                   "the handler may see."};
  Reason OnlySmaller{"only-made-smaller", Effect::Likely,
                     "Only a batch size made smaller shows what the handler is "
                     "for."};
  Reason UnseenCallee{"unseen-callee", Effect::Advice,
                      "The `try` block calls a function that this file only "
                      "declares, which may throw `std::runtime_error` or "
                      "`std::bad_alloc`."};
  Reason NoPurpose{"purpose-unseen", Effect::Silent,
                   "A handler for another type than `c10::OutOfMemoryError` "
                   "does not show that it is for running out of memory. One "
                   "that only logs, rethrows or falls back sees a missing "
                   "operator, too, which arrives as "
                   "`c10::NotImplementedError`."};
  Reason OwnError{"own-error", Effect::Silent,
                  "The `try` block itself, or a function that it calls, throws "
                  "what a handler for `std::runtime_error` or `std::bad_alloc` "
                  "catches, or allocates memory with `new` or containers."};
  Reason Seen{"caught-elsewhere", Effect::Silent,
              "Another handler of the same `try` statement, or of one around "
              "it in the same function, catches what arrives "
              "(`std::runtime_error`, `std::exception`, `...`)."};
} OomCatchType{};

/// docs/checks/libtorch-oom-catch-type.md says what it finds and why.
class OomCatchTypeCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

/// What in a handler shows that it is for running out of memory.
struct Intent {
  SourceLocation Loc;
  std::string Text;
  bool Certain = false;

  explicit Intent(const Stmt *Handler) {
    cpp::findFirst<Expr>(Handler, [&](const Expr *E) {
      std::string How = spoken(E);
      if (!How.empty()) {
        Loc = isa<CallExpr>(E) ? E->getBeginLoc() : E->getExprLoc();
        Text = std::move(How);
        Certain = true;
      } else if (Loc.isInvalid() && makesSmaller(E)) {
        Loc = E->getBeginLoc();
        Text = "it retries with less work";
      }
      return Certain;
    });
  }

private:
  /// Where \p E mentions it, how; else "".
  static std::string spoken(const Expr *E) {
    if (const auto *Literal = dyn_cast<StringLiteral>(E))
      return Literal->getCharByteWidth() == 1 &&
                     torch::mentionsOutOfMemory(Literal->getString())
                 ? "its text mentions it"
                 : "";
    if (const auto *Call = dyn_cast<CallExpr>(E)) {
      if (torch::isEmptyCache(Call))
        return "it empties the cache of the allocator";
      StringRef Name = cpp::calleeName(Call);
      return torch::namesOutOfMemory(Name) ? ("it calls '" + Name + "'").str()
                                           : "";
    }
    const ValueDecl *D = nullptr;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      D = Ref->getDecl();
    else if (const auto *Member = dyn_cast<MemberExpr>(E))
      D = Member->getMemberDecl();
    return D && !isa<FunctionDecl>(D) && D->getIdentifier() &&
                   torch::namesOutOfMemory(D->getName())
               ? ("it uses '" + D->getName() + "'").str()
               : "";
  }

  /// batch /= 2, batch >>= 1, batch = batch / 2.
  static bool makesSmaller(const Expr *E) {
    auto Lessens = [](BinaryOperatorKind Kind) {
      return Kind == BO_Div || Kind == BO_Shr;
    };
    const auto *Op = dyn_cast<BinaryOperator>(E);
    if (!Op || !Op->isAssignmentOp() ||
        !Op->getLHS()->getType()->isIntegerType())
      return false;
    if (Op->isCompoundAssignmentOp())
      return Lessens(
          BinaryOperator::getOpForCompoundAssignment(Op->getOpcode()));
    const auto *Value =
        dyn_cast<BinaryOperator>(Op->getRHS()->IgnoreParenImpCasts());
    const VarDecl *Target = cpp::variableOf(Op->getLHS());
    return Target && Value && Lessens(Value->getOpcode()) &&
           cpp::variableOf(Value->getLHS()) == Target;
  }
};

bool isRethrowing(const CallExpr *Call) {
  return torch::rethrowing(Call).has_value();
}

/// Does \p S make tensors, all of them on the CPU, and nothing else that could
/// allocate on a device? The first such call.
const CallExpr *onlyCpuWork(const Stmt *S) {
  auto MayBeElsewhere = [](const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    return !torch::makesOnCpu(Call) && !cpp::isStdDecl(Callee) &&
           !(torch::isTorchDecl(Callee) && torch::isMetadataAccess(Call));
  };
  return cpp::anyOf<CallExpr>(S, MayBeElsewhere, cpp::Lambdas::Made)
             ? nullptr
             : cpp::findFirst<CallExpr>(S, torch::makesOnCpu,
                                        cpp::Lambdas::Made);
}

/// The handler that sees it, of \p Try or of a try statement around it in the
/// same function; null for none.
const CXXCatchStmt *handlerSeeing(OutOfMemoryIn Where, const CXXTryStmt *Try,
                                  ASTContext &Context) {
  const cpp::Body *In = cpp::Body::around(Try, Context);
  bool InHandler = false;
  for (const Stmt *S = Try; S; S = In ? In->parentOf(S) : nullptr) {
    InHandler |= isa<CXXCatchStmt>(S);
    const auto *Outer = dyn_cast<CXXTryStmt>(S);
    for (unsigned I = 0; Outer && !InHandler && I < Outer->getNumHandlers();
         ++I)
      if (const CXXCatchStmt *Handler = Outer->getHandler(I);
          torch::catchesOutOfMemory(Handler->getCaughtType(), Where))
        return Handler;
    InHandler &= !Outer;
  }
  return nullptr;
}

/// An out-of-memory error that a handler never sees.
struct MissedError {
  OutOfMemoryIn Where;
  /// The calls that lead to where it is thrown, which is in the last.
  llvm::SmallVector<const CallExpr *, 2> Way;
};

/// The error of \p Try that a handler for \p Caught does not see.
std::optional<MissedError> missedError(const CXXTryStmt *Try, QualType Caught,
                                       flow::TensorWork &Amounts) {
  const Stmt *Block = Try->getTryBlock();
  auto Way = flow::wayToFreeCall(Block, isRethrowing);
  if (!Way.empty()) {
    const OutOfMemoryIn Where = *torch::rethrowing(Way.back());
    return torch::catchesOutOfMemory(Caught, Where)
               ? std::nullopt
               : std::optional(MissedError{Where, Way});
  }
  const bool OfStd = torch::isStdError(Caught);
  if (OfStd || torch::isOutOfMemoryError(Caught))
    if (const CallExpr *Made = onlyCpuWork(Block))
      return MissedError{OutOfMemoryIn::Cpu, {Made}};
  const CallExpr *Eager = OfStd ? cpp::findFirst<CallExpr>(
                                      Block,
                                      [&](const CallExpr *Call) {
                                        return Amounts.of(Call) == Work::Heavy;
                                      },
                                      cpp::Lambdas::Made)
                                : nullptr;
  if (!Eager)
    return std::nullopt;
  return MissedError{OutOfMemoryIn::Device, {Eager}};
}

/// What else in \p Try, or in a function that it calls, a handler for \p Caught
/// of the standard library may be for: a throw expression, memory of the
/// program's own; or else a call of code that is not seen. Null for none.
std::optional<Because> otherSource(const CXXTryStmt *Try, QualType Caught) {
  const bool OfMemory = cpp::isStdClass(Caught, {"bad_alloc"});
  std::optional<Because> Found;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  llvm::SmallVector<const Stmt *, 8> Work = {Try->getTryBlock()};
  while (!Work.empty() && !(Found && Found->Row == &OomCatchType.OwnError))
    cpp::forEach<Expr>(
        Work.pop_back_val(),
        [&](const Expr *E) {
          const auto *Made = dyn_cast<CXXConstructExpr>(E);
          const FunctionDecl *Callee = nullptr;
          if (const auto *Call = dyn_cast<CallExpr>(E))
            Callee = Call->getDirectCallee();
          if (isa<CXXThrowExpr>(E) ||
              (OfMemory &&
               (isa<CXXNewExpr>(E) ||
                (Made &&
                 cpp::isStdClass(Made->getType(), cpp::StdClass::Container) &&
                 Made->getNumArgs() > 0 &&
                 !torch::mayHoldTensor(E->getType())))))
            Found = Because{&OomCatchType.OwnError, "", E->getExprLoc()};
          const bool IsUsers =
              Callee && !cpp::isOfLibrary(Callee) && !Callee->getBuiltinID();
          const FunctionDecl *Body =
              IsUsers ? cpp::userDefinition(Callee) : nullptr;
          if (Body && Seen.insert(Body).second)
            Work.push_back(Body->getBody());
          else if (IsUsers && !Body && !Found)
            Found = Because{&OomCatchType.UnseenCallee, quoted(Callee),
                            E->getExprLoc()};
        },
        cpp::Lambdas::Made);
  return Found;
}

/// Heavy work of \p Try whose errors the handler may be for, besides what
/// throws std::runtime_error as \p Missed does; null for none.
const CallExpr *otherWork(const CXXTryStmt *Try, const MissedError &Missed,
                          flow::TensorWork &Amounts) {
  auto IsOther = [&](const CallExpr *Call) {
    return Call != Missed.Way.front() && !isRethrowing(Call) &&
           Amounts.of(Call) == Work::Heavy;
  };
  return isRethrowing(Missed.Way.back())
             ? cpp::findFirst<CallExpr>(Try->getTryBlock(), IsOther,
                                        cpp::Lambdas::Made)
             : nullptr;
}

/// What throws std::runtime_error, for messages.
struct Rethrower {
  StringRef Who, Throws, Runs;
  static const Rethrower *of(OutOfMemoryIn Where) {
    static constexpr Rethrower Script = {
        "TorchScript", "the interpreter throws", "runs a TorchScript module"};
    static constexpr Rethrower Compiled = {
        "the compiled model", "what fails in it comes out as",
        "runs a model that AOTInductor compiled"};
    static constexpr Rethrower Stable = {"LibTorch",
                                         "a function of torch::stable throws",
                                         "calls a function of torch::stable"};
    return Where == OutOfMemoryIn::Script     ? &Script
           : Where == OutOfMemoryIn::Compiled ? &Compiled
           : Where == OutOfMemoryIn::Stable   ? &Stable
                                              : nullptr;
  }
};

Finding worded(const MissedError &Missed, const CXXCatchStmt *Handler,
               const Intent &Meant, const ASTContext &Context) {
  const std::string Type = quoted(Handler->getCaughtType(), Context);
  const SourceLocation Thrown = Missed.Way.back()->Stmt::getBeginLoc();
  Finding F = Finding::at(Handler->getCatchLoc());
  if (const Rethrower *R = Rethrower::of(Missed.Where)) {
    F.says("ineffective handler: this handler never sees " + R->Who +
           " run out of memory: " + R->Throws + " 'std::runtime_error', not " +
           Type + "; catch 'std::exception' and look at what()");
    for (const CallExpr *Call : llvm::ArrayRef(Missed.Way).drop_back())
      F.note(Call->Stmt::getBeginLoc(),
             quoted(Call->getDirectCallee()) + " " + R->Runs);
    F.note(Thrown, "an allocation that fails inside this call comes out of it "
                   "as 'std::runtime_error'");
  } else if (Missed.Where == OutOfMemoryIn::Device) {
    F.says("ineffective handler: this handler never sees LibTorch run out of "
           "memory: what it throws "
           "is a 'c10::Error', which derives from 'std::exception' and not "
           "from " +
           Type + "; catch 'c10::Error'")
        .note(Thrown, "an allocation that fails inside this call comes out of "
                      "it as 'c10::Error'");
  } else {
    F.says("ineffective handler: this handler never sees the CPU run out of "
           "memory: its allocator "
           "throws a plain 'c10::Error', not " +
           Type + "; catch 'c10::Error'")
        .note(Thrown, "this tensor is made on the CPU, and nothing in the try "
                      "block allocates on a device");
  }
  if (Meant.Loc.isValid())
    F.note(Meant.Loc,
           "the handler is meant for running out of memory: " + Meant.Text);
  return F;
}

} // namespace

void OomCatchTypeCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxTryStmt(unless(isExpansionInSystemHeader()),
                                forFunction(functionDecl().bind("in")))
                         .bind("try"),
                     this);
}

void OomCatchTypeCheck::checkMatch(const Match &Result) {
  const auto *Try = Result.Nodes.getNodeAs<CXXTryStmt>("try");
  // Of a template, the instantiations are looked at.
  if (Result.Nodes.getNodeAs<FunctionDecl>("in")->isDependentContext())
    return;
  for (unsigned I = 0; I < Try->getNumHandlers(); ++I) {
    const CXXCatchStmt *Handler = Try->getHandler(I);
    QualType Caught = Handler->getCaughtType();
    if (Caught.isNull() || Caught->isDependentType())
      continue;
    const bool ByType = torch::isOutOfMemoryError(Caught);
    if (!torch::isStdError(Caught) &&
        torch::oomHandler(Caught) != torch::OomHandler::Library)
      continue;
    const Intent Meant(ByType ? nullptr : Handler->getHandlerBlock());
    const bool IsMeant = ByType || Meant.Loc.isValid();
    if (!IsMeant && !asksWhy())
      continue;
    const std::optional<MissedError> Missed =
        missedError(Try, Caught, unit().work());
    if (!Missed)
      continue;
    if (!IsMeant) {
      silent(Handler->getCatchLoc(), OomCatchType.NoPurpose);
      continue;
    }
    // One report for a try block: its other handlers miss the same.
    if (const CXXCatchStmt *By =
            handlerSeeing(Missed->Where, Try, *Result.Context))
      return silent(Handler->getCatchLoc(), OomCatchType.Seen, "handler",
                    By->getCatchLoc());
    Finding F = worded(*Missed, Handler, Meant, *Result.Context);
    if (Missed->Where == OutOfMemoryIn::Device)
      F.because(otherSource(Try, Caught));
    if (const CallExpr *Other = otherWork(Try, *Missed, unit().work()))
      F.because(OomCatchType.OtherWork, "call", Other->getExprLoc());
    if (!ByType && !Meant.Certain)
      F.because(OomCatchType.OnlySmaller);
    return report(F);
  }
}

LIBTORCH_CHECK(OomCatchTypeCheck, OomCatchType);

} // namespace libtorch_tidy
