//===- JitUnguardedWarmupCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

constexpr struct JitUnguardedWarmupReasons {
  Reason Trained{"history-used", Effect::Silent,
                 "The result of the first call is trained on, returned or "
                 "handed on."};
  Reason CallersGuard{"callers-guard", Effect::Silent,
                      "The function is called under a guard only."};
  Reason Exclusive{"only-one-runs", Effect::Silent,
                   "The guarded call is in another branch: only one of the two "
                   "runs."};
  Reason Replaced{"module-replaced", Effect::Silent,
                  "The variable is given another module before the guarded "
                  "call."};
  Reason NoProfiling{"no-profiling", Effect::Silent,
                     "The file calls `setGraphExecutorOptimize`, "
                     "`getProfilingMode` or `getExecutorMode`: without the "
                     "profiling executor no call remembers an earlier one."};
  Reason BlockTrains{"block-trains", Effect::NoFix,
                     "Something in the block of the first call, to the end of "
                     "which a guard lasts, trains or needs history."};
} JitUnguardedWarmup{};

/// docs/checks/libtorch-jit-unguarded-warmup.md says what it finds and why.
class JitUnguardedWarmupCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  /// The call that switches the executor's profiling off, or null. Asked once.
  const CallExpr *switchOfProfiling(flow::UnitModel &Unit);
  std::optional<const CallExpr *> Switch;
};

struct ScriptCall {
  const Expr *Call;
  GradMode Mode;
};

using ScriptCalls = llvm::SmallVector<ScriptCall, 4>;

/// A module that is warmed up without a guard.
struct WarmUp {
  const ValueDecl *Module;
  const Expr *First, *Guarded; ///< Calls of it.
};

} // namespace

/// The variable, or the member of this, that holds the module.
static const ValueDecl *moduleOf(const Expr *Call) {
  std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  return M && M->Module ? cpp::rootOf(M->Module) : nullptr;
}

/// The calls of each module, in source order.
static llvm::MapVector<const ValueDecl *, ScriptCalls>
callsByModule(const FunctionFlow &Flow) {
  llvm::MapVector<const ValueDecl *, ScriptCalls> Calls;
  for (const auto &[Call, Mode] : Flow.scriptCalls())
    if (const ValueDecl *Module = moduleOf(Call))
      Calls[Module].push_back({Call, Mode});
  return Calls;
}

/// Are \p A and \p B in two branches of which one runs?
static bool areExclusive(const Stmt *A, const Stmt *B,
                         const FunctionFlow &Flow) {
  const Stmt *Child = A;
  for (const Stmt *S = Flow.parentOf(A); S; Child = S, S = Flow.parentOf(S)) {
    if (!Flow.isWithin(B, S))
      continue;
    if (isa<SwitchStmt, AbstractConditionalOperator, CXXTryStmt>(S))
      return true;
    const auto *If = dyn_cast<IfStmt>(S);
    if (If && Child != If->getCond() && !Flow.isWithin(B, Child))
      return true;
    // if (train) { ...; return; }
    if (If)
      return false;
    // Common to both: what is further out cannot part them.
    break;
  }
  // A leaves before B comes: if (train) { f(); return; } g();
  for (const Stmt *S = A; S && !Flow.isWithin(B, S); S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S);
        Block && !Block->body_empty() &&
        isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt>(Block->body_back()))
      return true;
  return false;
}

/// Is the history that \p Call makes used?
static bool isHistoryUsed(const Expr *Call, const FunctionFlow &Flow,
                          flow::UnitModel &Unit) {
  return llvm::any_of(Flow.labels(), [&](const Label &L) {
    return L.K == Label::Forward && L.Site == Call &&
           (Unit.consumersOf(L, Flow) & ~Label::Computed);
  });
}

const CallExpr *
JitUnguardedWarmupCheck::switchOfProfiling(flow::UnitModel &Unit) {
  if (!Switch) {
    Switch = nullptr;
    for (const FunctionDecl *F : Unit.functions())
      if (!*Switch)
        Switch = cpp::findFirst<CallExpr>(
            F->getBody(), torch::setsScriptExecutor, cpp::Lambdas::Made);
  }
  return *Switch;
}

/// What gives \p Module another value between \p First and \p Later; null if
/// nothing does.
static const Expr *replacedBetween(const Expr *First, const Expr *Later,
                                   const ValueDecl *Module,
                                   const FunctionFlow &Flow,
                                   const SourceManager &SM) {
  for (const cpp::Write &W : cpp::Body::of(Flow.function()).writesTo(Module))
    if ((W.Kind == cpp::WriteKind::Assigned ||
         W.Kind == cpp::WriteKind::Released) &&
        SM.isBeforeInTranslationUnit(First->getExprLoc(),
                                     W.Where->getExprLoc()) &&
        SM.isBeforeInTranslationUnit(W.Where->getExprLoc(),
                                     Later->getExprLoc()))
      return W.Where;
  return nullptr;
}

