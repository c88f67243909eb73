//===- CreateGraphCycleCheck.cpp ------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/FunctionFlow.h"
#include "checks/flow/UnitModel.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Conventions.h"
#include "checks/torch/Effects.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-create-graph-cycle.md says what it finds and why.
class CreateGraphCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void check(const MatchFinder::MatchResult &Result) override;
  void onEndOfTranslationUnit() override;

private:
  /// A backward() that makes the graph of gradients, for certain or when a
  /// parameter of its function says so.
  struct Backward {
    const CallExpr *Call;
    const FunctionDecl *In;
    const ParmVarDecl *When; ///< Null: always.
  };
  ASTContext *Context = nullptr;
  /// Who resets gradients is known at the end of the unit.
  llvm::SmallVector<Backward, 2> Calls;
};

/// Where a body takes gradients away from parameters, or their graphs from
/// gradients: zero_grad(), which detaches where it does not reset, a write to
/// mutable_grad(), grad().detach_().
class GradientResets : public RecursiveASTVisitor<GradientResets> {
public:
  /// Functions called in the body are looked into \p Depth levels deep.
  explicit GradientResets(unsigned Depth) : Depth(Depth) {}
  llvm::SmallVector<const CallExpr *, 4> Found;

  bool VisitCallExpr(CallExpr *Call) {
    if (isReset(Call))
      Found.push_back(Call);
    return true;
  }

private:
  static bool isGradient(const Expr *E) {
    E = torch::stripImplicit(E);
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
      if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
          Var && Var->isLocalVarDecl() && Var->getInit())
        E = torch::stripImplicit(Var->getInit());
    const auto *Call = dyn_cast_or_null<CallExpr>(E);
    return Call && torch::gradOf(Call);
  }

  bool isReset(const CallExpr *Call) const {
    if (torch::isZeroGrad(Call))
      return true;
    StringRef Name = torch::calleeName(Call);
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
      return Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 &&
             isGradient(Op->getArg(0));
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
        Method && torch::endsHistory(Method) &&
        isGradient(Method->getImplicitObjectArgument()))
      return true;
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || torch::isTorchDecl(Callee) || torch::isStdDecl(Callee))
      return false;
    if (Callee->hasBody(Callee)) {
      if (Depth == 0)
        return false;
      GradientResets Inner(Depth - 1);
      Inner.TraverseStmt(Callee->getBody());
      return !Inner.Found.empty();
    }
    // Of code that is not seen, the name must do.
    return torch::namesGradientReset(Name);
  }

  unsigned Depth;
};

/// Does a reset in \p Body run after \p Call: behind it in the text, or in the
/// next round of a loop around both?
bool isResetAfter(const CallExpr *Call, const Stmt *Body,
                  const SourceManager &SM) {
  GradientResets Resets(/*Depth=*/4);
  Resets.TraverseStmt(const_cast<Stmt *>(Body));
  auto Within = [&](const Stmt *Inner, const Stmt *Outer) {
    SourceLocation Loc = SM.getFileLoc(Inner->getBeginLoc());
    return !SM.isBeforeInTranslationUnit(Loc,
                                         SM.getFileLoc(Outer->getBeginLoc())) &&
           !SM.isBeforeInTranslationUnit(SM.getFileLoc(Outer->getEndLoc()),
                                         Loc);
  };
  struct LoopFinder : RecursiveASTVisitor<LoopFinder> {
    llvm::SmallVector<const Stmt *, 4> Loops;
    bool VisitStmt(Stmt *S) {
      if (flow::isLoop(S))
        Loops.push_back(S);
      return true;
    }
  } Finder;
  Finder.TraverseStmt(const_cast<Stmt *>(Body));
  return llvm::any_of(Resets.Found, [&](const CallExpr *Reset) {
    return SM.isBeforeInTranslationUnit(SM.getFileLoc(Call->getBeginLoc()),
                                        SM.getFileLoc(Reset->getBeginLoc())) ||
           llvm::any_of(Finder.Loops, [&](const Stmt *Loop) {
             return Within(Call, Loop) && Within(Reset, Loop);
           });
  });
}

struct CallSite {
  const CallExpr *Call;
  const FunctionDecl *In;
};

