//===- JitUnguardedWarmupCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Object.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/Spelling.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

/// docs/checks/libtorch-jit-unguarded-warmup.md says what it finds and why.
class JitUnguardedWarmupCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  /// Does the unit switch the executor's profiling off? Asked once.
  bool avoidsProfiling(flow::UnitModel &Unit);
  std::optional<bool> Avoids;
};

struct ScriptCall {
  const Expr *Call;
  GradMode Mode;
};

} // namespace

/// The variable, or the member of this, that holds the module.
static const ValueDecl *moduleOf(const Expr *Call) {
  std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  return M && M->Module ? cpp::rootOf(M->Module) : nullptr;
}

/// The calls of each module, in source order.
static llvm::MapVector<const ValueDecl *, llvm::SmallVector<ScriptCall, 4>>
callsByModule(const FunctionFlow &Flow) {
  llvm::MapVector<const ValueDecl *, llvm::SmallVector<ScriptCall, 4>> Calls;
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

/// Does anybody need the history that \p Call makes?
static bool isHistoryUsed(const Expr *Call, const FunctionFlow &Flow,
                          flow::UnitModel &Unit) {
  return llvm::any_of(Flow.labels(), [&](const Label &L) {
    return L.K == Label::Forward && L.Site == Call &&
           (Unit.consumersOf(L, Flow) & ~Label::Computed);
  });
}

bool JitUnguardedWarmupCheck::avoidsProfiling(flow::UnitModel &Unit) {
  if (!Avoids)
    Avoids = llvm::any_of(Unit.functions(), [](const FunctionDecl *F) {
      return cpp::anyOf<CallExpr>(F->getBody(), torch::setsScriptExecutor,
                                  cpp::Lambdas::Made);
    });
  return *Avoids;
}

void JitUnguardedWarmupCheck::checkFunction(const FunctionFlow &Flow,
                                            flow::UnitModel &Unit) {
  if (Flow.scriptCalls().empty())
    return;
  ASTContext &Context = Unit.context();
  const SourceManager &SM = Context.getSourceManager();
  const FunctionDecl *Function = Flow.function();
  for (const auto &[Module, Calls] : callsByModule(Flow)) {
    const Expr *First = Calls.front().Call;
    if (Calls.front().Mode != GradMode::On ||
        isHistoryUsed(First, Flow, Unit) || Unit.isCalledOnlyGuarded(Function))
      continue;
    const Expr *Guarded = nullptr;
    for (const ScriptCall &Call : Calls)
      if (!Guarded && Call.Mode == GradMode::Off &&
          !areExclusive(First, Call.Call, Flow)) {
        // Another module by then.
        bool Reassigned = false;
        for (const cpp::Write &W : cpp::writesTo(Module, Function->getBody()))
          Reassigned |= (W.Kind == cpp::WriteKind::Assigned ||
                         W.Kind == cpp::WriteKind::Released) &&
                        SM.isBeforeInTranslationUnit(First->getExprLoc(),
                                                     W.Where->getExprLoc()) &&
                        SM.isBeforeInTranslationUnit(W.Where->getExprLoc(),
                                                     Call.Call->getExprLoc());
        if (!Reassigned)
          Guarded = Call.Call;
      }
    // A constructor's call comes before those of all methods.
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(Function);
        Ctor && !Guarded && isa<FieldDecl>(Module))
      for (const FunctionDecl *Other : Unit.functions()) {
        const auto *Method = dyn_cast<CXXMethodDecl>(Other);
        const FunctionFlow *OtherFlow =
            Method && Method->getParent() == Ctor->getParent() &&
                    !isa<CXXConstructorDecl>(Method)
                ? Unit.flowOf(Method)
                : nullptr;
        if (!OtherFlow || !OtherFlow->available() || Guarded)
          continue;
        for (const auto &[Call, Mode] : OtherFlow->scriptCalls())
          if (Mode == GradMode::Off && moduleOf(Call) == Module)
            Guarded = Call;
        for (const cpp::Write &W : cpp::writesTo(Module, Method->getBody()))
          if (W.Kind == cpp::WriteKind::Assigned)
            Guarded = nullptr;
      }
    if (!Guarded || avoidsProfiling(Unit))
      continue;

    const std::string Name = Module->getNameAsString();
    Finding F;
    F.Loc = First->getExprLoc();
    F.Highlight = First->getSourceRange();
    F.Strength = Level::Likely;
    F.Message = "the first call of TorchScript module '" + Name +
                "' runs with gradient mode on; its executor then builds the "
                "autograd graph in later calls, too, although they are guarded";
    F.Steps.push_back({Guarded->getExprLoc(),
                       "this later call is guarded, but its result still "
                       "requires grad; under InferenceMode it throws"});
    const Stmt *Statement = First;
    while (Statement &&
           !isa_and_nonnull<CompoundStmt>(Flow.parentOf(Statement)))
      Statement = Flow.parentOf(Statement);
    const Stmt *Block = Statement ? Flow.parentOf(Statement) : nullptr;
    if (Block && !flow::needsHistory(Block, Flow, Unit) &&
        !isa_and_nonnull<SwitchStmt>(Flow.parentOf(Block)))
      F.Fix = fixits::insertBeforeStatement(
          Statement,
          (torch::spelling::NoGradGuard + " " +
           fixits::freeName("warm_up_guard", Function->getBody()) + ";")
              .str(),
          Context);
    report(F);
  }
}

LIBTORCH_CHECK(JitUnguardedWarmupCheck);

} // namespace libtorch_tidy
