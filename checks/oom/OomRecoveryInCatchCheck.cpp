//===- OomRecoveryInCatchCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Paths.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/Exceptions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/oom/HandlerOwners.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-oom-recovery-in-catch.md says what it finds and why.
class OomRecoveryInCatchCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

const FunctionDecl *originOf(const FunctionDecl *F) {
  if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
    F = Pattern;
  return F->getCanonicalDecl();
}

/// The first call of a handler that runs the failed work again.
class RetryFinder {
public:
  RetryFinder(const CXXTryStmt *Try, const FunctionDecl *In,
              flow::TensorWork &Amounts)
      : In(In), Amounts(Amounts) {
    cpp::forEachCall(Try->getTryBlock(), [&](const CallExpr *Call) {
      Tried.push_back(Call);
      HeavyTried |= Amounts.of(Call) == Work::Heavy;
    });
  }

  const CallExpr *retryOf(const Stmt *Handler) {
    const CallExpr *Retry = nullptr;
    cpp::forEachCall(Handler, [&](const CallExpr *Call) {
      if (!Retry && isRetry(Call))
        Retry = Call;
    });
    return Retry;
  }

private:
  bool isRetry(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee)
      return false;
    Work Amount = Amounts.of(Call);
    if (Amount == Work::Heavy)
      return true;
    // Back to the start of the function whose try block has failed.
    if (In && Callee->getCanonicalDecl() == In->getCanonicalDecl())
      return !Tried.empty();
    // Operators are in every block: they are the point only where nothing
    // heavier was tried.
    if (Amount == Work::None || (HeavyTried && torch::isTorchDecl(Callee)))
      return false;
    return llvm::any_of(Tried, [&](const CallExpr *Other) {
      const FunctionDecl *OtherCallee = Other->getDirectCallee();
      return OtherCallee && originOf(OtherCallee) == originOf(Callee) &&
             calledObject(Other) == calledObject(Call);
    });
  }

  /// Which std::function or Python object is called; null for functions.
  static const ValueDecl *calledObject(const CallExpr *Call) {
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
    if (!Op || Op->getOperator() != OO_Call)
      return nullptr;
    const auto *Ref =
        dyn_cast<DeclRefExpr>(Op->getArg(0)->IgnoreParenImpCasts());
    return Ref ? Ref->getDecl() : nullptr;
  }

  const FunctionDecl *In;
  flow::TensorWork &Amounts;
  llvm::SmallVector<const CallExpr *, 8> Tried;
  bool HeavyTried = false;
};

/// An exception that owns tensors while a handler runs.
struct OwningException {
  QualType Type;
  const CXXThrowExpr *Thrown = nullptr; ///< Where that was seen.
  bool Python = false;
};

bool catches(const CXXCatchStmt *Handler, QualType Thrown) {
  QualType Caught = Handler->getCaughtType();
  if (Caught.isNull())
    return true;
  const CXXRecordDecl *Base = cpp::recordOf(Caught);
  const CXXRecordDecl *Derived = cpp::recordOf(Thrown);
  return Base && Derived &&
         (Base->getCanonicalDecl() == Derived->getCanonicalDecl() ||
          (Derived->hasDefinition() && Derived->isDerivedFrom(Base)));
}

std::optional<OwningException> owningException(const CXXTryStmt *Try,
                                               unsigned Index,
                                               flow::TensorWork &Amounts) {
  const CXXCatchStmt *Handler = Try->getHandler(Index);
  QualType Caught = Handler->getCaughtType();
  if (!Caught.isNull()) {
    QualType Object = Caught.getNonReferenceType();
    if (torch::isPythonError(Object))
      return OwningException{Object, nullptr, true};
    if (torch::ownsTensors(Object))
      return OwningException{Object, nullptr, false};
  }
  for (const CXXThrowExpr *Throw : Amounts.ownersThrownBy(Try->getTryBlock())) {
    QualType Thrown = Throw->getSubExpr()->getType();
    bool Earlier = false;
    for (unsigned I = 0; I < Index; ++I)
      Earlier |= catches(Try->getHandler(I), Thrown);
    if (!Earlier && catches(Handler, Thrown))
      return OwningException{Thrown, Throw, false};
  }
  return std::nullopt;
}

/// The call of the try block that the story names: the first heavy one after
/// \p After, or else the first that allocates at all.
const CallExpr *throwingCall(const CXXTryStmt *Try, const Expr *After,
                             flow::TensorWork &Amounts,
                             const SourceManager &SM) {
  const CallExpr *First = nullptr;
  Work Best = Work::None;
  cpp::forEachCall(Try->getTryBlock(), [&](const CallExpr *Call) {
    if (After && !SM.isBeforeInTranslationUnit(After->getEndLoc(),
                                               Call->Stmt::getBeginLoc()))
      return;
    Work Amount = Amounts.of(Call);
    if (Amount > Best) {
      Best = Amount;
      First = Call;
    }
  });
  return First;
}

