//===- SharedSnapshotCheck.cpp --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

constexpr struct SharedSnapshotReasons {
  Reason LiveView{"may-be-meant", Effect::Silent,
                  "It is read after the step, but neither with the parameter "
                  "itself nor after a loop that took it: the new values may "
                  "be meant."};
  Reason TakenAnew{"taken-anew", Effect::Silent,
                   "It is taken again after each step before it is read."};
} SharedSnapshot{};

/// A parameter's values that are kept over an optimizer's step.
struct Snapshot {
  const CallExpr *Taken; ///< fc->weight.detach()
  const VarDecl *Var;    ///< What keeps it.
  const Expr *Step;
};

/// The variable that leads to a module whose parameter \p E is; null for
/// others.
const ValueDecl *moduleOfParameter(const Expr *E, cpp::Body &In,
                                   unsigned Depth = 0) {
  if (Depth > cpp::MaxChase)
    return nullptr;
  if (const ValueDecl *Module = torch::moduleOfWeight(E))
    return Module;
  E = cpp::stripImplicit(E);
  if (const VarDecl *Var = cpp::variableOf(E)) {
    if (const Expr *Range = In.rangeOf(Var))
      return moduleOfParameter(Range, In, Depth + 1);
    const Expr *Origin = In.originOf(E);
    return Origin && Origin != E ? moduleOfParameter(Origin, In, Depth + 1)
                                 : nullptr;
  }
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call)
    return nullptr;
  if (torch::isParametersCall(Call))
    return cpp::calledOn(Call) ? torch::moduleNamed(cpp::calledOn(Call))
                               : nullptr;
  if (const Expr *Container = torch::containerOf(Call))
    return moduleOfParameter(Container, In, Depth + 1);
  // item.value() of named_parameters()
  const Expr *Object = cpp::calledOn(Call);
  return Object && torch::isTorchDecl(Call->getDirectCallee()) &&
                 !torch::isTensor(Object->getType()) &&
                 cpp::calleeName(Call) == "value"
             ? moduleOfParameter(Object, In, Depth + 1)
             : nullptr;
}

/// The local variable that keeps what \p E gives: `v = E`, v.push_back(E),
/// v[k] = E, T v = E; and the expression that gives it that, which is null for
/// a declaration. Nothing for others.
std::pair<const VarDecl *, const Expr *> keeperOf(const Expr *E,
                                                  cpp::Body &In) {
  const Stmt *User = In.userOf(E);
  const Expr *To = nullptr;
  if (const auto *Declaration = dyn_cast_or_null<DeclStmt>(User))
    return {Declaration->isSingleDecl()
                ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                : nullptr,
            nullptr};
  const auto *Call = dyn_cast_or_null<CallExpr>(User);
  if (const auto Added = cpp::asInsertion(Call))
    To = Added->Into;
  else if (Call && cpp::isAssignment(Call))
    To = Call->getArg(0);
  const auto *Var = dyn_cast_or_null<VarDecl>(To ? cpp::rootOf(To) : nullptr);
  // t[0] = x writes into t.
  const bool Keeps = Var && In.isOwn(Var) &&
                     (!torch::isTensor(Var->getType()) || cpp::variableOf(To));
  return {Keeps ? Var : nullptr, Call};
}

class SnapshotFinder {
public:
  explicit SnapshotFinder(const FunctionDecl *F) : F(F), In(cpp::Body::of(F)) {}

  std::vector<Snapshot> run() {
    if (cpp::anyOf<CallExpr>(F->getBody(), torch::isOptimizerStep,
                             cpp::Lambdas::Skipped))
      cpp::forEach<CallExpr>(
          F->getBody(), [&](const CallExpr *Call) { visit(Call); },
          cpp::Lambdas::Skipped);
    return std::move(Found);
  }

private:
  static bool isStep(const Stmt *S) {
    const auto *Call = dyn_cast<CallExpr>(S);
    return Call && torch::isOptimizerStep(Call);
  }

  void visit(const CallExpr *Taken) {
    const Expr *Object =
        torch::dropsHistory(Taken) ? torch::viewedBy(Taken) : nullptr;
    const ValueDecl *Module = Object ? moduleOfParameter(Object, In) : nullptr;
    if (!Module)
      return;
    const auto Keeper = keeperOf(Taken, In);
    const VarDecl *Var = Keeper.first;
    if (!Var || isWrittenThrough(Var))
      return;
    const Expr *Step = nullptr;
    if (!In.paths().holdsUntil(Var, Keeper.second, [&](const Stmt *S) {
          return isStep(S) && (Step = cast<Expr>(S));
        }))
      return;
    const Stmt *Loop = loopWithStep(Taken, Var);
    bool Read = false;
    const bool Sure = In.paths().holdsUntil(Var, Step, [&](const Stmt *S) {
      const auto *Ref = dyn_cast<DeclRefExpr>(S);
      if (!Ref || Ref->getDecl() != Var || isTarget(Ref))
        return false;
      Read = true;
      return (Loop && !In.isWithin(Ref, Loop)) || isWithParameter(Ref, Module);
    });
    if (Sure)
      Found.push_back({Taken, Var, Step});
    else if (Read)
      silent(Taken, SharedSnapshot.LiveView, Var);
    else if (In.loopAround(Taken))
      silent(Taken, SharedSnapshot.TakenAnew, Var);
  }

