//===- LostCapture.cpp - Hooks that outlive what they refer to ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/cycles/LostCapture.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Kept.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

class LostCaptures {
public:
  LostCaptures(const CallExpr *Call, const cpp::Object &Hooked,
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
        Var = cpp::variableOf(Var->getInit());
      if (!cpp::Body::of(In).isOwn(Var) || Var == Hooked.Root)
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
        isa<ParmVarDecl>(Var) ? nullptr : cpp::Body::of(In).scopeOf(Var);
    if (!Scope || Scope == In->getBody() || !isHookedBefore(Scope))
      return nullptr;
    return cpp::findFirst<CallExpr>(
        In->getBody(),
        [&](const CallExpr *C) {
          return torch::isBackward(C) &&
                 isAfter(C->Stmt::getBeginLoc(), Scope->getEndLoc());
        },
        cpp::Lambdas::Skipped);
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
        return cpp::isOwningType(Field->getType());
      });
    if (isa<ParmVarDecl>(Hooked.Root))
      return true;
    const Stmt *Body = In->getBody();
    return cpp::anyOf<ReturnStmt>(
        Body,
        [&](const ReturnStmt *S) {
          return S->getRetValue() &&
                 llvm::any_of(
                     torch::keptBy(S->getRetValue(), Body), [&](const Expr *E) {
                       auto Object = cpp::objectOf(E, Body);
                       return Object && !Object->Element && *Object == Hooked;
                     });
        },
        cpp::Lambdas::Skipped);
  }

  /// May the hook be meant for a backward pass within this function, or may
  /// somebody take it away?
  bool usedAfterwards() const {
    return cpp::anyOf<CallExpr>(In->getBody(), [&](const CallExpr *C) {
      const FunctionDecl *Callee = C->getDirectCallee();
      return torch::isBackward(C) ||
             (isAfter(C->Stmt::getBeginLoc(), Call->Stmt::getEndLoc()) &&
              (!Callee || (!cpp::isOfLibrary(Callee))));
    });
  }

  const CallExpr *Call;
  const cpp::Object &Hooked;
  const FunctionDecl *In;
  const SourceManager &SM;
};

} // namespace

std::optional<LostCapture> lostCapture(const LambdaExpr *Lambda,
                                       const CallExpr *Call,
                                       const cpp::Object &Hooked,
                                       const FunctionDecl *In) {
  return LostCaptures(Call, Hooked, In).find(Lambda);
}

} // namespace libtorch_tidy
