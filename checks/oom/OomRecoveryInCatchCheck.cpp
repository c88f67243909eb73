//===- OomRecoveryInCatchCheck.cpp ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Exceptions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Aliases.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy {

namespace {

constexpr struct OomRecoveryInCatchReasons {
  Reason ReadAgain{"read-again", Effect::Silent,
                   "The handler, the retry or what runs after it reads the "
                   "variable, or something that shares its storage, before it "
                   "is overwritten."};
  Reason Released{"released-first", Effect::Silent,
                  "The handler releases the variable before it retries "
                  "(`reset()`, `clear()`, `= Tensor()`, `= nullopt`, moved out "
                  "of)."};
  Reason ExceptionUsed{"exception-used", Effect::Silent,
                       "The retry works on what the exception carries."};
  Reason NoRelease{"no-release", Effect::NoFix,
                   "One of the variables is `const`, or of a type with no "
                   "member that releases it (structs, tuples, arrays, "
                   "`IValue`)."};
  Reason OtherRetries{"other-handler-retries", Effect::NoFix,
                      "Another handler of the same `try` statement retries as "
                      "well."};
  Reason NotMovable{
      "not-movable", Effect::NoFix,
      "The part to move uses the exception, rethrows it or calls "
      "`std::current_exception`, has labels, or uses a variable that the part "
      "that stays declares; the handler belongs to a function-try-block, holds "
      "preprocessor directives or raw strings, or comes from a macro; or the "
      "`try` statement is a branch without braces."};
} OomRecoveryInCatch{};

/// The first call of \p Handler that runs the failed work of \p Try again,
/// which is in function \p In; null for none.
const CallExpr *retryIn(const Stmt *Handler, const CXXTryStmt *Try,
                        const FunctionDecl *In, flow::TensorWork &Amounts) {
  llvm::SmallVector<cpp::Call, 8> Tried;
  bool HeavyTried = false;
  cpp::forEachCall(Try->getTryBlock(), [&](const CallExpr *Call) {
    Tried.emplace_back(Call);
    HeavyTried |= Amounts.of(Call) == Work::Heavy;
  });
  auto OriginOf = [](const FunctionDecl *F) {
    const FunctionDecl *Pattern = F->getTemplateInstantiationPattern();
    return (Pattern ? Pattern : F)->getCanonicalDecl();
  };
  // Which std::function or Python object is called; null for functions.
  auto CalledObject = [](const cpp::Call &C) {
    return C.op() == OO_Call ? cpp::variableOf(C.Object) : nullptr;
  };
  auto IsRetry = [&](const CallExpr *Call) {
    const cpp::Call C(Call);
    if (!C.Callee)
      return false;
    Work Amount = Amounts.of(Call);
    if (Amount == Work::Heavy)
      return true;
    // Back to the start of the function whose try block has failed.
    if (C.Callee->getCanonicalDecl() == In->getCanonicalDecl())
      return !Tried.empty();
    // Operators are in every block: they are the point only where nothing
    // heavier was tried.
    if (Amount == Work::None || (HeavyTried && torch::isTorchDecl(C.Callee)))
      return false;
    return llvm::any_of(Tried, [&](const cpp::Call &Other) {
      return Other.Callee && OriginOf(Other.Callee) == OriginOf(C.Callee) &&
             CalledObject(Other) == CalledObject(C);
    });
  };
  return cpp::findFirst<CallExpr>(Handler, IsRetry, cpp::Lambdas::Made);
}

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
    const bool IsPython = torch::isPythonError(Object);
    if (IsPython || torch::ownsTensors(Object))
      return OwningException{Object, nullptr, IsPython};
  }
  for (const CXXThrowExpr *Throw : Amounts.ownersThrownBy(Try->getTryBlock())) {
    QualType Thrown = Throw->getSubExpr()->getType();
    unsigned First = 0;
    while (First <= Index && !catches(Try->getHandler(First), Thrown))
      ++First;
    if (First == Index)
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
  cpp::forEachCall(Try->getTryBlock(), [&](const CallExpr *Call) {
    if (After && !SM.isBeforeInTranslationUnit(After->getEndLoc(),
                                               Call->Stmt::getBeginLoc()))
      return;
    if (Amounts.of(Call) > (First ? Amounts.of(First) : Work::None))
      First = Call;
  });
  return First;
}