  /// Is \p Ref what a value is put into, or emptied?
  bool isTarget(const DeclRefExpr *Ref) {
    const CallExpr *Call = In.callOn(Ref);
    if (!Call)
      return false;
    if (const auto Added = cpp::asInsertion(Call))
      return cpp::variableOf(Added->Into) == Ref->getDecl();
    if (cpp::does(Call, cpp::Std::Clear | cpp::Std::Reserve | cpp::Std::Size))
      return true;
    const Stmt *User = In.userOf(Call); // saved[name] = ...
    const auto *Assign = dyn_cast_or_null<CallExpr>(User);
    return Assign && cpp::isAssignment(Assign) &&
           In.isWithin(Ref, Assign->getArg(0));
  }

  /// The outermost loop around \p Taken, with a step in it, that \p Var
  /// outlives; null when there is none.
  const Stmt *loopWithStep(const Expr *Taken, const VarDecl *Var) {
    const Stmt *Outermost = nullptr;
    const SourceManager &SM = In.context().getSourceManager();
    for (const Stmt *Loop = In.loopAround(Taken); Loop;
         Loop = In.loopAround(Loop))
      if (!cpp::isWithin(Var->getLocation(), Loop, SM) &&
          cpp::anyOf<CallExpr>(Loop, torch::isOptimizerStep))
        Outermost = Loop;
    return Outermost;
  }

  /// Is \p Ref read in one call with a parameter of \p Module: a difference,
  /// a comparison, a copy back?
  bool isWithParameter(const DeclRefExpr *Ref, const ValueDecl *Module) {
    for (const Stmt *S = In.parentOf(Ref); isa_and_nonnull<Expr>(S);
         S = In.parentOf(S)) {
      const auto *Call = dyn_cast<CallExpr>(S);
      if (Call && torch::isTorchDecl(Call->getDirectCallee()) &&
          torch::mayHoldTensor(Ref->getType()) && hasParameter(Call, Module))
        return true;
    }
    return false;
  }
  bool hasParameter(const CallExpr *Call, const ValueDecl *Module) {
    const auto Is = [&](const Expr *E) {
      while (const auto *View =
                 dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E))) {
        const Expr *Of = torch::viewedBy(View);
        if (!Of)
          break;
        E = Of;
      }
      return E && moduleOfParameter(E, In) == Module && !cpp::variableOf(E);
    };
    const auto IsLoopVariable = [&](const Expr *E) {
      const VarDecl *Var = E ? cpp::variableOf(E) : nullptr;
      return Var && moduleOfParameter(E, In) == Module &&
             In.around<CXXForRangeStmt>(In.declarationOf(Var));
    };
    const Expr *Object = cpp::calledOn(Call);
    return Is(Object) || IsLoopVariable(Object) ||
           llvm::any_of(Call->arguments(), [&](const Expr *Arg) {
             return Is(Arg) || IsLoopVariable(Arg);
           });
  }

  /// Are its elements written, so that the parameter is meant?
  bool isWrittenThrough(const VarDecl *Var) {
    return torch::isTensor(Var->getType()) &&
           llvm::any_of(In.writesTo(Var), [](const cpp::Write &W) {
             return W.Kind == cpp::WriteKind::Changed ||
                    W.Kind == cpp::WriteKind::Escaped;
           });
  }

  const FunctionDecl *F;
  cpp::Body &In;
  std::vector<Snapshot> Found;
};

Finding worded(const Snapshot &S, const ASTContext &Context) {
  return Finding::at(S.Taken)
      .says("shared memory: " + quoted(S.Var) +
            " has the memory of the parameter, which the optimizer writes in "
            "place, and is read after that with the new values; clone() it")
      .note(S.Step, "the parameter changes here")
      .fix(fixits::appendMemberCall(S.Taken, torch::spelling::CloneCall,
                                    Context));
}

/// docs/checks/libtorch-shared-snapshot.md says what it finds and why.
class SharedSnapshotCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void checkUnit(flow::UnitModel &Unit) override {
    for (const FunctionDecl *Function : Unit.functions())
      if (!Unit.errors().touch(Function))
        for (const Snapshot &S : SnapshotFinder(Function).run())
          report(worded(S, Unit.context()));
  }
};

} // namespace

LIBTORCH_CHECK(SharedSnapshotCheck, SharedSnapshot);

} // namespace libtorch_tidy