/// A handler that retries while something is alive that could be freed.
struct LateRetry {
  HandlerPoint At; ///< Its expression is the retry.
  std::optional<OwningException> Exception;
  llvm::SmallVector<HandlerOwner, 2> Owners;
  /// Only asked of one that has an exception.
  bool OtherHandlerRetries = false;
};

/// "'a' (declared at line 1) and 'b' (declared at line 2)"
std::string listOwners(llvm::ArrayRef<HandlerOwner> Owners,
                       const SourceManager &SM) {
  std::string Text;
  for (size_t I = 0; I < Owners.size(); ++I) {
    if (I)
      Text += I + 1 == Owners.size() ? " and " : ", ";
    const ValueDecl *D = Owners[I].D;
    Text += quoted(D) + " (declared at line " +
            std::to_string(SM.getExpansionLineNumber(D->getLocation())) + ")";
  }
  return Text;
}

/// Statements that release every one of \p Owners; empty when one has no way.
std::string releases(llvm::ArrayRef<HandlerOwner> Owners, StringRef Separator) {
  std::string Text;
  for (const HandlerOwner &Owner : Owners) {
    StringRef Method = torch::releaseMethod(Owner.D->getType());
    if (Method.empty() || !Owner.D->getIdentifier())
      return {};
    if (!Text.empty())
      Text += Separator;
    if (isa<FieldDecl>(Owner.D))
      Text += "this->";
    Text += (Owner.D->getName() + "." + Method + "();").str();
  }
  return Text;
}

} // namespace

void OomRecoveryInCatchCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxTryStmt(unless(isExpansionInSystemHeader()),
                                forFunction(functionDecl().bind("in")))
                         .bind("try"),
                     this);
}

using OwnerList = llvm::ArrayRef<HandlerOwner>;

/// The message where the exception itself owns tensors, and perhaps \p Also.
static std::string holdsException(const OwningException &Exception,
                                  const CXXCatchStmt *Handler, OwnerList Also,
                                  const ASTContext &Context) {
  const VarDecl *Var = Handler->getExceptionDecl();
  const std::string Type =
      "of type " + quoted(exceptionName(Exception.Type, Context));
  std::string Message = "this handler retries while it holds " +
                        (Var && Var->getIdentifier() && !Exception.Thrown
                             ? quoted(Var) + " " + Type
                             : "an exception " + Type);
  Message += Exception.Python
                 ? ": the Python frames and their tensors stay until it "
                   "is destroyed; "
                 : ", which owns tensors; ";
  Message += "set a flag and retry after the handler";
  if (!Also.empty())
    Message += "; " + listOwners(Also, Context.getSourceManager()) +
               (Also.size() > 1 ? " are" : " is") + " still alive too";
  return Message;
}

/// The message where variables and members do.
static std::string holdsOwners(OwnerList All, const SourceManager &SM) {
  const bool One = All.size() == 1;
  std::string Message = "this handler retries while " + listOwners(All, SM) +
                        (One ? " is" : " are") + " still alive; ";
  if (llvm::none_of(All, [](const HandlerOwner &Owner) {
        return Owner.D->getType().isConstQualified();
      }))
    Message += One ? "reset it first, or " : "reset them first, or ";
  return Message + (One ? "retry after its scope has ended"
                        : "retry after their scope has ended");
}

static Step stepOf(const HandlerOwner &Owner) {
  const std::string Name = quoted(Owner.D);
  if (Owner.AssignedInTry)
    return {Owner.AssignedInTry->getBeginLoc(),
            Name + " gets tensors here, in the try block, and outlives it"};
  if (Owner.AssignedEarlier)
    return {Owner.AssignedEarlier->getBeginLoc(),
            Name + " keeps what an earlier iteration assigned here"};
  return {Owner.D->getLocation(),
          Name + " is declared outside the try block and owns tensors when "
                 "the handler runs"};
}