/// A variable declared outside a try statement, or a member, that owns tensors
/// when a handler runs.
struct HandlerOwner {
  const ValueDecl *D;
  /// The assignment in the try block that made it own them; null when it did
  /// so before.
  const Expr *AssignedInTry = nullptr;
  /// The assignment in an earlier round of a loop that did.
  const Expr *AssignedEarlier = nullptr;
};

/// A handler that retries while something is alive that could be freed.
struct LateRetry {
  const FunctionDecl *In; ///< The innermost function.
  const CXXTryStmt *Try;
  const CXXCatchStmt *Handler;
  const Stmt *Statement; ///< Of the handler's block: it has the retry.
  const CallExpr *Retry;
  std::optional<OwningException> Exception = std::nullopt;
  llvm::SmallVector<HandlerOwner, 2> Owners = {};
  /// Only asked of one that has an exception.
  bool OtherHandlerRetries = false;
};

/// The variable or member whose storage the value of \p E shares: it is a copy
/// of that handle, a part of it, or a view. Null for a value of its own.
const ValueDecl *sharedWith(const Expr *E) {
  while (E) {
    E = cpp::valueOf(E);
    if (const ValueDecl *Root = cpp::rootOf(E))
      return Root;
    const auto *Call = dyn_cast<CallExpr>(E);
    E = Call ? torch::viewedBy(Call) : nullptr;
  }
  return nullptr;
}

/// What owns tensors when the retry runs although nothing reads them from its
/// statement on: letting go of it would free memory.
class OwnerFinder {
public:
  OwnerFinder(const LateRetry &P, flow::TensorWork &Amounts)
      : P(P), In(cpp::Body::of(P.In)), Root(In.root()), Ways(In.paths()),
        SM(In.context().getSourceManager()) {
    cpp::forEachCall(P.Try->getTryBlock(), [&](const CallExpr *Call) {
      if (Amounts.of(Call) != Work::None)
        WorkCalls.insert(Call);
    });
  }

  /// In order of declaration, without what it cannot tell. \p WhyNot is given
  /// the reasons against others.
  llvm::SmallVector<HandlerOwner, 2>
  find(llvm::SmallVectorImpl<Because> &WhyNot) {
    llvm::SmallVector<HandlerOwner, 2> Result;
    for (const ValueDecl *D : candidates()) {
      HandlerOwner Owner{D};
      if (!holds(Owner))
        continue;
      const Reason *Why = isReleasedFirst(D) ? &OomRecoveryInCatch.Released
                          : isUsedInHandler(D) || isNeeded(D)
                              ? &OomRecoveryInCatch.ReadAgain
                              : nullptr;
      if (Why)
        WhyNot.push_back({Why, quoted(D), D->getLocation()});
      else
        Result.push_back(Owner);
    }
    llvm::sort(Result, [&](const HandlerOwner &A, const HandlerOwner &B) {
      return SM.isBeforeInTranslationUnit(A.D->getLocation(),
                                          B.D->getLocation());
    });
    return Result;
  }

private:
  llvm::SetVector<const ValueDecl *> candidates() {
    const CompoundStmt *Block = P.Try->getTryBlock();
    llvm::SetVector<const ValueDecl *> Result;
    for (const ParmVarDecl *Parm : P.In->parameters())
      if (torch::ownsTensors(Parm->getType()))
        Result.insert(Parm);
    cpp::forEach<VarDecl>(
        Root,
        [&](const VarDecl *D) {
          const Stmt *Scope = In.scopeOf(D);
          if (Scope && In.isOwn(D) && !isa<DecompositionDecl>(D) &&
              torch::ownsTensors(D->getType()) && In.isWithin(P.Try, Scope) &&
              cpp::comesBefore(In.declarationOf(D), P.Try, SM))
            Result.insert(D);
        },
        cpp::Lambdas::Skipped);
    // In a constructor's function-try-block the members are gone.
    bool FieldsLive = P.Try != Root || !isa<CXXConstructorDecl>(P.In);
    cpp::forEach<Expr>(
        Block,
        [&](const Expr *E) {
          const ValueDecl *D = cpp::rootOf(E);
          const auto *Var = dyn_cast_or_null<VarDecl>(D);
          if ((Var ? !In.isOwn(Var) &&
                         !In.isWithin(In.declarationOf(Var), Block)
                   : FieldsLive && isa_and_nonnull<FieldDecl>(D)) &&
              torch::ownsTensors(D->getType().getNonReferenceType()))
            Result.insert(D);
        },
        cpp::Lambdas::Skipped);
    return Result;
  }

