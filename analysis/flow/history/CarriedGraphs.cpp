//===- CarriedGraphs.cpp - Graphs that outlive their backward() -----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/history/CarriedGraphs.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/storage/Sharing.h"

using namespace clang;

namespace libtorch_tidy::flow {

using namespace cpp;

/// May something cut the history of \p D, on some paths only? What every
/// iteration does, the flow has seen.
static bool mayBeCut(const ValueDecl *D, const CarriedGraph &Graph,
                     const FunctionFlow &Flow) {
  // Within a branch, or a loop that what makes the value anew is not in.
  auto ConditionOf = [&](const Stmt *S) -> const Stmt * {
    for (; S && S != Graph.Loop; S = Flow.parentOf(S))
      if (isa<IfStmt>(S) ||
          ((isa<SwitchStmt, AbstractConditionalOperator>(S) || isLoop(S)) &&
           !Flow.isWithin(Graph.Made->Site, S)))
        return S;
    return nullptr;
  };
  for (const Write &W : writesTo(D, Graph.Loop)) {
    // What is called with a reference to it, the flow has looked at.
    if (W.InLambda)
      return true;
    if ((W.Kind != WriteKind::Assigned && W.Kind != WriteKind::Released) ||
        Flow.isWithin(Graph.Made->Site, W.Where))
      continue;
    const Stmt *Condition = ConditionOf(W.Where);
    const auto *If = dyn_cast_or_null<IfStmt>(Condition);
    if (Condition && !(If && tellsFirstRound(If->getCond())))
      return true;
  }
  return anyOf<Stmt>(Graph.Loop, [&](const Stmt *S) {
    // for (auto &s : state) s = s.detach();
    if (const auto *For = dyn_cast<CXXForRangeStmt>(S))
      return rootOf(For->getRangeInit()) == D;
    // h.detach_() and similar; h = h.detach() is a write.
    const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
    return Call && torch::dropsHistory(Call) &&
           cpp::calleeName(Call).ends_with("_") &&
           rootOf(Call->getImplicitObjectArgument()) == D && ConditionOf(Call);
  });
}

/// Does \p S run in one round of \p Loop at most, below `if (i == n - 1)`?
static bool runsInOneRound(const Stmt *S, const Stmt *Loop,
                           const FunctionFlow &Flow) {
  for (const Stmt *Child = S; S && S != Loop; Child = S, S = Flow.parentOf(S))
    if (const auto *If = dyn_cast<IfStmt>(S);
        If && If->getThen() == Child && holdsInOneRound(If->getCond(), Loop))
      return true;
  return false;
}

/// Is \p P the same as \p Whole or a part of it?
static bool isPartOf(PlaceId P, PlaceId Whole, const FunctionFlow &Flow) {
  for (;;) {
    if (P == Whole)
      return true;
    if (!Flow.place(P).Parent)
      return false;
    P = *Flow.place(P).Parent;
  }
}

/// Does what \p A carries on share the graph that backward call \p Spent went
/// through? Its place did, when it was assigned before the call; a variable of
/// the iteration did, when it is assigned from that after the call, which in
/// the next iteration goes through what was carried on.
static bool sharesSpent(const Label &Spent, const Accumulation &A,
                        const FunctionFlow &Flow) {
  if (isPartOf(Spent.Where, A.Where, Flow))
    return true;
  const VarDecl *Root = Flow.rootOf(Spent.Where);
  const Stmt *Declared = Root ? Flow.declarationOf(Root) : nullptr;
  if (!Declared || !A.Loop || !Flow.isWithin(Declared, A.Loop))
    return false;
  return llvm::any_of(Flow.labels(), [&](const Label &L) {
    return L.K == Label::Spent && L.Site == Spent.Site &&
           L.Assigned.test(A.Carry);
  });
}

llvm::SmallVector<CarriedGraph, 2> carriedGraphs(const FunctionFlow &Flow) {
  llvm::SmallVector<CarriedGraph, 2> Found;
  for (const auto &[Key, A] : Flow.accumulations()) {
    if ((A.How != Accumulation::Rebind && A.How != Accumulation::InPlace) ||
        A.Mode != GradMode::On || !A.Loop || A.Added.anyUnknown())
      continue;
    CarriedGraph Graph;
    Graph.Made = &A;
    for (LabelId Id : Flow.label(A.Carry).Assigned) {
      const Label &L = Flow.label(Id);
      if (L.K != Label::Spent || !(L.Consumers & Label::Backward) || L.Unseen ||
          !L.BackwardAt || !sharesSpent(L, A, Flow))
        continue;
      const Stmt *Loop = A.Loop;
      // What one round alone back-propagates, a loop further out may again.
      while (Loop && !(isLoop(Loop) && Flow.isWithin(L.Site, Loop) &&
                       !runsInOneRound(L.BackwardAt, Loop, Flow)))
        Loop = Flow.parentOf(Loop);
      if (!Loop || !Flow.isWithin(L.BackwardAt, Loop))
        continue;
      // The place must live on over the iterations of that loop, too.
      if (const VarDecl *Root = Flow.rootOf(A.Where))
        if (const Stmt *Declared = Flow.declarationOf(Root);
            Declared && Flow.isWithin(Declared, Loop))
          continue;
      Graph.Spent = &L;
      Graph.Loop = Loop;
    }
    if (!Graph.Spent)
      continue;
    for (LabelId Id : Flow.label(A.Carry).Assigned)
      if (const Label &L = Flow.label(Id);
          L.bringsGraph() && Flow.isWithin(L.Site, Graph.Loop))
        Graph.Module = &L;
    const VarDecl *Root = Flow.rootOf(A.Where);
    const ValueDecl *D =
        Root ? static_cast<const ValueDecl *>(Root) : Flow.fieldOf(A.Where);
    Graph.MayBeCut = D && mayBeCut(D, Graph, Flow);
    Found.push_back(Graph);
  }
  return Found;
}

} // namespace libtorch_tidy::flow
