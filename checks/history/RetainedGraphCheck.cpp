//===- RetainedGraphCheck.cpp ---------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy {

using flow::CarriedGraph;
using flow::FunctionFlow;
using flow::Label;

namespace {

/// docs/checks/libtorch-retained-graph.md says what it finds and why.
class RetainedGraphCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;
};

} // namespace

/// Drops `true` for retain_graph, and what stands before it only to reach it.
static fixits::Edits dropRetain(const CallExpr *Call,
                                const torch::BackwardCall &Back,
                                ASTContext &Context) {
  llvm::SmallVector<const Expr *, 4> Written = cpp::writtenArguments(Call);
  // Something follows: create_graph, and then inputs.
  if (Written.back() != Back.Retain)
    return fixits::replaceExpression(Back.Retain, "false", Context);
  unsigned First = Written.size() - 1;
  if (First == 1 && isa<CXXMemberCallExpr>(Call) &&
      cpp::isEmptyValue(Written[0]))
    First = 0; // loss.backward({}, true)
  return fixits::removeArguments(Call, First, Context);
}

/// A tensor, or something of the user's or of the standard library's with one.
static bool holdsTensors(QualType T) {
  T = T.getNonReferenceType();
  return torch::ownsTensors(T->isPointerType() ? T->getPointeeType() : T);
}

/// Is what \p V holds when \p Loop begins no graph for sure: data, or a leaf of
/// one? A leaf is not the graph: each iteration makes its own on top of it.
static bool holdsNoGraph(const VarDecl *V, const FunctionFlow &Flow) {
  auto IsLeafSite = [&](const Expr *E) {
    return llvm::any_of(Flow.labels(), [&](const Label &L) {
      return L.K == Label::Leaf && L.Site == cpp::peel(E);
    });
  };
  const Expr *Init = cpp::stripImplicit(V->getInit());
  const bool IsLeaf = Init && IsLeafSite(Init);
  auto MayBringHistory = [](const Expr *E) {
    return isa<CXXThisExpr>(E) ||
           (isa<DeclRefExpr, MemberExpr>(E) &&
            !E->getType()->isFunctionType() &&
            (holdsTensors(E->getType()) || torch::isModule(E->getType())));
  };
  if (Init && !IsLeaf &&
      (cpp::anyOf<Expr>(Init, MayBringHistory) ||
       llvm::any_of(Flow.labels(), [&](const Label &L) {
         return L.bringsHistory() && Flow.isWithin(L.Site, Init);
       })))
    return false;
  return llvm::all_of(
      cpp::writesTo(V, Flow.function()->getBody()), [&](const cpp::Write &W) {
        return W.Kind == cpp::WriteKind::Released || IsLeafSite(W.Where) ||
               (IsLeaf && W.Kind == cpp::WriteKind::Changed);
      });
}

/// Does each iteration of the loop around \p Call first give \p V a value that
/// has nothing of the one before?
static bool isRemadeFirst(const VarDecl *V, const Expr *Call,
                          const FunctionFlow &Flow) {
  const cpp::Body &In = cpp::Body::of(Flow.function());
  const Stmt *Loop = In.loopAround(Call);
  const auto *Block =
      Loop ? dyn_cast_or_null<CompoundStmt>(cpp::bodyOf(Loop)) : nullptr;
  const auto *First =
      Block ? cpp::findFirst<DeclRefExpr>(
                  Block,
                  [&](const DeclRefExpr *Ref) { return Ref->getDecl() == V; })
            : nullptr;
  const auto *Assign =
      First ? dyn_cast_or_null<CXXOperatorCallExpr>(In.outerOf(First))
            : nullptr;
  return Assign && Assign->getOperator() == OO_Equal &&
         cpp::stripImplicit(Assign->getArg(0)) == First &&
         !cpp::mentions(Assign->getArg(1), V) && In.outerOf(Assign) == Block;
}

/// May an iteration of a loop around \p Call go through a graph that the one
/// before went through, or that was there before the loop?
static bool mayMeetOldGraph(const Expr *Call, const FunctionFlow &Flow) {
  const Stmt *Outermost = nullptr;
  for (const Stmt *S = Call; S; S = Flow.parentOf(S))
    if (flow::isLoop(S))
      Outermost = S;
  if (!Outermost)
    return false;
  return cpp::anyOf<DeclRefExpr>(Outermost, [&](const DeclRefExpr *Ref) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    const Stmt *Declared = V ? Flow.declarationOf(V) : nullptr;
    return Declared && !Flow.isWithin(Declared, Outermost) &&
           holdsTensors(V->getType()) && !torch::isModule(V->getType()) &&
           !holdsNoGraph(V, Flow) && !isRemadeFirst(V, Call, Flow);
  });
}

/// Does a lambda in the function, which the flow follows as a function of its
/// own, train with tensors of the function?
static bool lambdasMayWalk(const FunctionFlow &Flow, flow::UnitModel &Unit) {
  return cpp::anyOf<LambdaExpr>(
      Flow.function()->getBody(), [&](const LambdaExpr *Lambda) {
        const FunctionFlow *Inner = Unit.flowOf(Lambda->getCallOperator());
        return llvm::any_of(Lambda->captures(),
                            [](const LambdaCapture &C) {
                              return !C.capturesVariable() ||
                                     holdsTensors(
                                         C.getCapturedVar()->getType());
                            }) &&
               (!Inner || !Inner->available() || Inner->trains());
      });
}

