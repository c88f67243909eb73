//===- UndetachedHiddenStateCheck.cpp -------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/code/Object.h"
#include "checks/code/Std.h"
#include "checks/code/Types.h"
#include "checks/code/Walk.h"
#include "checks/code/Writes.h"
#include "checks/flow/CarriedGraphs.h"
#include "checks/flow/TensorWork.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "checks/torch/PureOps.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace libtorch_tidy {

using flow::CarriedGraph;
using flow::FunctionFlow;

namespace {

/// docs/checks/libtorch-undetached-hidden-state.md says what it finds and why.
/// Loops without backward() are libtorch-accumulated-history's.
class UndetachedHiddenStateCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;
};

} // namespace

/// The variable, or the member of this, that \p P is; null for parts of others.
static const ValueDecl *declOf(flow::PlaceId P, const FunctionFlow &Flow) {
  const flow::Place &Here = Flow.place(P);
  if (!Here.Parent)
    return Here.Root;
  const flow::Place &Above = Flow.place(*Here.Parent);
  return !Above.Parent && !Above.Root ? Here.Part->asField() : nullptr;
}

/// `h = h.detach();`, also for a tuple of tensors; empty for other types.
static std::string cutting(StringRef Name, QualType T) {
  T = T.getNonReferenceType();
  if (torch::isTensor(T))
    return (Name + " = " + Name + ".detach();").str();
  const CXXRecordDecl *R = torch::recordOf(T);
  const bool IsPair = code::isStdClass(R, {"pair"});
  if (!IsPair && !code::isStdClass(R, {"tuple"}))
    return {};
  llvm::SmallVector<QualType, 2> Types;
  code::forEachArgument(R, [&](QualType Part) { Types.push_back(Part); });
  std::string Text =
      (Name + " = std::make_" + (IsPair ? "pair" : "tuple") + "(").str();
  for (unsigned I = 0; I < Types.size(); ++I) {
    if (!torch::isTensor(Types[I]))
      return {};
    Text += (I ? ", std::get<" : "std::get<") + std::to_string(I) + ">(" +
            Name.str() + ").detach()";
  }
  return Types.empty() ? std::string() : Text + ");";
}

/// Does it hold tensors before the loop starts?
static bool isDefinedBefore(const ValueDecl *D) {
  const auto *Var = dyn_cast<VarDecl>(D);
  return Var && (isa<ParmVarDecl>(Var) ||
                 (Var->getInit() && !code::isEmptyValue(Var->getInit())));
}

/// The statement of a block that \p S is in, and whether every iteration of
/// \p Loop comes there.
static const Stmt *statementAround(const Stmt *S, const Stmt *Loop,
                                   const FunctionFlow &Flow, bool &Always) {
  while (S && !isa_and_nonnull<CompoundStmt>(Flow.parentOf(S)))
    S = Flow.parentOf(S);
  Always = false;
  if (!S)
    return nullptr;
  const Stmt *Block = Flow.parentOf(S);
  while (Block && isa<CompoundStmt>(Block) && Flow.parentOf(Block) != Loop)
    Block = Flow.parentOf(Block);
  Always = Block && isa<CompoundStmt>(Block);
  return S;
}

static const CompoundStmt *bodyOf(const Stmt *Loop) {
  const Stmt *Body = nullptr;
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    Body = For->getBody();
  else if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    Body = Range->getBody();
  else if (const auto *While = dyn_cast<WhileStmt>(Loop))
    Body = While->getBody();
  else if (const auto *Do = dyn_cast<DoStmt>(Loop))
    Body = Do->getBody();
  return dyn_cast_or_null<CompoundStmt>(Body);
}

static bool retains(const Expr *Backward) {
  std::optional<torch::BackwardCall> Call =
      torch::asBackward(dyn_cast<CallExpr>(Backward));
  return Call && Call->RetainGraph != torch::Flag::False;
}

/// `h.detach();` looks as if it cut the graph of \p Graphs.
static void noteDiscardedDetach(llvm::ArrayRef<CarriedGraph> Graphs,
                                const FunctionFlow &Flow, Finding &F) {
  code::forEachCall(Graphs.front().Loop, [&](const CallExpr *Detach) {
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Detach);
    const Stmt *Whole = Detach;
    while (isa_and_nonnull<ExprWithCleanups, CXXBindTemporaryExpr>(
        Flow.parentOf(Whole)))
      Whole = Flow.parentOf(Whole);
    std::optional<torch::PureOp> Op = torch::asPureOp(Detach);
    if (!Member || !Op || Op->Kind != torch::PureKind::Detach ||
        !isa_and_nonnull<CompoundStmt>(Flow.parentOf(Whole)))
      return;
    const ValueDecl *D = code::rootOf(Member->getImplicitObjectArgument());
    if (llvm::any_of(Graphs, [&](const CarriedGraph &Graph) {
          return D && D == declOf(Graph.Made->Where, Flow);
        }))
      F.Steps.push_back({Detach->getExprLoc(),
                         "this changes nothing: its result is discarded"});
  });
}

