//===- StaleOptimizerStateCheck.cpp ---------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Optimizers.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-stale-optimizer-state.md says what it finds and why.
class StaleOptimizerStateCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  static bool isHandled(const FunctionDecl *In);

  llvm::DenseSet<const FunctionDecl *> Visited;
};

/// The element that an expression names: groups[i], groups.at(i), front().
const Expr *listOfElement(const Expr *E) {
  E = cpp::stripImplicit(E);
  if (const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(E))
    return Op->getOperator() == OO_Subscript ? Op->getArg(0) : nullptr;
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E);
  return Call && llvm::StringSwitch<bool>(cpp::calleeName(Call))
                     .Cases("at", "front", "back", true)
                     .Default(false)
             ? Call->getImplicitObjectArgument()
             : nullptr;
}

/// One function, and the expressions that write to an optimizer's list.
class Replacements {
public:
  struct Found {
    const Expr *Where;
    const Expr *Optimizer;
  };
  llvm::SmallVector<Found, 2> All;

  explicit Replacements(const Stmt *Body) {
    cpp::forEach<CXXForRangeStmt>(
        Body,
        [&](const CXXForRangeStmt *Range) {
          Ranges[Range->getLoopVariable()] = Range->getRangeInit();
        },
        cpp::Lambdas::Skipped);
    cpp::forEach<CallExpr>(
        Body, [&](const CallExpr *Call) { lookAt(Call); },
        cpp::Lambdas::Skipped);
  }

private:
  void lookAt(const CallExpr *Call) {
    const Expr *Target = nullptr;
    if (cpp::isAssignment(Call)) {
      // params() = {...}, params()[0] = t.
      Target = Call->getArg(0);
      if (const Expr *List = listOfElement(Target);
          List && torch::isTensor(Target->getType()))
        Target = List;
    } else if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call)) {
      // params().clear()
      if (llvm::StringSwitch<bool>(cpp::calleeName(Call))
              .Cases("clear", "assign", "swap", "erase", true)
              .Default(false))
        Target = Method->getImplicitObjectArgument();
    }
    if (const Expr *Optimizer = Target ? optimizerOfList(Target) : nullptr)
      All.push_back({Call, Optimizer});
  }

  /// What a local reference is bound to; \p E itself otherwise.
  const Expr *referredBy(const Expr *E) const {
    const VarDecl *Var = cpp::variableOf(E);
    if (!Var || isa<ParmVarDecl>(Var) || !Var->getType()->isReferenceType() ||
        !Var->hasInit())
      return E;
    return Var->getInit();
  }

  const Expr *optimizerOfList(const Expr *E) const {
    E = cpp::stripImplicit(referredBy(E));
    torch::ParameterList List =
        torch::asParameterList(dyn_cast_or_null<CallExpr>(E));
    if (!List.Call)
      return nullptr;
    return List.OfGroup ? optimizerOfGroup(List.Object) : List.Object;
  }

  const Expr *optimizerOfGroup(const Expr *E) const {
    // for (auto &group : optimizer.param_groups())
    const VarDecl *Var = cpp::variableOf(E);
    if (const Expr *Range = Ranges.lookup(Var);
        Range && Var->getType()->isReferenceType())
      return torch::optimizerOfGroups(referredBy(Range));
    const Expr *Groups = listOfElement(referredBy(E));
    return Groups ? torch::optimizerOfGroups(referredBy(Groups)) : nullptr;
  }

  llvm::DenseMap<const VarDecl *, const Expr *> Ranges;
};

/// The loop around \p At in whose rounds an optimizer that was made outside of
/// it steps, and that step.
struct Training {
  const Stmt *Loop = nullptr;
  const CallExpr *Step = nullptr;
  bool Conditional = false; ///< Between \p At and the loop.
};
Training trainingAround(const Expr *At, const ValueDecl *Optimizer,
                        const cpp::Body &In) {
  const SourceManager &SM = In.context().getSourceManager();
  Training T;
  for (const Stmt *S = At; (S = In.parentOf(S));) {
    if (isa<LambdaExpr>(S))
      return {};
    T.Conditional |=
        isa<IfStmt, SwitchStmt, AbstractConditionalOperator, CXXCatchStmt>(S);
    const Stmt *Body = cpp::bodyOf(S);
    if (!Body)
      continue;
    if (Optimizer && !isa<FieldDecl>(Optimizer) &&
        SM.isPointWithin(Optimizer->getLocation(), S->getBeginLoc(),
                         S->getEndLoc()))
      return {};
    T.Step = flow::findRunCall(Body, torch::isOptimizerStep);
    if (T.Step) {
      T.Loop = S;
      return T;
    }
  }
  return {};
}

} // namespace

