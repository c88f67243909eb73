//===- OomRecoveryInCatchCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Paths.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/Exceptions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/oom/HandlerOwners.h"
#include "fixits/FixIts.h"
#include "fixits/HoistRecovery.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
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

private:
  void checkHandler(const CXXTryStmt *Try, unsigned Index,
                    const FunctionDecl *In, ASTContext &Context);
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

std::string typeName(QualType T, const ASTContext &Context) {
  PrintingPolicy Policy(Context.getLangOpts());
  Policy.SuppressTagKeyword = true;
  return T.getUnqualifiedType().getCanonicalType().getAsString(Policy);
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

/// "'a' (declared at line 1) and 'b' (declared at line 2)"
std::string listOwners(llvm::ArrayRef<HandlerOwner> Owners,
                       const SourceManager &SM) {
  std::string Text;
  for (size_t I = 0; I < Owners.size(); ++I) {
    if (I)
      Text += I + 1 == Owners.size() ? " and " : ", ";
    const ValueDecl *D = Owners[I].D;
    Text += "'" + D->getNameAsString() + "' (declared at line " +
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

void OomRecoveryInCatchCheck::checkMatch(const Match &Result) {
  const auto *Try = Result.Nodes.getNodeAs<CXXTryStmt>("try");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  // Of a template, the instantiations are looked at.
  if (In->isDependentContext())
    return;
  for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
    checkHandler(Try, I, In, *Result.Context);
}

using OwnerList = llvm::ArrayRef<HandlerOwner>;

/// The message where the exception itself owns tensors, and perhaps \p Also.
static std::string holdsException(const OwningException &Exception,
                                  const CXXCatchStmt *Handler, OwnerList Also,
                                  const ASTContext &Context) {
  const VarDecl *Var = Handler->getExceptionDecl();
  const std::string Type =
      "of type '" + typeName(Exception.Type, Context) + "'";
  std::string Message = "this handler retries while it holds " +
                        (Var && Var->getIdentifier() && !Exception.Thrown
                             ? "'" + Var->getNameAsString() + "' " + Type
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
  const std::string Name = "'" + Owner.D->getNameAsString() + "'";
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

void OomRecoveryInCatchCheck::checkHandler(const CXXTryStmt *Try,
                                           unsigned Index,
                                           const FunctionDecl *In,
                                           ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const CXXCatchStmt *Handler = Try->getHandler(Index);
  const auto *Block =
      dyn_cast_or_null<CompoundStmt>(Handler->getHandlerBlock());
  QualType Caught = Handler->getCaughtType();
  if (!Block || Block->body_empty() ||
      (!Caught.isNull() && Caught->isDependentType()))
    return;

  flow::TensorWork &Amounts = unit().work();
  std::optional<OwningException> Exception =
      owningException(Try, Index, Amounts);
  torch::OomHandler Kind = torch::oomHandler(Caught);
  if (!Exception && Kind == torch::OomHandler::No)
    return;
  if (!Exception && Kind == torch::OomHandler::General &&
      Amounts.of(Try->getTryBlock()) == Work::None)
    return;

  RetryFinder Retries(Try, In, Amounts);
  const CallExpr *Retry = Retries.retryOf(Block);
  if (!Retry)
    return;
  const Stmt *Statement = *llvm::find_if(
      Block->body(), [&](const Stmt *S) { return cpp::contains(S, Retry); });
  // A retry that works on what the exception carries needs it.
  if (const VarDecl *Caught = Handler->getExceptionDecl();
      Exception && Caught && cpp::mentions(Statement, Caught))
    Exception.reset();

  auto Owners =
      needlessOwners({In, Try, Handler, Statement, Retry}, Amounts, Context);
  if (!Exception && Owners.empty())
    return;

  Finding F;
  F.Loc = Handler->getCatchLoc();
  F.Strength = Level::Likely;
  F.Message = Exception ? holdsException(*Exception, Handler, Owners, Context)
                        : holdsOwners(Owners, SM);

  const Expr *LastAssigned = nullptr;
  for (const HandlerOwner &Owner : Owners) {
    F.Steps.push_back(stepOf(Owner));
    if (Owner.AssignedInTry)
      LastAssigned = Owner.AssignedInTry;
  }
  if (Exception && Exception->Thrown)
    F.Steps.push_back({Exception->Thrown->getBeginLoc(),
                       "the exception that owns tensors is thrown here"});
  else if (const CallExpr *Throwing =
               throwingCall(Try, LastAssigned, Amounts, SM))
    F.Steps.push_back({Throwing->Stmt::getBeginLoc(),
                       Exception && Exception->Python
                           ? "this call may throw"
                           : "this call may run out of memory"});
  F.Steps.push_back(
      {Retry->Stmt::getBeginLoc(), "the retry runs here, inside the handler"});

  if (Exception) {
    for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
      if (I != Index && Retries.retryOf(Try->getHandler(I)))
        return report(F);
    std::string Prefix = releases(Owners, " ");
    F.Fix = fixits::hoistRecovery(
        Try, Handler, Statement, Prefix,
        Kind == torch::OomHandler::Library ? "out_of_memory" : "failed", In,
        Context);
  } else {
    std::string Indent =
        "\n" + fixits::indentationAt(Statement->getBeginLoc(), Context).str();
    std::string Text = releases(Owners, Indent);
    if (!Text.empty())
      F.Fix = fixits::insertBeforeStatement(Statement, Text, Context);
  }
  report(F);
}

LIBTORCH_CHECK(OomRecoveryInCatchCheck, NoReasons);

} // namespace libtorch_tidy