  /// Does what \p W writes own storage that nothing else is seen to own?
  bool isFresh(const cpp::Write &W) const {
    if (auto Added = cpp::asInsertion(W.Where))
      return llvm::any_of(Added->Given,
                          [](const Expr *Arg) { return !sharedWith(Arg); });
    return !W.Value || !sharedWith(W.Value);
  }

  /// Does \p W make \p D own something it may not have owned before? A module
  /// computes with its inputs, even where a holder takes them by reference, and
  /// an operation in place leaves a tensor with the storage it has.
  static bool gives(const ValueDecl *D, const cpp::Write &W) {
    return W.Kind == cpp::WriteKind::Assigned ||
           (W.Kind == cpp::WriteKind::Escaped &&
            !torch::asModuleCall(W.Where)) ||
           (W.Kind != cpp::WriteKind::Released &&
            !torch::isTensor(D->getType()));
  }

  /// Is \p D released in the handler, before P.Retry?
  bool isReleasedFirst(const ValueDecl *D) const {
    return llvm::any_of(In.writesTo(D), [&](const cpp::Write &W) {
      return W.Kind == cpp::WriteKind::Released &&
             In.isWithin(W.Where, P.Handler) &&
             cpp::comesBefore(W.Where, P.Retry, SM) &&
             !In.isWithin(P.Retry, W.Where);
    });
  }

  /// Does \p Owner.D own tensors of its own when the try block throws? Says
  /// since when.
  bool holds(HandlerOwner &Owner) const {
    const ValueDecl *D = Owner.D;
    const CompoundStmt *Block = P.Try->getTryBlock();
    auto IsHeld = [&](const Expr *Since) {
      return Ways.holdsUntil(
          D, Since, [&](const Stmt *S) { return WorkCalls.count(S) != 0; });
    };
    // Does tensor work of the try block stand after it?
    auto IsFollowed = [&](const cpp::Write &W) {
      return llvm::any_of(WorkCalls, [&](const Stmt *Call) {
        return SM.isBeforeInTranslationUnit(
            SM.getExpansionLoc(W.Where->getEndLoc()),
            SM.getExpansionLoc(Call->getBeginLoc()));
      });
    };
    const bool IsOwn = In.isOwn(D);
    const Expr *Init = IsOwn ? cast<VarDecl>(D)->getInit() : nullptr;
    bool Holds = ((IsOwn && isa<ParmVarDecl>(D)) ||
                  (Init && !cpp::isEmptyValue(Init) && !sharedWith(Init))) &&
                 IsHeld(nullptr);
    for (const cpp::Write &W : In.writesTo(D)) {
      bool InTry = In.isWithin(W.Where, Block);
      // What others own counts only as far as the try block gave it to them.
      if (W.InLambda || !gives(D, W) || !isFresh(W) || !(InTry || IsOwn) ||
          !IsHeld(W.Where))
        continue;
      const Stmt *Loop = In.loopAround(W.Where);
      if (InTry && ((Loop && In.isWithin(Loop, Block)) || IsFollowed(W))) {
        if (!Owner.AssignedInTry)
          Owner.AssignedInTry = W.Where;
      } else if (!Holds && !cpp::comesBefore(W.Where, P.Try, SM)) {
        Owner.AssignedEarlier = W.Where;
      }
      Holds = true;
    }
    return Holds;
  }

  /// Is \p D read in the handler before P.Statement (what is computed from it
  /// may share its storage), or where exceptions out of the handler go?
  bool isUsedInHandler(const ValueDecl *D) const {
    llvm::SmallPtrSet<const Stmt *, 8> NoReads;
    for (const cpp::Write &W : In.writesTo(D))
      if (W.Overwritten)
        NoReads.insert(W.Overwritten);
    cpp::forEach<CXXMemberCallExpr>(Root, [&](const CXXMemberCallExpr *Call) {
      if (torch::isMetadataAccess(Call))
        NoReads.insert(
            Call->getImplicitObjectArgument()->IgnoreParenImpCasts());
    });
    auto IsRead = [&](const Stmt *S) {
      return cpp::anyOf<Expr>(S, [&](const Expr *E) {
        return cpp::isMention(E, D) && !NoReads.count(E);
      });
    };
    // From P.Statement on the paths count: isReadFrom() walks them.
    for (const Stmt *S : P.Handler->getHandlerBlock()->children()) {
      if (S == P.Statement)
        break;
      if (IsRead(S))
        return true;
    }
    for (const CXXTryStmt *Outer = In.around<CXXTryStmt>(P.Try); Outer;
         Outer = In.around<CXXTryStmt>(Outer))
      if (In.isWithin(P.Try, Outer->getTryBlock()) &&
          llvm::any_of(Outer->children(), [&](const Stmt *Part) {
            return isa<CXXCatchStmt>(Part) && IsRead(Part);
          }))
        return true;
    return false;
  }

