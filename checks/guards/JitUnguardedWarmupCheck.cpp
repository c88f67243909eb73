//===- JitUnguardedWarmupCheck.cpp ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/guards/Arbiter.h"
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

/// The calls of one module.
using ScriptCalls = llvm::SmallVector<flow::CallSite, 4>;

/// The variable, or the member of this, that holds the module.
const ValueDecl *moduleOf(const Expr *Call) {
  std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  return M && M->Module ? cpp::rootOf(M->Module) : nullptr;
}

/// Are \p A and \p B in two branches of which one runs?
bool areExclusive(const Stmt *A, const Stmt *B, const FunctionFlow &Flow) {
  // What holds both, and the part of it that holds A.
  const Stmt *Child = A, *Both = Flow.parentOf(A);
  while (Both && !Flow.isWithin(B, Both))
    Child = std::exchange(Both, Flow.parentOf(Both));
  if (isa_and_nonnull<SwitchStmt, AbstractConditionalOperator, CXXTryStmt>(
          Both))
    return true;
  if (const auto *If = dyn_cast_or_null<IfStmt>(Both))
    return Child != If->getCond() && !Flow.isWithin(B, Child);
  // A leaves before B comes: if (train) { f(); return; } g();
  for (const Stmt *S = A; S && !Flow.isWithin(B, S); S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S);
        Block && !Block->body_empty() &&
        isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt>(Block->body_back()))
      return true;
  return false;
}

/// Is the history that \p Call makes used?
bool isHistoryUsed(const Expr *Call, const FunctionFlow &Flow,
                   flow::UnitModel &Unit) {
  return llvm::any_of(Flow.labels(), [&](const Label &L) {
    return L.K == Label::Forward && L.Site == Call &&
           (Unit.consumersOf(L, Flow) & ~Label::Computed);
  });
}

/// The call that switches the executor's profiling off, or null.
const CallExpr *switchOfProfiling(const flow::UnitModel &Unit) {
  for (const FunctionDecl *F : Unit.functions())
    if (const auto *Switch = cpp::findFirst<CallExpr>(
            F->getBody(), torch::setsScriptExecutor, cpp::Lambdas::Made))
      return Switch;
  return nullptr;
}

/// What gives \p Module another value between \p First and \p Later; null if
/// nothing does.
const Expr *replacedBetween(const Expr *First, const Expr *Later,
                            const ValueDecl *Module, cpp::Body &In) {
  const SourceManager &SM = In.context().getSourceManager();
  for (const cpp::Write &W : In.writesTo(Module))
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
const Expr *guardedLater(const ValueDecl *Module, const ScriptCalls &Calls,
                         const FunctionFlow &Flow,
                         llvm::SmallVectorImpl<Because> &WhyNot) {
  const Expr *First = Calls.front().Call;
  for (const flow::CallSite &Site : Calls) {
    const Expr *Call = Site.Call;
    if (Site.Mode != GradMode::Off)
      continue;
    if (areExclusive(First, Call, Flow))
      WhyNot.push_back(
          {&JitUnguardedWarmup.Exclusive, "guarded call", Call->getExprLoc()});
    else if (const Expr *By = replacedBetween(First, Call, Module,
                                              cpp::Body::of(Flow.function())))
      WhyNot.push_back(
          {&JitUnguardedWarmup.Replaced, "assignment", By->getExprLoc()});
    else
      return Call;
  }
  return nullptr;
}

/// A constructor's call comes before those of all methods: the last guarded
/// one of \p Module in a method of its class.
const Expr *guardedInMethods(const ValueDecl *Module,
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
    if (!Flow || !Flow->available() ||
        llvm::any_of(cpp::Body::of(Method).writesTo(Module),
                     [](const cpp::Write &W) {
                       return W.Kind == cpp::WriteKind::Assigned;
                     }))
      continue;
    const Expr *Guarded = nullptr;
    for (const auto &[Call, Mode] : Flow->scriptCalls())
      if (Mode == GradMode::Off && moduleOf(Call) == Module)
        Guarded = Call;
    if (Guarded)
      return Guarded;
  }
  return nullptr;
}

/// The statement of the first call, before which a guard can stand; null for
/// none.
const Stmt *guardableStatement(const Expr *First, const FunctionFlow &Flow,
                               flow::UnitModel &Unit) {
  const Stmt *Statement = First, *Block = Flow.parentOf(First);
  while (Block && !isa<CompoundStmt>(Block))
    Statement = std::exchange(Block, Flow.parentOf(Block));
  return Block && !flow::needsHistory(Block, Flow, Unit) &&
                 !isa_and_nonnull<SwitchStmt>(Flow.parentOf(Block))
             ? Statement
             : nullptr;
}

/// docs/checks/libtorch-jit-unguarded-warmup.md says what it finds and why.
class JitUnguardedWarmupCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkFunction(const FunctionFlow &Flow, flow::UnitModel &Unit) override {
    // The calls of each module, in source order.
    llvm::MapVector<const ValueDecl *, ScriptCalls> CallsOf;
    for (const auto &[Call, Mode] : Flow.scriptCalls())
      if (const ValueDecl *Module = moduleOf(Call))
        CallsOf[Module].push_back({Call, nullptr, Mode});
    for (const auto &[Module, Calls] : CallsOf) {
      const Expr *First = Calls.front().Call;
      if (Calls.front().Mode != GradMode::On)
        continue;
      llvm::SmallVector<Because, 2> WhyNot;
      const Expr *Guarded = guardedLater(Module, Calls, Flow, WhyNot);
      if (!Guarded)
        Guarded = guardedInMethods(Module, Flow.function(), Unit);
      if (!Guarded)
        for (const Because &Why : WhyNot)
          silent(First, Why);
      else if (isHistoryUsed(First, Flow, Unit))
        silent(First, JitUnguardedWarmup.Trained);
      else if (Unit.isCalledOnlyGuarded(Flow.function()))
        silent(First, JitUnguardedWarmup.CallersGuard, Flow.function());
      else if (const CallExpr *Off = switchOfProfiling(Unit))
        silent(First, JitUnguardedWarmup.NoProfiling, "switched off",
               Off->getExprLoc());
      else
        report(worded(Module, First, Guarded, Flow, Unit));
    }
  }

  static Finding worded(const ValueDecl *Module, const Expr *First,
                        const Expr *Guarded, const FunctionFlow &Flow,
                        flow::UnitModel &Unit) {
    Finding F =
        Finding::at(First)
            .says("unguarded warm-up: the first call of TorchScript module " +
                  quoted(Module) +
                  " runs with gradient mode on; its executor then builds "
                  "the autograd graph in later calls, too, although they "
                  "are guarded")
            .note(Guarded, "this later call is guarded, but its result still "
                           "requires grad; under InferenceMode it throws");
    const Stmt *Statement = guardableStatement(First, Flow, Unit);
    if (!Statement)
      return F.because(JitUnguardedWarmup.BlockTrains);
    return F.fix(fixits::insertBeforeStatement(
        Statement,
        guardDeclaration("warm_up_guard", Flow.function()->getBody()),
        Unit.context()));
  }
};

} // namespace

LIBTORCH_CHECK(JitUnguardedWarmupCheck, JitUnguardedWarmup);

} // namespace libtorch_tidy
