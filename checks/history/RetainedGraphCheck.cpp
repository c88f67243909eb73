//===- RetainedGraphCheck.cpp ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
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

constexpr struct RetainedGraphReasons {
  Reason FromOutside{"graph-from-outside", Effect::Advice,
                     "A parameter or member takes part: its graph may be "
                     "wanted elsewhere."};
  Reason UnseenModule{"unseen-module", Effect::Advice,
                      "A module of another file takes part, which may keep a "
                      "part of its graph."};
  Reason NotConstant{"flag-unknown", Effect::Silent,
                     "The argument `retain_graph` is not a constant."};
  Reason CreatesGraph{"create-graph", Effect::Silent,
                      "The call has `create_graph`, too, which needs the "
                      "graph."};
  Reason Recurrent{"recurrent-state", Effect::Silent,
                   "Recurrent state is carried on: "
                   "[libtorch-undetached-hidden-state]"
                   "(libtorch-undetached-hidden-state.md) reports that where "
                   "the state is assigned."};
  Reason MayBeCut{"may-be-cut", Effect::Silent,
                  "The graph is carried on, but something in the loop may cut "
                  "it now and then."};
  Reason Again{"used-again", Effect::Silent,
               "Another `backward()` or `grad` goes through the graph, or may "
               "do so, as above a leaf of this function; or a tensor of the "
               "graph is returned, stored, or handed to code that cannot be "
               "seen."};
  Reason Elsewhere{"made-elsewhere", Effect::Silent,
                   "The graph, or a part of it, does not arise in this "
                   "function."};
  Reason Older{"older-graph", Effect::Silent,
               "The call is in a loop that uses a tensor from before the loop, "
               "which is neither data nor a leaf: its graph may be the same in "
               "all iterations."};
  Reason InLambda{"lambda-trains", Effect::Silent,
                  "A lambda of the function trains with tensors of the "
                  "function."};
  Reason CarriedOn{"carried-on", Effect::NoFix,
                   "The graph is carried on: without it, the next `backward()` "
                   "would throw. Detach first."};
  Reason OnlyAdvice{"only-advice", Effect::NoFix,
                    "The finding is of level 2: the graph may be needed."};
} RetainedGraph{};

/// Drops `true` for retain_graph, and what stands before it only to reach it.
fixits::Edits dropRetain(const CallExpr *Call, const torch::BackwardCall &Back,
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
bool holdsTensors(QualType T) {
  T = T.getNonReferenceType();
  return torch::ownsTensors(T->isPointerType() ? T->getPointeeType() : T);
}

/// Is what \p V holds when \p Loop begins no graph for sure: data, or a leaf of
/// one? A leaf is not the graph: each iteration makes its own on top of it.
bool holdsNoGraph(const VarDecl *V, const FunctionFlow &Flow) {
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
      cpp::Body::of(Flow.function()).writesTo(V), [&](const cpp::Write &W) {
        return W.Kind == cpp::WriteKind::Released || IsLeafSite(W.Where) ||
               (IsLeaf && W.Kind == cpp::WriteKind::Changed);
      });
}

/// Does each iteration of the loop around \p Call first give \p V a value that
/// has nothing of the one before?
bool isRemadeFirst(const VarDecl *V, const Expr *Call,
                   const FunctionFlow &Flow) {
  const cpp::Body &In = cpp::Body::of(Flow.function());
  const Stmt *Loop = In.loopAround(Call);
  const auto *Block =
      Loop ? dyn_cast_or_null<CompoundStmt>(cpp::bodyOf(Loop)) : nullptr;
  const auto *First = cpp::findFirst<DeclRefExpr>(
      Block, [&](const DeclRefExpr *Ref) { return Ref->getDecl() == V; });
  const auto *Assign =
      First ? dyn_cast_or_null<CallExpr>(In.outerOf(First)) : nullptr;
  return cpp::isAssignment(Assign) &&
         cpp::stripImplicit(Assign->getArg(0)) == First &&
         !cpp::mentions(Assign->getArg(1), V) && In.outerOf(Assign) == Block;
}