  /// Will \p D, or something that refers to it or shares its storage, be read
  /// again?
  bool isNeeded(const ValueDecl *D, bool IsName = false) {
    if (!Sharing.insert(D).second)
      return false;
    const torch::Aliases Others = torch::aliasesOf(D, Root);
    bool Needed = Others.Unknown || Ways.isReadFrom(D, P.Statement, IsName);
    for (const ValueDecl *Alias : Others.Names)
      Needed =
          Needed || isNeeded(Alias, isa<BindingDecl>(Alias) ||
                                        (Alias->getType()->isReferenceType() &&
                                         isLocal(Alias)));
    Sharing.erase(D);
    return Needed;
  }

  static bool isLocal(const ValueDecl *D) {
    const auto *Var = dyn_cast<VarDecl>(D);
    return Var && Var->isLocalVarDecl() && !Var->isStaticLocal();
  }

  const LateRetry &P;
  cpp::Body &In; ///< Of P.In.
  const Stmt *Root;
  const cpp::Paths &Ways;
  const SourceManager &SM;
  llvm::SmallPtrSet<const Stmt *, 16> WorkCalls;   ///< In the try block.
  llvm::SmallPtrSet<const ValueDecl *, 4> Sharing; ///< Ends cycles.
};

/// "'a' (declared at line 1) and 'b' (declared at line 2)"
std::string listOwners(llvm::ArrayRef<HandlerOwner> Owners,
                       const SourceManager &SM) {
  llvm::SmallVector<std::string, 4> Names;
  for (const HandlerOwner &Owner : Owners)
    Names.push_back(
        quoted(Owner.D) + " (declared at line " +
        std::to_string(SM.getExpansionLineNumber(Owner.D->getLocation())) +
        ")");
  return listed(Names);
}

/// Statements that release every one of \p Owners; empty when one has no way.
std::string releases(llvm::ArrayRef<HandlerOwner> Owners, StringRef Separator) {
  std::string Text;
  for (const HandlerOwner &Owner : Owners) {
    StringRef Method = torch::releaseMethod(Owner.D->getType());
    if (Method.empty() || !Owner.D->getIdentifier())
      return {};
    Text += ((Text.empty() ? "" : Separator) +
             (isa<FieldDecl>(Owner.D) ? "this->" : "") + Owner.D->getName() +
             "." + Method + "();")
                .str();
  }
  return Text;
}

/// The message where the exception itself owns tensors, and perhaps others.
std::string holdsException(const LateRetry &R, const ASTContext &Context) {
  const VarDecl *Var = R.Handler->getExceptionDecl();
  const std::string Type = "of type " + quoted(R.Exception->Type, Context);
  std::string Message = "failing retry: this handler retries while it holds " +
                        (Var && Var->getIdentifier() && !R.Exception->Thrown
                             ? quoted(Var) + " " + Type
                             : "an exception " + Type);
  Message += R.Exception->Python
                 ? ", which keeps Python frames and their tensors alive; "
                 : ", which owns tensors; ";
  Message += "set a flag and retry after the handler";
  if (!R.Owners.empty())
    Message += "; " + listOwners(R.Owners, Context.getSourceManager()) +
               (R.Owners.size() > 1 ? " are" : " is") + " still alive too";
  return Message;
}

/// The message where variables and members do.
std::string holdsOwners(const LateRetry &R, const SourceManager &SM) {
  const bool One = R.Owners.size() == 1;
  std::string Message = "failing retry: this handler retries while " +
                        listOwners(R.Owners, SM) + (One ? " is" : " are") +
                        " still alive; ";
  if (llvm::none_of(R.Owners, [](const HandlerOwner &Owner) {
        return Owner.D->getType().isConstQualified();
      }))
    Message += One ? "reset it first, or " : "reset them first, or ";
  return Message + (One ? "retry after its scope has ended"
                        : "retry after their scope has ended");
}

