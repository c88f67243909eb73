//===- LostCapture.cpp - Hooks that outlive what they refer to ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LostCapture.h"
#include "checks/code/Body.h"
#include "checks/code/Kept.h"
#include "checks/code/Types.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

class LostCaptures {
public:
  LostCaptures(const CallExpr *Call, const code::Object &Hooked,
               const FunctionDecl *In)
      : Call(Call), Hooked(Hooked), In(In),
        SM(In->getASTContext().getSourceManager()) {}

  std::optional<LostCapture> find(const LambdaExpr *Lambda) const {
    const auto *Method = dyn_cast<CXXMethodDecl>(In);
    if (!Lambda || In->isMain() || (Method && Method->getParent()->isLambda()))
      return std::nullopt;
    for (const LambdaCapture &C : Lambda->captures()) {
      if (!C.capturesVariable() || C.getCaptureKind() != LCK_ByRef)
        continue;
      const auto *Var = dyn_cast<VarDecl>(C.getCapturedVar());
      if (Var && Var->isInitCapture())
        Var = code::variableOf(Var->getInit());
      if (!code::Body::of(In).isOwn(Var) || Var == Hooked.Root)
        continue;
      LostCapture Found{Var, C.getLocation()};
      if (const CallExpr *Backward = backwardAfter(Var)) {
        Found.Backward = Backward;
        return Found;
      }
      if (outlives() && !usedAfterwards())
        return Found;
    }
    return std::nullopt;
  }

private:
  bool isAfter(SourceLocation Loc, SourceLocation End) const {
    return SM.isBeforeInTranslationUnit(SM.getFileLoc(End), SM.getFileLoc(Loc));
  }

  /// A call of backward() in this function, after the block of \p Var, which
  /// the hooked tensor outlives.
  const CallExpr *backwardAfter(const VarDecl *Var) const {
    const Stmt *Scope =
        isa<ParmVarDecl>(Var) ? nullptr : code::Body::of(In).scopeOf(Var);
    if (!Scope || Scope == In->getBody() || !isHookedBefore(Scope))
      return nullptr;
    return code::findFirst<CallExpr>(
        In->getBody(),
        [&](const CallExpr *C) {
          return torch::isBackward(C) &&
                 isAfter(C->Stmt::getBeginLoc(), Scope->getEndLoc());
        },
        code::Lambdas::Skipped);
  }

  /// Is the hooked tensor a parameter, a member or a variable from before
  /// \p Scope?
  bool isHookedBefore(const Stmt *Scope) const {
    return !Hooked.Root || isa<ParmVarDecl>(Hooked.Root) ||
           isAfter(Scope->getBeginLoc(), Hooked.Root->getLocation());
  }

  /// Does the tensor surely live on when the function has returned?
  bool outlives() const {
    if (!Hooked.Root)
      return llvm::all_of(Hooked.Fields, [](const FieldDecl *Field) {
        return code::isOwningType(Field->getType());
      });
    if (isa<ParmVarDecl>(Hooked.Root))
      return true;
    const Stmt *Body = In->getBody();
    return code::anyOf<ReturnStmt>(
        Body,
        [&](const ReturnStmt *S) {
          return S->getRetValue() &&
                 llvm::any_of(
                     code::keptBy(S->getRetValue(), Body), [&](const Expr *E) {
                       auto Object = code::objectOf(E, Body);
                       return Object && !Object->Element && *Object == Hooked;
                     });
        },
        code::Lambdas::Skipped);
  }

  /// May the hook be meant for a backward pass within this function, or may
  /// somebody take it away?
  bool usedAfterwards() const {
    return code::anyOf<CallExpr>(In->getBody(), [&](const CallExpr *C) {
      const FunctionDecl *Callee = C->getDirectCallee();
      return torch::isBackward(C) ||
             (isAfter(C->Stmt::getBeginLoc(), Call->Stmt::getEndLoc()) &&
              (!Callee ||
               (!torch::isTorchDecl(Callee) && !torch::isStdDecl(Callee))));
    });
  }

  const CallExpr *Call;
  const code::Object &Hooked;
  const FunctionDecl *In;
  const SourceManager &SM;
};

} // namespace

std::optional<LostCapture> lostCapture(const LambdaExpr *Lambda,
                                       const CallExpr *Call,
                                       const code::Object &Hooked,
                                       const FunctionDecl *In) {
  return LostCaptures(Call, Hooked, In).find(Lambda);
}

} // namespace libtorch_tidy