/// Null where handler \p Index of \p Try, in \p In, retries on top of nothing
/// that could be freed.
static std::optional<LateRetry> decide(const CXXTryStmt *Try, unsigned Index,
                                       const FunctionDecl *In,
                                       flow::TensorWork &Amounts,
                                       ASTContext &Context) {
  const CXXCatchStmt *Handler = Try->getHandler(Index);
  const auto *Block =
      dyn_cast_or_null<CompoundStmt>(Handler->getHandlerBlock());
  QualType Caught = Handler->getCaughtType();
  if (!Block || Block->body_empty() ||
      (!Caught.isNull() && Caught->isDependentType()))
    return std::nullopt;
  auto Exception = owningException(Try, Index, Amounts);
  const torch::OomHandler Kind = torch::oomHandler(Caught);
  if (!Exception && (Kind == torch::OomHandler::No ||
                     (Kind == torch::OomHandler::General &&
                      Amounts.of(Try->getTryBlock()) == Work::None)))
    return std::nullopt;
  RetryFinder Retries(Try, In, Amounts);
  const CallExpr *Retry = Retries.retryOf(Block);
  if (!Retry)
    return std::nullopt;
  const Stmt *Statement = *llvm::find_if(
      Block->body(), [&](const Stmt *S) { return cpp::contains(S, Retry); });
  LateRetry Found{{In, Try, Handler, Statement, Retry}, Exception, {}};
  llvm::SmallVector<Because, 2> WhyNot;
  if (const VarDecl *Var = Handler->getExceptionDecl();
      Exception && Var && cpp::mentions(Statement, Var)) {
    Found.Exception.reset();
    WhyNot.push_back({&OomRecoveryInCatch.ExceptionUsed});
  }
  Found.Owners = needlessOwners(Found.At, Amounts, Context, WhyNot);
  if (!Found.Exception && Found.Owners.empty()) {
    for (const Because &Why : WhyNot)
      silent(Handler->getCatchLoc(), *Why.Row, Why.Detail, Why.At);
    return std::nullopt;
  }
  for (unsigned I = 0; I < Try->getNumHandlers() && Found.Exception; ++I)
    Found.OtherHandlerRetries |=
        I != Index && Retries.retryOf(Try->getHandler(I));
  return Found;
}

/// Moves the retry out of the handler, or releases what is alive before it.
static fixits::Edits fixOf(const LateRetry &R, ASTContext &Context) {
  const HandlerPoint &At = R.At;
  if (R.Exception)
    return fixits::hoistRecovery(
        At.Try, At.Handler, At.Statement, releases(R.Owners, " "),
        torch::oomHandler(At.Handler->getCaughtType()) ==
                torch::OomHandler::Library
            ? "out_of_memory"
            : "failed",
        At.In, Context);
  const std::string Text = releases(
      R.Owners,
      "\n" + fixits::indentationAt(At.Statement->getBeginLoc(), Context).str());
  return Text.empty()
             ? fixits::Edits()
             : fixits::insertBeforeStatement(At.Statement, Text, Context);
}

static Finding worded(const LateRetry &R, flow::TensorWork &Amounts,
                      ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const std::optional<OwningException> &Exception = R.Exception;
  Finding F = Finding::at(R.At.Handler->getCatchLoc())
                  .says(Exception ? holdsException(*Exception, R.At.Handler,
                                                   R.Owners, Context)
                                  : holdsOwners(R.Owners, SM));
  const Expr *LastAssigned = nullptr;
  for (const HandlerOwner &Owner : R.Owners) {
    F.note(stepOf(Owner));
    if (Owner.AssignedInTry)
      LastAssigned = Owner.AssignedInTry;
  }
  if (Exception && Exception->Thrown)
    F.note(Exception->Thrown->getBeginLoc(),
           "the exception that owns tensors is thrown here");
  else if (const CallExpr *Throwing =
               throwingCall(R.At.Try, LastAssigned, Amounts, SM))
    F.note(Throwing->Stmt::getBeginLoc(),
           Exception && Exception->Python ? "this call may throw"
                                          : "this call may run out of memory");
  F.note(R.At.At->getBeginLoc(), "the retry runs here, inside the handler");
  if (R.OtherHandlerRetries)
    return F.because(OomRecoveryInCatch.OtherRetries);
  F.fix(fixOf(R, Context));
  return F.Fix.empty() ? F.because(Exception ? OomRecoveryInCatch.NotMovable
                                             : OomRecoveryInCatch.NoRelease)
                       : F;
}

void OomRecoveryInCatchCheck::checkMatch(const Match &Result) {
  const auto *Try = Result.Nodes.getNodeAs<CXXTryStmt>("try");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  // Of a template, the instantiations are looked at.
  if (In->isDependentContext())
    return;
  flow::TensorWork &Amounts = unit().work();
  for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
    if (auto Retry = decide(Try, I, In, Amounts, *Result.Context))
      report(worded(*Retry, Amounts, *Result.Context));
}

LIBTORCH_CHECK(OomRecoveryInCatchCheck, OomRecoveryInCatch);

} // namespace libtorch_tidy
