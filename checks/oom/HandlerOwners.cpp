//===- HandlerOwners.cpp - Tensors alive inside a handler -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/oom/HandlerOwners.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Paths.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy {

namespace {

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

class OwnerFinder {
public:
  OwnerFinder(const HandlerPoint &P, flow::TensorWork &Amounts,
              ASTContext &Context)
      : P(P), SM(Context.getSourceManager()), In(cpp::Body::of(P.In)),
        Root(In.root()), Ways(In.paths()) {
    cpp::forEachCall(P.Try->getTryBlock(), [&](const CallExpr *Call) {
      if (Amounts.of(Call) != Work::None)
        WorkCalls.insert(Call);
    });
  }

  llvm::SmallVector<HandlerOwner, 2>
  find(llvm::SmallVectorImpl<Because> &WhyNot) {
    llvm::SmallVector<HandlerOwner, 2> Result;
    for (const ValueDecl *D : candidates()) {
      HandlerOwner Owner{D};
      if (!holds(Owner))
        continue;
      if (isReleasedFirst(D))
        WhyNot.push_back(
            {&OomRecoveryInCatch.Released, quoted(D), D->getLocation()});
      else if (isUsedInHandler(D) || isNeeded(D))
        WhyNot.push_back(
            {&OomRecoveryInCatch.ReadAgain, quoted(D), D->getLocation()});
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
  bool isBefore(SourceLocation A, SourceLocation B) const {
    return SM.isBeforeInTranslationUnit(SM.getExpansionLoc(A),
                                        SM.getExpansionLoc(B));
  }
  bool isBefore(const Stmt *A, const Stmt *B) const {
    return isBefore(A->getBeginLoc(), B->getBeginLoc());
  }

  /// Owned by this function, not by its caller or its object.
  bool isOwn(const ValueDecl *D) const { return In.isOwn(D); }

  llvm::SetVector<const ValueDecl *> candidates() {
    llvm::SmallPtrSet<const ValueDecl *, 8> DeclaredInTry;
    cpp::forEach<VarDecl>(
        P.Try->getTryBlock(),
        [&](const VarDecl *Var) { DeclaredInTry.insert(Var); },
        cpp::Lambdas::Skipped);

    llvm::SetVector<const ValueDecl *> Result;
    for (const ParmVarDecl *Parm : P.In->parameters())
      if (torch::ownsTensors(Parm->getType()))
        Result.insert(Parm);
    cpp::forEach<VarDecl>(
        Root,
        [&](const VarDecl *D) {
          if (isOwn(D) && !isa<DecompositionDecl>(D) &&
              torch::ownsTensors(D->getType()) &&
              isBefore(D->getLocation(), P.Try->getBeginLoc()) &&
              In.scopeOf(D) && In.isWithin(P.Try, In.scopeOf(D)))
            Result.insert(D);
        },
        cpp::Lambdas::Skipped);
    // In a constructor's function-try-block the members are gone.
    bool FieldsLive = P.Try != Root || !isa<CXXConstructorDecl>(P.In);
    auto Consider = [&](const ValueDecl *D) {
      if (D && !isOwn(D) && !DeclaredInTry.count(D) &&
          torch::ownsTensors(D->getType().getNonReferenceType()))
        Result.insert(D);
    };
    cpp::forEach<Expr>(
        P.Try->getTryBlock(),
        [&](const Expr *E) {
          if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
            Consider(dyn_cast<VarDecl>(Ref->getDecl()));
          else if (const auto *Member = dyn_cast<MemberExpr>(E);
                   Member && FieldsLive &&
                   cpp::fieldOf(Member) == Member->getMemberDecl())
            Consider(dyn_cast<FieldDecl>(Member->getMemberDecl()));
        },
        cpp::Lambdas::Skipped);
    return Result;
  }

  /// Does what \p W writes own storage that nothing else is seen to own?
  bool isFresh(const cpp::Write &W) const {
    if (auto Added = cpp::asInsertion(W.Where))
      return !llvm::all_of(Added->Given, [](const Expr *Arg) {
        return sharedWith(Arg) != nullptr;
      });
    return !W.Value || !sharedWith(W.Value);
  }

  /// Does \p W make \p D own something it may not have owned before?
  static bool gives(const ValueDecl *D, const cpp::Write &W) {
    switch (W.Kind) {
    case cpp::WriteKind::Assigned:
      return true;
    case cpp::WriteKind::Escaped:
      // A module computes with its inputs; that a holder takes them by
      // reference says nothing.
      return !torch::isTensor(D->getType()) || !torch::asModuleCall(W.Where);
    case cpp::WriteKind::Changed:
      // An operation in place leaves a tensor with the storage it has.
      return !torch::isTensor(D->getType());
    case cpp::WriteKind::Released:
      return false;
    }
    return false;
  }

  /// Does a loop within \p Block contain \p S?
  bool isInLoop(const Stmt *S, const Stmt *Block) const {
    while (S && S != Block)
      if ((S = In.parentOf(S)) && cpp::isLoop(S))
        return true;
    return false;
  }

  /// Is \p D released in the handler, before P.At?
  bool isReleasedFirst(const ValueDecl *D) const {
    return llvm::any_of(In.writesTo(D), [&](const cpp::Write &W) {
      return W.Kind == cpp::WriteKind::Released &&
             In.isWithin(W.Where, P.Handler) && isBefore(W.Where, P.At) &&
             !In.isWithin(P.At, W.Where);
    });
  }

  /// Does \p Owner.D own tensors of its own when the try block throws? Says
  /// since when.
  bool holds(HandlerOwner &Owner) const {
    const ValueDecl *D = Owner.D;
    const CompoundStmt *Block = P.Try->getTryBlock();
    const llvm::ArrayRef<cpp::Write> Writes = In.writesTo(D);
    auto IsHeld = [&](const Expr *Since) {
      return Ways.holdsUntil(
          D, Since, [&](const Stmt *S) { return WorkCalls.count(S) != 0; });
    };
    bool Holds = false;
    if (isOwn(D)) {
      const Expr *Init = cast<VarDecl>(D)->getInit();
      bool Given = isa<ParmVarDecl>(D) ||
                   (Init && !cpp::isEmptyValue(Init) && !sharedWith(Init));
      Holds = Given && IsHeld(nullptr);
    }
    for (const cpp::Write &W : Writes) {
      bool InTry = In.isWithin(W.Where, Block);
      // What others own counts only as far as the try block gave it to them.
      if (W.InLambda || !gives(D, W) || !isFresh(W) || !(InTry || isOwn(D)) ||
          !IsHeld(W.Where))
        continue;
      if (InTry && (isInLoop(W.Where, Block) || isFollowedByWork(W))) {
        if (!Owner.AssignedInTry)
          Owner.AssignedInTry = W.Where;
      } else if (!Holds && !isBefore(W.Where, P.Try)) {
        Owner.AssignedEarlier = W.Where;
      }
      Holds = true;
    }
    return Holds;
  }

  /// Does tensor work of the try block stand after \p W?
  bool isFollowedByWork(const cpp::Write &W) const {
    return llvm::any_of(WorkCalls, [&](const Stmt *Call) {
      return isBefore(W.Where->getEndLoc(), Call->getBeginLoc());
    });
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
      if (In.isWithin(P.Try, Outer->getTryBlock()))
        for (unsigned I = 0; I < Outer->getNumHandlers(); ++I)
          if (IsRead(Outer->getHandler(I)))
            return true;
    return false;
  }

  /// Will \p D, or something that shares its storage, be read again?
  bool isNeeded(const ValueDecl *D) {
    if (!Sharing.insert(D).second)
      return false;
    bool Needed = Ways.isReadFrom(D, P.Statement);
    llvm::SetVector<const ValueDecl *> Aliases;
    bool Stored = false; // Where it cannot be followed.
    cpp::forEach<VarDecl>(Root, [&](const VarDecl *Var) {
      if (Var->getInit() && sharedWith(Var->getInit()) == D)
        Aliases.insert(Var);
    });
    cpp::forEachStore(Root,
                      [&](const CallExpr *, const Expr *To, const Expr *Value) {
                        if (sharedWith(Value) != D)
                          return;
                        if (const ValueDecl *Holder = cpp::rootOf(To))
                          Aliases.insert(Holder);
                        else
                          Stored = true;
                      });
    Needed = Needed || Stored;
    for (const ValueDecl *Alias : Aliases)
      Needed = Needed || (Alias != D && isNeeded(Alias));
    Sharing.erase(D);
    return Needed;
  }

  const HandlerPoint &P;
  const SourceManager &SM;
  cpp::Body &In; ///< Of P.In.
  const Stmt *Root;
  const cpp::Paths &Ways;
  llvm::SmallPtrSet<const Stmt *, 16> WorkCalls;   ///< In the try block.
  llvm::SmallPtrSet<const ValueDecl *, 4> Sharing; ///< Ends cycles.
};

} // namespace

std::string exceptionName(QualType T, const ASTContext &Context) {
  PrintingPolicy Policy(Context.getLangOpts());
  Policy.SuppressTagKeyword = true;
  return T.getNonReferenceType()
      .getUnqualifiedType()
      .getCanonicalType()
      .getAsString(Policy);
}

llvm::SmallVector<HandlerOwner, 2>
needlessOwners(const HandlerPoint &Point, flow::TensorWork &Work,
               ASTContext &Context, llvm::SmallVectorImpl<Because> &WhyNot) {
  if (!Point.In || !Point.In->getBody())
    return {};
  return OwnerFinder(Point, Work, Context).find(WhyNot);
}

} // namespace libtorch_tidy