/// The calls of \p Callee in the unit.
llvm::SmallVector<CallSite, 4> callsOf(const FunctionDecl *Callee,
                                       const flow::UnitModel &Unit) {
  struct Finder : RecursiveASTVisitor<Finder> {
    const FunctionDecl *Callee;
    const FunctionDecl *In;
    llvm::SmallVector<CallSite, 4> Found;
    bool VisitCallExpr(CallExpr *Call) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (F && F->getCanonicalDecl() == Callee->getCanonicalDecl())
        Found.push_back({Call, In});
      return true;
    }
  } F;
  F.Callee = Callee;
  for (const FunctionDecl *In : Unit.functions()) {
    F.In = In;
    F.TraverseStmt(In->getBody());
  }
  return F.Found;
}

/// The argument of backward() that says whether to make a graph.
const Expr *createGraphArgument(const CallExpr *Call) {
  unsigned I = isa<CXXMemberCallExpr>(Call) ? 2 : 3;
  return I < Call->getNumArgs() ? Call->getArg(I) : nullptr;
}

/// A bool that never changes: what its variable starts with.
const VarDecl *unchangedVariable(const Expr *E, const Stmt *Body) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(torch::stripImplicit(E));
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return Var && Var->isLocalVarDeclOrParm() && flow::writesTo(Var, Body).empty()
             ? Var
             : nullptr;
}

} // namespace

void CreateGraphCycleCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasName(torch::BackwardName))),
               forFunction(functionDecl().bind("in")))
          .bind("call"),
      this);
}

void CreateGraphCycleCheck::check(const MatchFinder::MatchResult &Result) {
  Context = Result.Context;
  const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  if (!isUserCode(Call->getBeginLoc(), *Result.SourceManager) || !In->hasBody())
    return;
  auto Backward = torch::asBackward(Call);
  if (!Backward || Backward->ReturnsGradients ||
      Backward->CreateGraph == torch::Flag::False)
    return;
  if (Backward->CreateGraph == torch::Flag::True) {
    Calls.push_back({Call, In, nullptr});
    return;
  }
  const VarDecl *Var =
      unchangedVariable(createGraphArgument(Call), In->getBody());
  if (const auto *Param = dyn_cast_or_null<ParmVarDecl>(Var))
    Calls.push_back({Call, In, Param});
  else if (Var && Var->getInit() &&
           torch::constantBool(Var->getInit(), *Context) == true)
    Calls.push_back({Call, In, nullptr});
}

void CreateGraphCycleCheck::onEndOfTranslationUnit() {
  if (Calls.empty())
    return;
  const SourceManager &SM = Context->getSourceManager();
  std::shared_ptr<flow::UnitModel> Unit = flow::UnitModel::of(*Context);
  for (const Backward &B : Calls) {
    if (isResetAfter(B.Call, B.In->getBody(), SM))
      continue;
    Finding F;
    F.Strength = Level::Likely;
    F.Message = "backward() with create_graph=true stores gradients whose "
                "graph owns the parameters: each parameter and its gradient "
                "keep each other until the gradient is reset; "
                "torch::autograd::grad returns them instead";
    llvm::SmallVector<CallSite, 4> Callers = callsOf(B.In, *Unit);
    if (!B.When) {
      // Whoever calls the function may clean up after it.
      if (!Callers.empty() && llvm::all_of(Callers, [&](const CallSite &C) {
            return isResetAfter(C.Call, C.In->getBody(), SM);
          }))
        continue;
      F.Loc = B.Call->getBeginLoc();
      F.Highlight = B.Call->getSourceRange();
      tell(F, SM);
      continue;
    }
    for (const CallSite &C : Callers) {
      unsigned I = B.When->getFunctionScopeIndex();
      if (isa<CXXOperatorCallExpr>(C.Call) || I >= C.Call->getNumArgs() ||
          torch::constantBool(C.Call->getArg(I), *Context) != true ||
          !isUserCode(C.Call->getBeginLoc(), SM) ||
          isResetAfter(C.Call, C.In->getBody(), SM))
        continue;
      F.Loc = C.Call->getBeginLoc();
      F.Highlight = C.Call->getSourceRange();
      F.Steps = {{B.Call->getBeginLoc(),
                  "'" + B.When->getNameAsString() +
                      "' is what this backward() gets as create_graph"}};
      tell(F, SM);
    }
  }
  Calls.clear();
}

LIBTORCH_CHECK(CreateGraphCycleCheck);

} // namespace libtorch_tidy
