//===- StaleOptimizerStateCheck.cpp ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

constexpr struct StaleOptimizerStateReasons {
  Reason OutsideLoop{"outside-loop", Effect::Advice,
                     "The list of an optimizer that is a parameter or a member "
                     "is replaced outside of a loop in which it steps."};
  Reason Handled{"state-handled", Effect::Silent,
                 "The function, or one that it calls, uses `state()` of an "
                 "optimizer."};
  Reason NoStepYet{"no-step-yet", Effect::Silent,
                   "It is before the first step, in a constructor or with a "
                   "local optimizer outside of loops: there is no state yet."};
  Reason MadeInLoop{"made-in-loop", Effect::Silent,
                    "The optimizer is made in the loop, and goes with the "
                    "iteration."};
  Reason Conditional{"under-condition", Effect::Silent,
                     "`add_param_group` is under a condition: layers that are "
                     "unfrozen at some time are trained beside the others."};
  Reason NoState{"no-state", Effect::Silent,
                 "It is `torch::optim::SGD`, which keeps no state without "
                 "momentum, and none is seen to be set."};
} StaleOptimizerState{};

/// The element that an expression names: groups[i], groups.at(i), front().
const Expr *listOfElement(const Expr *E) {
  E = cpp::stripImplicit(E);
  if (const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(E))
    return Op->getOperator() == OO_Subscript ? Op->getArg(0) : nullptr;
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E);
  return Call && cpp::does(Call, cpp::Std::Element)
             ? Call->getImplicitObjectArgument()
             : nullptr;
}

/// The expressions of one function that write to an optimizer's list.
class Replacements {
public:
  struct Found {
    const Expr *Where;
    const Expr *Optimizer;
  };
  llvm::SmallVector<Found, 2> All;

  explicit Replacements(const Stmt *Body) {
    cpp::forEach<Stmt>(
        Body,
        [&](const Stmt *S) {
          if (const auto *Range = dyn_cast<CXXForRangeStmt>(S))
            Ranges[Range->getLoopVariable()] = Range->getRangeInit();
          else if (const auto *Call = dyn_cast<CallExpr>(S))
            lookAt(Call);
        },
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
  bool MadeInLoop = false;  ///< The optimizer is.
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
                         S->getEndLoc())) {
      T.MadeInLoop = true;
      return T;
    }
    T.Step = flow::findRunCall(Body, torch::isOptimizerStep);
    if (T.Step) {
      T.Loop = S;
      return T;
    }
  }
  return {};
}

/// The look at the state that \p In, by itself or through others, has; null for
/// none.
const CallExpr *handledIn(const FunctionDecl *In) {
  // The function around a lambda may do it for the lambda.
  for (const DeclContext *DC = In; DC; DC = DC->getParent())
    if (const auto *F = dyn_cast<FunctionDecl>(DC); F && F->hasBody())
      if (const CallExpr *Call =
              flow::findRunCall(F->getBody(), torch::isOptimizerState))
        return Call;
  return nullptr;
}

/// Why what \p In changes of \p Optimizer leaves no state behind; nullopt where
/// it does.
std::optional<Because> whyNothingIsStale(const Expr *Optimizer,
                                         const FunctionDecl *In) {
  if (torch::keepsNoState(Optimizer, cpp::Body::of(In)))
    return Because{&StaleOptimizerState.NoState};
  if (const CallExpr *Use = handledIn(In))
    return Because{&StaleOptimizerState.Handled, "used", Use->getExprLoc()};
  return std::nullopt;
}

std::optional<Finding> foundAdded(const CXXMemberCallExpr *Call,
                                  const FunctionDecl *In) {
  const Expr *Optimizer = Call->getImplicitObjectArgument();
  const Training T = trainingAround(
      Call, cpp::rootOf(cpp::stripPointers(Optimizer)), cpp::Body::of(In));
  if (T.MadeInLoop)
    return Finding::at(Call).because(StaleOptimizerState.MadeInLoop);
  if (!T.Loop)
    return std::nullopt;
  return Finding::at(Call)
      .because(T.Conditional ? Because{&StaleOptimizerState.Conditional}
                             : whyNothingIsStale(Optimizer, In))
      .says("memory growth: every iteration adds parameters to the optimizer: "
            "the groups "
            "of earlier parameters remain, with their state")
      .remedy("make a new optimizer, or add them once")
      .note(T.Loop->getBeginLoc(), "the optimizer outlives this loop")
      .note(T.Step->Stmt::getBeginLoc(),
            "this step makes state for what was added");
}

Finding foundReplaced(const Replacements::Found &R, const FunctionDecl *In) {
  const ValueDecl *Root = cpp::rootOf(cpp::stripPointers(R.Optimizer));
  const Training T = trainingAround(R.Where, Root, cpp::Body::of(In));
  const bool Given = isa_and_nonnull<ParmVarDecl, FieldDecl>(Root);
  std::optional<Because> Why;
  if (T.Loop || (Given && !isa<CXXConstructorDecl>(In)))
    Why = whyNothingIsStale(R.Optimizer, In);
  else
    Why = Because{T.MadeInLoop ? &StaleOptimizerState.MadeInLoop
                               : &StaleOptimizerState.NoStepYet};
  Finding F = Finding::from(R.Where).because(Why).says(
      "memory growth: parameters are replaced while the optimizer keeps the "
      "state of the old ones: its state() is keyed by their "
      "tensors; erase the entries of what is replaced");
  if (!T.Loop)
    F.because(StaleOptimizerState.OutsideLoop);
  if (T.Step)
    F.note(T.Step->Stmt::getBeginLoc(),
           "this step makes state for the new parameters, in addition to that "
           "of the old ones");
  return F;
}

/// docs/checks/libtorch-stale-optimizer-state.md says what it finds and why.
class StaleOptimizerStateCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    // Functions are looked at once, by the first such call in them.
    Finder->addMatcher(cxxMemberCallExpr(callee(cxxMethodDecl(hasAnyName(
                                             torch::ParameterMethods))),
                                         unless(isExpansionInSystemHeader()),
                                         forFunction(functionDecl().bind("in")))
                           .bind("call"),
                       this);
  }
  void checkMatch(const Match &Result) override {
    const auto *Call = Result.Nodes.getNodeAs<CXXMemberCallExpr>("call");
    const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
    if (In->isDependentContext() || !In->hasBody())
      return;
    if (torch::addsParameters(Call)) {
      if (std::optional<Finding> F = foundAdded(Call, In))
        report(F->runsWith(Call, *Result.Context));
    } else if (torch::asParameterList(Call).Call && Visited.insert(In).second) {
      const Replacements Written(In->getBody());
      for (const Replacements::Found &R : Written.All)
        report(foundReplaced(R, In).runsWith(R.Where, *Result.Context));
    }
  }

private:
  llvm::DenseSet<const FunctionDecl *> Visited;
};

} // namespace

LIBTORCH_CHECK(StaleOptimizerStateCheck, StaleOptimizerState);

} // namespace libtorch_tidy
