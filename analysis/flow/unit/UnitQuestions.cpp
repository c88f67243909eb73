//===- UnitQuestions.cpp - Callers, training and guards of a unit ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Activity.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

//===----------------------------------------------------------------------===//
// Who calls a function
//===----------------------------------------------------------------------===//

llvm::SmallVector<WrittenCall, 4> callsOf(const FunctionDecl *Callee,
                                          const UnitModel &Unit) {
  llvm::SmallVector<WrittenCall, 4> Found;
  for (const FunctionDecl *In : Unit.functions())
    cpp::forEach<CallExpr>(In->getBody(), [&](const CallExpr *Call) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (F && F->getCanonicalDecl() == Callee->getCanonicalDecl())
        Found.push_back({Call, In});
    });
  return Found;
}

std::vector<CallSite> callsIn(const FunctionDecl *F, UnitModel &Unit) {
  std::vector<CallSite> Found;
  const FunctionFlow *Flow = Unit.flowOf(F);
  if (Flow && Flow->available() && Unit.concernsTensors(F)) {
    llvm::append_range(Found, Flow->calls());
    llvm::append_range(Found, Flow->unseenCalls());
    llvm::erase_if(Found, [](const CallSite &Site) { return !Site.Callee; });
    return Found;
  }
  cpp::forEach<Expr>(F->getBody(), [&](const Expr *E) {
    const auto *Call = dyn_cast<CallExpr>(E);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    for (const FunctionDecl *Runs :
         {Callee, static_cast<const FunctionDecl *>(cpp::constructorRunBy(E))})
      if (Runs)
        Found.push_back({E, Runs, GradMode::On});
  });
  return Found;
}

bool anyCallOf(
    const FunctionDecl *F, UnitModel &Unit,
    llvm::function_ref<bool(const Label &, const FunctionFlow &Caller)> IsIt) {
  return llvm::any_of(Unit.callersOf(F), [&](const auto &C) {
    // Also through an override or a function object.
    llvm::SmallPtrSet<const Expr *, 4> Sites;
    for (const CallSite &Site : C.Caller->calls())
      if (Site.Callee->getCanonicalDecl() == F->getCanonicalDecl())
        Sites.insert(Site.Call);
    return llvm::any_of(C.Caller->labels(), [&](const Label &L) {
      return L.K == Label::Helper && Sites.contains(L.Site) &&
             IsIt(L, *C.Caller);
    });
  });
}

bool anyCallerTrains(const FunctionDecl *F, UnitModel &Unit) {
  return anyCallOf(F, Unit, [](const Label &Result, const FunctionFlow &) {
    return (Result.Consumers & Label::Backward) != 0;
  });
}

