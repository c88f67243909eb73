//===- CarriedGraphs.cpp - Graphs that outlive their backward() -----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/CarriedGraphs.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Sharing.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// A condition that tells the first iteration: `!h.defined()`, `first`,
/// `i == 0`.
static bool tellsFirst(const Expr *Condition) {
  Condition = torch::stripImplicit(Condition);
  while (const auto *Not = dyn_cast<UnaryOperator>(Condition)) {
    if (Not->getOpcode() != UO_LNot)
      return false;
    Condition = torch::stripImplicit(Not->getSubExpr());
  }
  if (const auto *Call = dyn_cast<CXXMemberCallExpr>(Condition))
    return torch::asksIfDefined(Call);
  if (const auto *Compare = dyn_cast<BinaryOperator>(Condition)) {
    const auto *Zero =
        dyn_cast<IntegerLiteral>(torch::stripImplicit(Compare->getRHS()));
    if (!Compare->isComparisonOp() || !Zero || Zero->getValue() != 0)
      return false;
    Condition = torch::stripImplicit(Compare->getLHS());
  }
  return isa<DeclRefExpr, MemberExpr>(Condition);
}

namespace {

/// Looks for what may cut the history of a variable on some paths only. What
/// every iteration does, the flow has seen.
class Cuts : public RecursiveASTVisitor<Cuts> {
public:
  Cuts(const ValueDecl *D, const CarriedGraph &Graph, const FunctionFlow &Flow)
      : D(D), Graph(Graph), Flow(Flow) {}
  bool Found = false;

  bool VisitCallExpr(CallExpr *Call) {
    // h.detach_() and its kin; h = h.detach() is a write.
    if (torch::dropsHistory(Call) && torch::calleeName(Call).ends_with("_"))
      if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
        Found |= rootOf(Member->getImplicitObjectArgument()) == D &&
                 isConditional(Call, nullptr);
    return !Found;
  }
  /// for (auto &s : state) s = s.detach();
  bool VisitCXXForRangeStmt(CXXForRangeStmt *For) {
    Found |= rootOf(For->getRangeInit()) == D;
    return !Found;
  }
  void lookAtWrites() {
    for (const Write &W : writesTo(D, Graph.Loop)) {
      // What is called with a reference to it, the flow has looked at.
      if (W.InLambda) {
        Found = true;
      } else if ((W.Kind == WriteKind::Assigned ||
                  W.Kind == WriteKind::Released) &&
                 !Flow.isWithin(Graph.Made->Site, W.Where)) {
        const IfStmt *Around = nullptr;
        Found |= isConditional(W.Where, &Around) &&
                 !(Around && tellsFirst(Around->getCond()));
      }
    }
  }

private:
  /// Within a branch, or a loop that what makes the value anew is not in.
  bool isConditional(const Stmt *S, const IfStmt **Around) const {
    for (; S && S != Graph.Loop; S = Flow.parentOf(S))
      if (isa<IfStmt>(S) ||
          ((isa<SwitchStmt, AbstractConditionalOperator>(S) || isLoop(S)) &&
           !Flow.isWithin(Graph.Made->Site, S))) {
        if (Around)
          *Around = dyn_cast<IfStmt>(S);
        return true;
      }
    return false;
  }

  const ValueDecl *D;
  const CarriedGraph &Graph;
  const FunctionFlow &Flow;
};

} // namespace

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
          !L.BackwardAt || !isPartOf(L.Where, A.Where, Flow))
        continue;
      const Stmt *Loop = A.Loop;
      while (Loop && !(isLoop(Loop) && Flow.isWithin(L.Site, Loop)))
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
    if (D) {
      Cuts Found(D, Graph, Flow);
      Found.lookAtWrites();
      Found.TraverseStmt(const_cast<Stmt *>(Graph.Loop));
      Graph.MayBeCut = Found.Found;
    }
    Found.push_back(Graph);
  }
  return Found;
}

} // namespace libtorch_tidy::flow