/// How sure it is that nobody goes through the graph of \p Spent again;
/// nullopt when somebody does or may.
///
/// Places that share a module's or a helper's graph carry a Spent label, and
/// whoever goes through them again shows. Of the graph above a local leaf, and
/// of tensors whose history the flow does not know (parameters that are used
/// directly), nothing shows: there it is certain only that no other call walks,
/// and that no graph is older than the iteration.
static std::optional<Level> nobodyElseWalks(const Label &Spent,
                                            const FunctionFlow &Flow,
                                            flow::UnitModel &Unit) {
  constexpr unsigned Unsure = Label::Returned | Label::Stored | Label::Escaped;
  unsigned Consumers = 0;
  for (const Label &Shared : Flow.labels())
    if (Shared.K == Label::Spent && Shared.Site == Spent.Site)
      Consumers |= Shared.Consumers;
  if (Spent.Unseen || (Consumers & (Label::Backward | Unsure)))
    return std::nullopt;
  bool Arises = false;
  Level Strength = Level::Likely;
  flow::LabelSet Leaves;
  for (flow::LabelId Id : Spent.Assigned) {
    const Label &L = Flow.label(Id);
    if (L.K == Label::Carry && Flow.rootOf(L.Where) &&
        isRemadeFirst(Flow.rootOf(L.Where), Spent.Site, Flow))
      continue;
    if (L.K == Label::Carry || L.K == Label::Relay || L.K == Label::Spent)
      return std::nullopt;
    if (L.K == Label::Leaf)
      Leaves.set(Id);
    // A graph that came from outside may be wanted there.
    if (L.K == Label::Entry)
      Strength = Level::Advisory;
    if (!L.bringsHistory())
      continue;
    Arises = true;
    if (Unit.consumersOf(L, Flow) & Unsure)
      return std::nullopt;
    // A module that is not seen may keep a part of its graph.
    if (std::optional<torch::ModuleCall> M = torch::asModuleCall(L.Site)) {
      const auto *Call = cast<CallExpr>(M->Call);
      if (!M->Body && !M->Script &&
          !torch::isTorchDecl(Call->getDirectCallee()))
        Strength = Level::Advisory;
    }
  }
  if (!Arises)
    return std::nullopt;
  // Who else walks, and through what.
  for (const Expr *Other : Flow.trainingSites()) {
    const auto *Call = dyn_cast<CallExpr>(Other);
    // A function may walk what it is given.
    if (Call && !torch::isBackward(Call) && !Leaves.empty() &&
        llvm::any_of(Call->arguments(), [](const Expr *Arg) {
          return torch::mayHoldTensor(Arg->getType());
        }))
      return std::nullopt;
    if (Other == Spent.Site || !torch::isBackward(Call))
      continue;
    bool Known = false;
    for (const Label &L : Flow.labels()) {
      if (L.K != Label::Spent || L.Site != Other)
        continue;
      if (L.Unseen || L.Assigned.intersects(Leaves))
        return std::nullopt;
      for (flow::LabelId Id : L.Assigned)
        Known |= Flow.label(Id).bringsHistory();
    }
    if (!Known)
      return std::nullopt;
  }
  if (mayMeetOldGraph(Spent.Site, Flow) || lambdasMayWalk(Flow, Unit))
    return std::nullopt;
  return Strength;
}

void RetainedGraphCheck::checkFunction(const FunctionFlow &Flow,
                                       flow::UnitModel &Unit) {
  ASTContext &Context = Unit.context();
  llvm::SmallVector<CarriedGraph, 2> Carried;
  bool HasCarried = false;
  for (const Label &Spent : Flow.labels()) {
    if (Spent.K != Label::Spent || Spent.Assigned.empty())
      continue;
    const auto *Call = dyn_cast<CallExpr>(Spent.Site);
    std::optional<torch::BackwardCall> Back = torch::asBackward(Call);
    // create_graph keeps the graph for a reason of its own.
    if (!Back || !Back->Retain || Back->RetainGraph != torch::Flag::True ||
        Back->CreateGraph != torch::Flag::False)
      continue;
    if (!HasCarried)
      Carried = flow::carriedGraphs(Flow);
    HasCarried = true;

    Finding F;
    F.Loc = Back->Retain->getExprLoc();
    F.Highlight = Back->Retain->getSourceRange();
    const auto *Carrier = llvm::find_if(Carried, [&](const CarriedGraph &G) {
      return G.Spent->Site == Spent.Site;
    });
    if (Carrier != Carried.end()) {
      // Recurrent state is libtorch-undetached-hidden-state's.
      if (Carrier->MayBeCut ||
          (Carrier->Module && Carrier->Made->How == flow::Accumulation::Rebind))
        continue;
      const std::string Name = Flow.nameOf(Carrier->Made->Where);
      F.Strength = Level::Likely;
      F.Message = "retain_graph keeps the graphs of all iterations, since '" +
                  Name +
                  "' carries them on: each backward() goes through all of "
                  "them; detach '" +
                  Name + "' between iterations";
      F.Steps.push_back({Carrier->Made->Site->getExprLoc(),
                         "'" + Name +
                             "' gets the graph of this iteration on top of "
                             "those before"});
      F.Steps.push_back({Carrier->Loop->getBeginLoc(),
                         "and nothing detaches it before the next iteration "
                         "of this loop"});
      report(F);
      continue;
    }
    std::optional<Level> Strength = nobodyElseWalks(Spent, Flow, Unit);
    if (!Strength)
      continue;
    F.Strength = *Strength;
    F.Message = "retain_graph keeps the activations alive after this "
                "backward(), but nothing goes through the graph again";
    if (*Strength == Level::Likely)
      F.Fix = dropRetain(Call, *Back, Context);
    report(F);
  }
}

LIBTORCH_CHECK(RetainedGraphCheck, NoReasons);

} // namespace libtorch_tidy