std::optional<UnguardedForward>
unguardedForward(const FunctionFlow &Flow, UnitModel &Unit, unsigned Depth) {
  if (Flow.isAbroad()) {
    const FunctionFacts *Said = factsElsewhere(Flow.function());
    if (!Said || Said->Forward.empty())
      return std::nullopt;
    return UnguardedForward{nullptr, Said->Forward};
  }
  const SourceManager &SM = Unit.context().getSourceManager();
  const Expr *First = nullptr;
  for (const Label &L : Flow.labels())
    if (L.Site && L.bringsGraph() && L.Mode == GradMode::On &&
        (!First || SM.isBeforeInTranslationUnit(L.Site->getExprLoc(),
                                                First->getExprLoc())))
      First = L.Site;
  if (First)
    return UnguardedForward{First, cpp::lineOf(First->getExprLoc(), SM)};
  if (Depth > 0)
    for (const CallSite &Call : Flow.calls()) {
      const FunctionFlow *Callee =
          Call.Mode == GradMode::On ? Unit.flowOf(Call.Callee) : nullptr;
      if (!Callee || !Callee->available())
        continue;
      if (auto Found = unguardedForward(*Callee, Unit, Depth - 1))
        return Found;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Where one guard does
//===----------------------------------------------------------------------===//

bool isUnseen(const Expr *Training, UnitModel &Unit) {
  const auto *Call = dyn_cast<CallExpr>(Training);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Call &&
         (!Callee || (!torch::isTorchDecl(Callee) && !Unit.flowOf(Callee)));
}

const Expr *needsHistory(const Stmt *S, const FunctionFlow &Flow,
                         UnitModel &Unit, bool OnlySeen) {
  return Unit.historyNeeds(Flow, OnlySeen).lookup(S);
}

const UnitModel::Needs &UnitModel::historyNeeds(const FunctionFlow &Flow,
                                                bool OnlySeen) {
  const std::pair Key(&Flow, OnlySeen);
  if (auto It = NeedsOf.find(Key); It != NeedsOf.end())
    return It->second;
  Needs Found;
  auto Need = [&](const Expr *Site) {
    for (const Stmt *S = Site; S && Found.try_emplace(S, Site).second;
         S = Flow.parentOf(S))
      ;
  };
  for (const Expr *Training : Flow.trainingSites())
    if (!OnlySeen || !isUnseen(Training, *this))
      Need(Training);
  for (const Label &L : Flow.labels())
    if (L.Site && (L.Arises || (!OnlySeen && L.K == Label::Carry)) &&
        (consumersOf(L, Flow) & ~Label::Computed))
      Need(L.Site);
  return NeedsOf[Key] = std::move(Found);
}

const CompoundStmt *guardableBlock(const Stmt *Site, const FunctionFlow &Flow,
                                   UnitModel &Unit, bool OnlySeen) {
  const CompoundStmt *Best = nullptr;
  for (const Stmt *S = Site; S; S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S)) {
      if (needsHistory(Block, Flow, Unit, OnlySeen))
        break;
      // Around a block that leaves another mode may be one that restores it.
      if (OnlySeen || !Flow.switchedAfter(Block))
        Best = Block;
    }
  return Best;
}

/// Is \p Training a backward() through a graph of which no source is seen, as
/// of one above a local leaf?
static bool walksUnknown(const Expr *Training, const FunctionFlow &Flow) {
  return torch::isBackward(dyn_cast<CallExpr>(Training)) &&
         llvm::none_of(Flow.labels(), [&](const Label &L) {
           if (L.K != Label::Spent || L.Site != Training)
             return false;
           bool Shown = false;
           for (LabelId Id : L.Assigned) {
             // Values computed from a leaf get no label.
             if (Flow.label(Id).K == Label::Leaf)
               return false;
             Shown |= Flow.label(Id).bringsHistory();
           }
           return Shown;
         });
}

bool isSeenToTrain(const Stmt *S, const FunctionFlow &Flow, UnitModel &Unit) {
  const SourceManager &SM = Unit.context().getSourceManager();
  return llvm::any_of(Flow.trainingSites(),
                      [&](const Expr *Training) {
                        return !isUnseen(Training, Unit) &&
                               (Flow.isWithin(Training, S) ||
                                (cpp::comesBefore(S, Training, SM) &&
                                 walksUnknown(Training, Flow)));
                      }) ||
         llvm::any_of(Flow.labels(), [&](const Label &L) {
           if (!L.Site || !L.Arises || !Flow.isWithin(L.Site, S))
             return false;
           const unsigned Consumers = Unit.consumersOf(L, Flow);
           return (Consumers & Label::Backward) ||
                  ((Consumers & Label::Returned) &&
                   anyCallerTrains(Flow.function(), Unit));
         });
}

/// The expression that makes \p F, the call operator of a lambda, in
/// \p Around, where it is run: called, or handed to a function of this unit.
/// Null for others.
static const LambdaExpr *lambdaRunIn(const cpp::Body &Around,
                                     const FunctionDecl *F, UnitModel &Unit) {
  const auto *Lambda =
      cpp::findFirst<LambdaExpr>(Around.root(), [&](const LambdaExpr *E) {
        return E->getCallOperator() == F;
      });
  if (!Lambda)
    return nullptr;
  auto IsRun = [&](const Expr *E) {
    const auto *Call = dyn_cast_or_null<CallExpr>(Around.userOf(E));
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    return Callee && Unit.flowOf(Callee);
  };
  if (IsRun(Lambda))
    return Lambda;
  const VarDecl *Var = cpp::declaredBy(Around.userOf(Lambda));
  const bool AlwaysRun =
      Var && cpp::mentions(Around.root(), Var) &&
      !cpp::anyOf<DeclRefExpr>(Around.root(), [&](const DeclRefExpr *Ref) {
        return Ref->getDecl() == Var && !IsRun(Ref);
      });
  return AlwaysRun ? Lambda : nullptr;
}

/// Where \p F is run by the function around it, a lambda's, or by the unit's
/// main. Null when neither runs it.
static const Expr *runInOuter(const FunctionDecl *F, const FunctionDecl *&Outer,
                              UnitModel &Unit, bool UpToMain) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Method && Method->getParent()->isLambda()) {
    Outer = dyn_cast_or_null<FunctionDecl>(
        Method->getParent()->getParentFunctionOrMethod());
    const FunctionFlow *Flow = Outer ? Unit.flowOf(Outer) : nullptr;
    return Flow && Flow->available()
               ? lambdaRunIn(cpp::Body::of(Flow->function()), Method, Unit)
               : nullptr;
  }
  Outer = UpToMain ? Unit.scan().Main : nullptr;
  if (!Outer || Outer == F)
    return nullptr;
  return cpp::findFirst<CallExpr>(
      Outer->getBody(),
      [&](const CallExpr *Call) {
        const FunctionDecl *Callee = Call->getDirectCallee();
        return Callee && Callee->getCanonicalDecl() == F->getCanonicalDecl();
      },
      cpp::Lambdas::Made);
}

const Stmt *neighbourhoodOf(const CompoundStmt *Guardable,
                            const FunctionFlow &Of, UnitModel &Unit,
                            bool UpToMain) {
  const FunctionFlow *Flow = &Of;
  // Calls that cannot be seen may train: the edits stay away from them, but
  // they part no finding from its like.
  const CompoundStmt *Block = guardableBlock(Guardable, *Flow, Unit, true);
  while (Block && Block == Flow->function()->getBody()) {
    const FunctionDecl *Outer = nullptr;
    const Expr *Run = runInOuter(Flow->function(), Outer, Unit, UpToMain);
    const FunctionFlow *OuterFlow = Run ? Unit.flowOf(Outer) : nullptr;
    if (!OuterFlow || !OuterFlow->available())
      break;
    const CompoundStmt *Around = guardableBlock(Run, *OuterFlow, Unit, true);
    if (!Around)
      break;
    Block = Around;
    Flow = OuterFlow;
  }
  return Block ? Block : Guardable;
}

} // namespace libtorch_tidy::flow