void StaleOptimizerStateCheck::registerMatchers(MatchFinder *Finder) {
  // Functions are looked at once, by the first such call in them.
  Finder->addMatcher(cxxMemberCallExpr(callee(cxxMethodDecl(hasAnyName(
                                           torch::ParameterMethods))),
                                       unless(isExpansionInSystemHeader()),
                                       forFunction(functionDecl().bind("in")))
                         .bind("call"),
                     this);
}

void StaleOptimizerStateCheck::checkMatch(const Match &Result) {
  const auto *Call = Result.Nodes.getNodeAs<CXXMemberCallExpr>("call");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  if (In->isDependentContext() || !In->hasBody())
    return;
  if (torch::addsParameters(Call)) {
    const Expr *Optimizer = Call->getImplicitObjectArgument();
    Training T = trainingAround(
        Call, cpp::rootOf(cpp::stripPointers(Optimizer)), cpp::Body::of(In));
    // What is added under a condition is added now and then.
    if (!T.Loop || T.Conditional || isHandled(In) ||
        torch::keepsNoState(cpp::stripPointers(Optimizer)->getType()))
      return;
    Finding F;
    F.Loc = Call->getExprLoc();
    F.Highlight = Call->getSourceRange();
    F.Strength = Level::Likely;
    F.Message = "every iteration adds parameters to the optimizer: the groups "
                "of earlier parameters remain, with their state";
    F.Steps.push_back({T.Loop->getBeginLoc(), "the optimizer outlives this "
                                              "loop"});
    F.Steps.push_back({T.Step->Stmt::getBeginLoc(),
                       "this step makes state for what was added"});
    return report(F);
  }
  if (!torch::asParameterList(Call).Call || !Visited.insert(In).second)
    return;
  Replacements Written(In->getBody());
  for (const Replacements::Found &R : Written.All) {
    const ValueDecl *Root = cpp::rootOf(cpp::stripPointers(R.Optimizer));
    Training T = trainingAround(R.Where, Root, cpp::Body::of(In));
    bool Given =
        isa_and_nonnull<ParmVarDecl>(Root) || isa_and_nonnull<FieldDecl>(Root);
    // Before the first step there is no state yet.
    if ((!T.Loop && (!Given || isa<CXXConstructorDecl>(In))) ||
        torch::keepsNoState(cpp::stripPointers(R.Optimizer)->getType()) ||
        isHandled(In))
      continue;
    Finding F;
    F.Loc = R.Where->getBeginLoc();
    F.Highlight = R.Where->getSourceRange();
    F.Strength = T.Loop ? Level::Likely : Level::Advisory;
    F.Message = "parameters are replaced while the optimizer keeps the state "
                "of the old ones: its state() is keyed by their tensors; erase "
                "the entries of what is replaced";
    if (T.Step)
      F.Steps.push_back({T.Step->Stmt::getBeginLoc(),
                         "this step makes state for the new parameters, in "
                         "addition to that of the old ones"});
    report(F);
  }
}

/// Does the function look at the state, by itself or through others?
bool StaleOptimizerStateCheck::isHandled(const FunctionDecl *In) {
  // The function around a lambda may do it for the lambda.
  for (const DeclContext *DC = In; DC; DC = DC->getParent())
    if (const auto *F = dyn_cast<FunctionDecl>(DC);
        F && F->hasBody() &&
        flow::findRunCall(F->getBody(), torch::isOptimizerState))
      return true;
  return false;
}

LIBTORCH_CHECK(StaleOptimizerStateCheck, NoReasons);

} // namespace libtorch_tidy