/// Detaches all of \p Graphs, which \p Site carries on: at the head of the
/// loop's body where they are always defined, else after backward().
static fixits::Edits cutGraphs(const Expr *Site,
                               llvm::ArrayRef<CarriedGraph> Graphs,
                               const FunctionFlow &Flow, ASTContext &Context) {
  const CarriedGraph &First = Graphs.front();
  bool Always = false;
  const Stmt *Backward =
      statementAround(First.Spent->Site, First.Loop, Flow, Always);
  const CompoundStmt *Body = bodyOf(First.Loop);
  if (!Body || !Backward)
    return {};
  llvm::SmallVector<std::string, 2> Cuts;
  for (const CarriedGraph &Graph : Graphs) {
    const ValueDecl *D = declOf(Graph.Made->Where, Flow);
    std::string Cut =
        D ? cutting(Flow.nameOf(Graph.Made->Where), D->getType()) : "";
    if (Cut.empty() || Graph.Loop != First.Loop ||
        Graph.Spent->Site != First.Spent->Site)
      return {};
    Always &= isDefinedBefore(D);
    Cuts.push_back(Cut);
  }
  const Stmt *NextTo = Always ? Body->body_front() : Backward;
  const std::string Text = llvm::join(
      Cuts,
      ("\n" + fixits::indentationAt(NextTo->getBeginLoc(), Context)).str());
  if (Always)
    return fixits::insertAtBlockHead(Body, Text, Context);
  return Context.getSourceManager().isBeforeInTranslationUnit(
             Site->getExprLoc(), Backward->getBeginLoc())
             ? fixits::insertAfterStatement(Backward, Text, Context)
             : fixits::Edits();
}

void UndetachedHiddenStateCheck::checkFunction(const FunctionFlow &Flow,
                                               flow::UnitModel &Unit) {
  ASTContext &Context = Unit.context();
  // One finding for each statement: std::tie(h, c) = ... makes two.
  llvm::MapVector<const Expr *, llvm::SmallVector<CarriedGraph, 2>> BySite;
  for (const CarriedGraph &Graph : flow::carriedGraphs(Flow))
    if (Graph.Made->How == flow::Accumulation::Rebind && Graph.Module &&
        !Graph.MayBeCut)
      BySite[Graph.Made->Site].push_back(Graph);
  if (BySite.empty() || Unit.isCalledOnlyGuarded(Flow.function()))
    return;

  for (const auto &[Site, Graphs] : BySite) {
    const CarriedGraph &First = Graphs.front();
    std::string Names;
    for (const CarriedGraph &Graph : Graphs)
      Names += (Names.empty()              ? ""
                : &Graph == &Graphs.back() ? " and "
                                           : ", ") +
               ("'" + Flow.nameOf(Graph.Made->Where) + "'");
    const bool Retained =
        retains(First.Spent->Site) || retains(First.Spent->BackwardAt);

    Finding F;
    F.Loc = Site->getExprLoc();
    F.Highlight = Site->getSourceRange();
    F.Strength = Level::Likely;
    // What a module does with its state may be elsewhere.
    std::optional<torch::ModuleCall> M =
        torch::asModuleCall(First.Module->Site);
    const auto *Call = dyn_cast<CallExpr>(First.Module->Site);
    if (M && !M->Body && !(Call && torch::isTorchDecl(Call->getDirectCallee())))
      F.Strength = Level::Advisory;
    const StringRef Carry = Graphs.size() == 1 ? "carries" : "carry";
    if (Retained)
      F.Message = Names + " " + Carry.str() +
                  " the autograd graph into the next iteration, and "
                  "retain_graph keeps all of it: each backward() goes through "
                  "the graphs of all iterations so far, and none is freed";
    else
      F.Message = Names + " " + Carry.str() +
                  " the autograd graph into the next iteration, and the next "
                  "backward() fails: the one before has freed that graph";
    for (const CarriedGraph &Graph : Graphs)
      if (const VarDecl *Root = Flow.rootOf(Graph.Made->Where))
        F.Steps.push_back({Root->getLocation(), "'" + Root->getNameAsString() +
                                                    "' is declared here, "
                                                    "outside the loop"});
    F.Steps.push_back(originStep(*First.Module));
    F.Steps.push_back({First.Spent->Site->getExprLoc(),
                       "backward() goes through the graph of the state here, "
                       "and nothing detaches the state before the next "
                       "iteration uses it"});
    noteDiscardedDetach(Graphs, Flow, F);
    F.Fix = cutGraphs(Site, Graphs, Flow, Context);
    tell(F);
  }
}

LIBTORCH_CHECK(UndetachedHiddenStateCheck);

} // namespace libtorch_tidy