/// May an iteration of a loop around \p Call go through a graph that the one
/// before went through, or that was there before the loop?
bool mayMeetOldGraph(const Expr *Call, const FunctionFlow &Flow) {
  const Stmt *Outermost = nullptr;
  for (const Stmt *S = Call; S; S = Flow.parentOf(S))
    if (cpp::isLoop(S))
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
bool lambdasMayWalk(const FunctionFlow &Flow, flow::UnitModel &Unit) {
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

/// Another call than that of \p Spent that goes through its graph above one of
/// \p Leaves, or may; null when there is none.
const Expr *otherWalk(const Label &Spent, const flow::LabelSet &Leaves,
                      const FunctionFlow &Flow) {
  for (const Expr *Other : Flow.trainingSites()) {
    const auto *Call = dyn_cast<CallExpr>(Other);
    // A function may walk what it is given.
    if (Call && !torch::isBackward(Call) && !Leaves.empty() &&
        llvm::any_of(Call->arguments(), [](const Expr *Arg) {
          return torch::mayHoldTensor(Arg->getType());
        }))
      return Other;
    if (Other == Spent.Site || !torch::isBackward(Call))
      continue;
    bool Known = false;
    for (const Label &L : Flow.labels()) {
      if (L.K != Label::Spent || L.Site != Other)
        continue;
      if (L.Unseen || L.Assigned.intersects(Leaves))
        return Other;
      for (flow::LabelId Id : L.Assigned)
        Known |= Flow.label(Id).bringsHistory();
    }
    if (!Known)
      return Other;
  }
  return nullptr;
}

/// Why somebody else goes through the graph of \p Spent, or may: a reason for
/// silence or for a lower level; nullopt for neither.
///
/// Places that share a module's or a helper's graph carry a Spent label, and
/// whoever goes through them again shows. Of the graph above a local leaf, and
/// of tensors whose history the flow does not know (parameters that are used
/// directly), nothing shows: there it is certain only that no other call walks,
/// and that no graph is older than the iteration.
std::optional<Because> whyKept(const Label &Spent, const FunctionFlow &Flow,
                               flow::UnitModel &Unit) {
  const auto &Rows = RetainedGraph;
  constexpr unsigned Unsure = Label::Returned | Label::Stored | Label::Escaped;
  for (const Label &Shared : Flow.labels())
    if (Shared.K == Label::Spent && Shared.Site == Spent.Site &&
        (Shared.Consumers & (Label::Backward | Unsure)))
      return Because{&Rows.Again};
  if (Spent.Unseen)
    return Because{&Rows.Elsewhere};
  bool Arises = false;
  std::optional<Because> Weak;
  flow::LabelSet Leaves;
  for (flow::LabelId Id : Spent.Assigned) {
    const Label &L = Flow.label(Id);
    if (L.K == Label::Carry && Flow.rootOf(L.Where) &&
        isRemadeFirst(Flow.rootOf(L.Where), Spent.Site, Flow))
      continue;
    if (L.K == Label::Carry || L.K == Label::Relay || L.K == Label::Spent)
      return Because{&Rows.Older};
    if (L.K == Label::Leaf)
      Leaves.set(Id);
    if (L.K == Label::Entry)
      Weak = Because{&Rows.FromOutside, quoted(Flow.nameOf(L.Where))};
    if (!L.bringsHistory())
      continue;
    Arises = true;
    if (Unit.consumersOf(L, Flow) & Unsure)
      return Because{&Rows.Again};
    if (std::optional<torch::ModuleCall> M = torch::asModuleCall(L.Site)) {
      const auto *Call = cast<CallExpr>(M->Call);
      if (!M->Body && !M->Script &&
          !torch::isTorchDecl(Call->getDirectCallee()))
        Weak = Because{&Rows.UnseenModule, "it runs", Call->getExprLoc()};
    }
  }
  if (!Arises)
    return Because{&Rows.Elsewhere};
  if (const Expr *Other = otherWalk(Spent, Leaves, Flow))
    return Because{&Rows.Again, "the other", Other->getExprLoc()};
  if (mayMeetOldGraph(Spent.Site, Flow))
    return Because{&Rows.Older};
  if (lambdasMayWalk(Flow, Unit))
    return Because{&Rows.InLambda};
  return Weak;
}

Finding worded(const torch::BackwardCall &Back, const CarriedGraph &Carrier,
               const FunctionFlow &Flow) {
  const std::string Name = quoted(Flow.nameOf(Carrier.Made->Where));
  return Finding::at(Back.Retain)
      .because(RetainedGraph.CarriedOn)
      .says("memory growth: retain_graph keeps the graphs of all iterations, "
            "since " +
            Name +
            " carries them on: each backward() goes through all of them; "
            "detach " +
            Name + " between iterations")
      .note(Carrier.Made->Site,
            Name + " gets the graph of this iteration on top of those before")
      .note(Carrier.Loop->getBeginLoc(),
            "and nothing detaches it before the next iteration of this loop");
}

Finding worded(const CallExpr *Call, const torch::BackwardCall &Back,
               const std::optional<Because> &Why, ASTContext &Context) {
  Finding F = Finding::at(Back.Retain)
                  .because(Why)
                  .says("wasted memory: retain_graph keeps the activations "
                        "alive after this "
                        "backward(), but nothing goes through the graph again")
                  .remedy("leave it out");
  F.Runs = Call->getSourceRange();
  return Why ? F.because(RetainedGraph.OnlyAdvice)
             : F.fix(dropRetain(Call, Back, Context));
}

/// docs/checks/libtorch-retained-graph.md says what it finds and why.
class RetainedGraphCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void checkFunction(const FunctionFlow &Flow, flow::UnitModel &Unit) override {
    const auto &Rows = RetainedGraph;
    std::optional<llvm::SmallVector<CarriedGraph, 2>> Carried;
    for (const Label &Spent : Flow.labels()) {
      if (Spent.K != Label::Spent || Spent.Assigned.empty())
        continue;
      const auto *Call = dyn_cast<CallExpr>(Spent.Site);
      std::optional<torch::BackwardCall> Back = torch::asBackward(Call);
      if (!Back || !Back->Retain || Back->RetainGraph == torch::Flag::False)
        continue;
      if (Back->RetainGraph == torch::Flag::Unknown ||
          Back->CreateGraph != torch::Flag::False) {
        silent(Back->Retain, Back->CreateGraph != torch::Flag::False
                                 ? Rows.CreatesGraph
                                 : Rows.NotConstant);
        continue;
      }
      if (!Carried)
        Carried = flow::carriedGraphs(Flow);
      const auto *Carrier = llvm::find_if(*Carried, [&](const CarriedGraph &G) {
        return G.Spent->Site == Spent.Site;
      });
      if (Carrier != Carried->end()) {
        if (Carrier->MayBeCut)
          silent(Back->Retain, Rows.MayBeCut);
        else if (Carrier->Module &&
                 Carrier->Made->How == flow::Accumulation::Rebind)
          silent(Back->Retain, Rows.Recurrent, "assigned",
                 Carrier->Made->Site->getExprLoc());
        else
          report(worded(*Back, *Carrier, Flow));
        continue;
      }
      report(worded(Call, *Back, whyKept(Spent, Flow, Unit), Unit.context()));
    }
  }
};

} // namespace

LIBTORCH_CHECK(RetainedGraphCheck, RetainedGraph);

} // namespace libtorch_tidy