/// The first of \p Calls that is guarded and comes after the first of them.
/// \p WhyNot is given the reasons against others.
static const Expr *guardedLater(const ValueDecl *Module,
                                const ScriptCalls &Calls,
                                const FunctionFlow &Flow,
                                const SourceManager &SM,
                                llvm::SmallVectorImpl<Because> &WhyNot) {
  const Expr *First = Calls.front().Call;
  for (const auto &[Call, Mode] : Calls) {
    if (Mode != GradMode::Off)
      continue;
    if (areExclusive(First, Call, Flow))
      WhyNot.push_back(
          {&JitUnguardedWarmup.Exclusive, "guarded call", Call->getExprLoc()});
    else if (const Expr *By = replacedBetween(First, Call, Module, Flow, SM))
      WhyNot.push_back(
          {&JitUnguardedWarmup.Replaced, "assignment", By->getExprLoc()});
    else
      return Call;
  }
  return nullptr;
}

/// A constructor's call comes before those of all methods: the last guarded
/// one of \p Module in a method of its class.
static const Expr *guardedInMethods(const ValueDecl *Module,
                                    const FunctionDecl *Function,
                                    flow::UnitModel &Unit) {
  const auto *Ctor = dyn_cast<CXXConstructorDecl>(Function);
  if (!Ctor || !isa<FieldDecl>(Module))
    return nullptr;
  for (const FunctionDecl *Other : Unit.functions()) {
    const auto *Method = dyn_cast<CXXMethodDecl>(Other);
    const FunctionFlow *Flow =
        Method && Method->getParent() == Ctor->getParent() &&
                !isa<CXXConstructorDecl>(Method)
            ? Unit.flowOf(Method)
            : nullptr;
    if (!Flow || !Flow->available())
      continue;
    const Expr *Guarded = nullptr;
    for (const auto &[Call, Mode] : Flow->scriptCalls())
      if (Mode == GradMode::Off && moduleOf(Call) == Module)
        Guarded = Call;
    for (const cpp::Write &W : cpp::Body::of(Method).writesTo(Module))
      if (W.Kind == cpp::WriteKind::Assigned)
        Guarded = nullptr;
    if (Guarded)
      return Guarded;
  }
  return nullptr;
}

/// The statement of the first call, before which a guard can stand; null for
/// none.
static const Stmt *guardableStatement(const Expr *First,
                                      const FunctionFlow &Flow,
                                      flow::UnitModel &Unit) {
  const Stmt *Statement = First;
  while (Statement && !isa_and_nonnull<CompoundStmt>(Flow.parentOf(Statement)))
    Statement = Flow.parentOf(Statement);
  const Stmt *Block = Statement ? Flow.parentOf(Statement) : nullptr;
  return Block && !flow::needsHistory(Block, Flow, Unit) &&
                 !isa_and_nonnull<SwitchStmt>(Flow.parentOf(Block))
             ? Statement
             : nullptr;
}

namespace {

Finding worded(const WarmUp &W, const FunctionFlow &Flow,
               flow::UnitModel &Unit) {
  Finding F =
      Finding::at(W.First)
          .says("the first call of TorchScript module " + quoted(W.Module) +
                " runs with gradient mode on; its executor then builds "
                "the autograd graph in later calls, too, although they "
                "are guarded")
          .note(W.Guarded, "this later call is guarded, but its result still "
                           "requires grad; under InferenceMode it throws");
  const Stmt *Statement = guardableStatement(W.First, Flow, Unit);
  if (!Statement)
    return F.because(JitUnguardedWarmup.BlockTrains);
  return F.fix(fixits::insertBeforeStatement(
      Statement,
      (torch::spelling::NoGradGuard + " " +
       fixits::freeName("warm_up_guard", Flow.function()->getBody()) + ";")
          .str(),
      Unit.context()));
}

} // namespace

void JitUnguardedWarmupCheck::checkFunction(const FunctionFlow &Flow,
                                            flow::UnitModel &Unit) {
  const FunctionDecl *Function = Flow.function();
  for (const auto &[Module, Calls] : callsByModule(Flow)) {
    const Expr *First = Calls.front().Call;
    if (Calls.front().Mode != GradMode::On)
      continue;
    llvm::SmallVector<Because, 2> WhyNot;
    const Expr *Guarded = guardedLater(
        Module, Calls, Flow, Unit.context().getSourceManager(), WhyNot);
    if (!Guarded)
      Guarded = guardedInMethods(Module, Function, Unit);
    if (!Guarded) {
      for (const Because &Why : WhyNot)
        silent(First, *Why.Row, Why.Detail, Why.At);
      continue;
    }
    if (isHistoryUsed(First, Flow, Unit))
      silent(First, JitUnguardedWarmup.Trained);
    else if (Unit.isCalledOnlyGuarded(Function))
      silent(First, JitUnguardedWarmup.CallersGuard, Function);
    else if (const CallExpr *Off = switchOfProfiling(Unit))
      silent(First, JitUnguardedWarmup.NoProfiling, "switched off",
             Off->getExprLoc());
    else
      report(worded({Module, First, Guarded}, Flow, Unit));
  }
}

LIBTORCH_CHECK(JitUnguardedWarmupCheck, JitUnguardedWarmup);

} // namespace libtorch_tidy