Step stepOf(const HandlerOwner &Owner) {
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
std::optional<LateRetry> decide(const CXXTryStmt *Try, unsigned Index,
                                const FunctionDecl *In,
                                flow::TensorWork &Amounts) {
  const CXXCatchStmt *Handler = Try->getHandler(Index);
  const auto *Block = cast<CompoundStmt>(Handler->getHandlerBlock());
  QualType Caught = Handler->getCaughtType();
  if (Block->body_empty() || (!Caught.isNull() && Caught->isDependentType()))
    return std::nullopt;
  auto Exception = owningException(Try, Index, Amounts);
  const torch::OomHandler Kind = torch::oomHandler(Caught);
  if (!Exception && (Kind == torch::OomHandler::No ||
                     (Kind == torch::OomHandler::General &&
                      Amounts.of(Try->getTryBlock()) == Work::None)))
    return std::nullopt;
  const CallExpr *Retry = retryIn(Block, Try, In, Amounts);
  if (!Retry)
    return std::nullopt;
  const Stmt *Statement = *llvm::find_if(
      Block->body(), [&](const Stmt *S) { return cpp::contains(S, Retry); });
  LateRetry Found = {In, Try, Handler, Statement, Retry, Exception};
  llvm::SmallVector<Because, 2> WhyNot;
  if (const VarDecl *Var = Handler->getExceptionDecl();
      Exception && Var && cpp::mentions(Statement, Var)) {
    Found.Exception.reset();
    WhyNot.push_back({&OomRecoveryInCatch.ExceptionUsed});
  }
  Found.Owners = OwnerFinder(Found, Amounts).find(WhyNot);
  if (!Found.Exception && Found.Owners.empty()) {
    for (const Because &Why : WhyNot)
      silent(Handler->getCatchLoc(), Why);
    return std::nullopt;
  }
  for (unsigned I = 0; I < Try->getNumHandlers() && Found.Exception; ++I)
    Found.OtherHandlerRetries |=
        I != Index && retryIn(Try->getHandler(I), Try, In, Amounts);
  return Found;
}

/// Moves the retry out of the handler, or releases what is alive before it.
fixits::Edits fixOf(const LateRetry &R, ASTContext &Context) {
  if (R.Exception)
    return fixits::hoistRecovery(
        R.Try, R.Handler, R.Statement, releases(R.Owners, " "),
        torch::oomHandler(R.Handler->getCaughtType()) ==
                torch::OomHandler::Library
            ? "out_of_memory"
            : "failed",
        R.In, Context);
  const std::string Text = releases(
      R.Owners,
      "\n" + fixits::indentationAt(R.Statement->getBeginLoc(), Context).str());
  return Text.empty()
             ? fixits::Edits()
             : fixits::insertBeforeStatement(R.Statement, Text, Context);
}

Finding worded(const LateRetry &R, flow::TensorWork &Amounts,
               ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const std::optional<OwningException> &Exception = R.Exception;
  Finding F =
      Finding::at(R.Handler->getCatchLoc())
          .says(Exception ? holdsException(R, Context) : holdsOwners(R, SM));
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
               throwingCall(R.Try, LastAssigned, Amounts, SM))
    F.note(Throwing->Stmt::getBeginLoc(),
           Exception && Exception->Python ? "this call may throw"
                                          : "this call may run out of memory");
  F.note(R.Retry->Stmt::getBeginLoc(),
         "the retry runs here, inside the handler");
  if (R.OtherHandlerRetries)
    return F.because(OomRecoveryInCatch.OtherRetries);
  F.fix(fixOf(R, Context));
  return F.Fix.empty() ? F.because(Exception ? OomRecoveryInCatch.NotMovable
                                             : OomRecoveryInCatch.NoRelease)
                       : F;
}

/// docs/checks/libtorch-oom-recovery-in-catch.md says what it finds and why.
class OomRecoveryInCatchCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(cxxTryStmt(unless(isExpansionInSystemHeader()),
                                  forFunction(functionDecl().bind("in")))
                           .bind("try"),
                       this);
  }

  void checkMatch(const Match &Result) override {
    const auto *Try = Result.Nodes.getNodeAs<CXXTryStmt>("try");
    const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
    // Of a template, the instantiations are looked at.
    if (In->isDependentContext())
      return;
    flow::TensorWork &Amounts = unit().work();
    for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
      if (auto Retry = decide(Try, I, In, Amounts))
        report(worded(*Retry, Amounts, context()));
  }
};

} // namespace

LIBTORCH_CHECK(OomRecoveryInCatchCheck, OomRecoveryInCatch);

} // namespace libtorch_tidy
