//===- GuardScopes.cpp - Where one guard does -----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/history/GuardScopes.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// The outermost block around \p Site that lies in none that \p IsBarred.
static const CompoundStmt *
outermostBlock(const Stmt *Site, const FunctionFlow &Flow,
               llvm::function_ref<bool(const CompoundStmt *)> IsBarred) {
  const CompoundStmt *Best = nullptr;
  for (const Stmt *S = Site; S; S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S)) {
      if (IsBarred(Block))
        break;
      Best = Block;
    }
  return Best;
}

const CompoundStmt *guardableBlock(const Stmt *Site, const FunctionFlow &Flow,
                                   UnitModel &Unit) {
  return outermostBlock(Site, Flow, [&](const CompoundStmt *Block) {
    return needsHistory(Block, Flow, Unit);
  });
}

/// A call of code that cannot be seen, which may train.
static bool isUnseen(const Expr *Training, UnitModel &Unit) {
  const auto *Call = dyn_cast<CallExpr>(Training);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Call &&
         (!Callee || (!torch::isTorchDecl(Callee) && !Unit.flowOf(Callee)));
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
             // What is computed from a leaf has no label of its own.
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

/// The outermost block around \p Site where nothing is seen that needs history.
/// Calls that cannot be seen may: the edits stay away from them, but they part
/// no finding from its like.
static const CompoundStmt *blockWithoutTraining(const Stmt *Site,
                                                const FunctionFlow &Flow,
                                                UnitModel &Unit) {
  return outermostBlock(Site, Flow, [&](const CompoundStmt *Block) {
    return llvm::any_of(Flow.trainingSites(),
                        [&](const Expr *Training) {
                          return Flow.isWithin(Training, Block) &&
                                 !isUnseen(Training, Unit);
                        }) ||
           llvm::any_of(Flow.labels(), [&](const Label &L) {
             return L.Site && L.Arises && Flow.isWithin(L.Site, Block) &&
                    (Unit.consumersOf(L, Flow) & ~Label::Computed);
           });
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
  Outer = UpToMain ? Unit.scan().main() : nullptr;
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
  const CompoundStmt *Block = blockWithoutTraining(Guardable, *Flow, Unit);
  while (Block && Block == Flow->function()->getBody()) {
    const FunctionDecl *Outer = nullptr;
    const Expr *Run = runInOuter(Flow->function(), Outer, Unit, UpToMain);
    const FunctionFlow *OuterFlow = Run ? Unit.flowOf(Outer) : nullptr;
    if (!OuterFlow || !OuterFlow->available())
      break;
    const CompoundStmt *Around = blockWithoutTraining(Run, *OuterFlow, Unit);
    if (!Around)
      break;
    Block = Around;
    Flow = OuterFlow;
  }
  return Block ? Block : Guardable;
}

} // namespace libtorch_tidy::flow
