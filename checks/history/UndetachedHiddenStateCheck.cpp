//===- UndetachedHiddenStateCheck.cpp -------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
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

private:
  void checkMembers(const flow::FunctionFlow &Flow, flow::UnitModel &Unit);
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
  const CXXRecordDecl *R = cpp::recordOf(T);
  const bool IsPair = cpp::isStdClass(R, {"pair"});
  if (!IsPair && !cpp::isStdClass(R, {"tuple"}))
    return {};
  llvm::SmallVector<QualType, 2> Types;
  cpp::forEachArgument(R, [&](QualType Part) { Types.push_back(Part); });
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
                 (Var->getInit() && !cpp::isEmptyValue(Var->getInit())));
}

/// The statement of a block that \p S is in, and whether every iteration of
/// \p Loop comes there. Null where what stands after it would not always
/// follow \p S: in a branch without braces.
static const Stmt *statementAround(const Stmt *S, const Stmt *Loop,
                                   const FunctionFlow &Flow, bool &Always) {
  while (S && !isa_and_nonnull<CompoundStmt>(Flow.parentOf(S))) {
    S = Flow.parentOf(S);
    if (isa_and_nonnull<IfStmt, AbstractConditionalOperator>(S) ||
        cpp::isLoop(S))
      S = nullptr;
    if (const auto *Operator = dyn_cast_or_null<BinaryOperator>(S);
        Operator && Operator->isLogicalOp())
      S = nullptr;
  }
  Always = false;
  if (!S)
    return nullptr;
  const Stmt *Block = Flow.parentOf(S);
  while (Block && isa<CompoundStmt>(Block) && Flow.parentOf(Block) != Loop)
    Block = Flow.parentOf(Block);
  Always = Block && isa<CompoundStmt>(Block);
  return S;
}

static bool retains(const Expr *Backward) {
  std::optional<torch::BackwardCall> Call =
      torch::asBackward(dyn_cast<CallExpr>(Backward));
  return Call && Call->RetainGraph != torch::Flag::False;
}

/// `h.detach();` looks as if it cut the graph of \p Graphs.
static void noteDiscardedDetach(llvm::ArrayRef<CarriedGraph> Graphs,
                                const FunctionFlow &Flow, Finding &F) {
  cpp::forEachCall(Graphs.front().Loop, [&](const CallExpr *Detach) {
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Detach);
    const Stmt *Whole = Detach;
    while (isa_and_nonnull<ExprWithCleanups, CXXBindTemporaryExpr>(
        Flow.parentOf(Whole)))
      Whole = Flow.parentOf(Whole);
    std::optional<torch::PureOp> Op = torch::asPureOp(Detach);
    if (!Member || !Op || Op->Kind != torch::PureKind::Detach ||
        !isa_and_nonnull<CompoundStmt>(Flow.parentOf(Whole)))
      return;
    const ValueDecl *D = cpp::rootOf(Member->getImplicitObjectArgument());
    if (llvm::any_of(Graphs, [&](const CarriedGraph &Graph) {
          return D && D == declOf(Graph.Made->Where, Flow);
        }))
      F.Steps.push_back({Detach->getExprLoc(),
                         "this changes nothing: its result is discarded"});
  });
}

/// Detaches all of \p Graphs, which \p Site carries on: at the head of the
/// loop's body where they are always defined and each iteration runs
/// backward(), else after backward().
static fixits::Edits cutGraphs(const Expr *Site,
                               llvm::ArrayRef<CarriedGraph> Graphs,
                               const FunctionFlow &Flow, ASTContext &Context) {
  const CarriedGraph &First = Graphs.front();
  bool EachTime = false;
  const Stmt *Backward =
      statementAround(First.Spent->Site, First.Loop, Flow, EachTime);
  const auto *Body = dyn_cast_or_null<CompoundStmt>(cpp::bodyOf(First.Loop));
  if (!Backward)
    return {};
  bool Defined = true;
  llvm::SmallVector<std::string, 2> Cuts;
  for (const CarriedGraph &Graph : Graphs) {
    const ValueDecl *D = declOf(Graph.Made->Where, Flow);
    std::string Cut =
        D ? cutting(Flow.nameOf(Graph.Made->Where), D->getType()) : "";
    if (Cut.empty() || Graph.Loop != First.Loop ||
        Graph.Spent->Site != First.Spent->Site)
      return {};
    Defined &= isDefinedBefore(D);
    Cuts.push_back(Cut);
  }
  const bool AtHead = EachTime && Defined && Body;
  const Stmt *NextTo = AtHead ? Body->body_front() : Backward;
  const std::string Text = llvm::join(
      Cuts,
      ("\n" + fixits::indentationAt(NextTo->getBeginLoc(), Context)).str());
  if (AtHead)
    return fixits::insertAtBlockHead(Body, Text, Context);
  // What is undefined cannot be detached, and after both it is not. A cut in
  // each iteration would be too many where backward() runs now and then.
  const bool MadeLater =
      !Defined && !Context.getSourceManager().isBeforeInTranslationUnit(
                      Site->getExprLoc(), Backward->getBeginLoc());
  if (MadeLater && !EachTime)
    return {};
  const Stmt *Last =
      MadeLater ? statementAround(Site, First.Loop, Flow, EachTime) : Backward;
  return Last ? fixits::insertAfterStatement(Last, Text, Context)
              : fixits::Edits();
}

/// Is \p Field written anywhere but by \p Site and by constructors?
static bool isWrittenElsewhere(const FieldDecl *Field, const Expr *Site,
                               const flow::UnitModel &Unit) {
  if (flow::fieldElsewhere(Field).IsWritten)
    return true;
  return llvm::any_of(Unit.functions(), [&](const FunctionDecl *F) {
    return !isa<CXXConstructorDecl>(F) &&
           llvm::any_of(cpp::Body::of(F).writesTo(Field),
                        [&](const cpp::Write &W) {
                          return !cpp::Body::of(F).isWithin(W.Where, Site);
                        });
  });
}

/// What is done, anywhere in the program, with what \p Field held before a
/// call.
static unsigned consumersOf(const FieldDecl *Field, flow::UnitModel &Unit) {
  unsigned Consumers = flow::fieldElsewhere(Field).Consumers;
  for (const FunctionDecl *F : Unit.functions())
    if (const FunctionFlow *Flow = Unit.flowOf(F))
      for (const flow::Label &L : Flow->labels())
        if ((L.K == flow::Label::Entry || L.K == flow::Label::Carry) &&
            Flow->fieldOf(L.Where) == Field)
          Consumers |= Unit.consumersOf(L, *Flow);
  return Consumers;
}

/// The eval() of the module that runs at \p Site, or of one that it is a part
/// of: net_ for net_->gru(x). Null when there is none.
static const CallExpr *evalAt(const Expr *Site, flow::UnitModel &Unit) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Site);
  std::optional<torch::ModuleCall> M =
      Call ? torch::asModuleCall(Call) : std::nullopt;
  const Expr *Module = M ? M->Module : nullptr;
  for (unsigned I = 0; Module && I < cpp::MaxChase; ++I) {
    if (const ValueDecl *Named = torch::moduleNamed(Module))
      if (const CallExpr *Eval = Unit.scan().calls().Evals.lookup(Named))
        return Eval;
    const auto *Member = dyn_cast<MemberExpr>(cpp::stripPointers(Module));
    Module = Member ? cpp::stripPointers(Member->getBase()) : nullptr;
  }
  return nullptr;
}

/// "'h' and 'c' carry", "'h' carries".
static std::string carrying(llvm::ArrayRef<std::string> Names) {
  std::string Result;
  for (const std::string &Name : Names)
    Result += (Result.empty()           ? ""
               : &Name == &Names.back() ? " and "
                                        : ", ") +
              ("'" + Name + "'");
  return Result + (Names.size() == 1 ? " carries" : " carry");
}

/// A state in a member that each call of a method computes from the one
/// before, and that nobody detaches or resets: the graphs of all calls live on.
/// Whether somebody trains does not matter: a second backward() would meet the
/// graph that the first has freed.
void UndetachedHiddenStateCheck::checkMembers(const FunctionFlow &Flow,
                                              flow::UnitModel &Unit) {
  struct Members {
    llvm::SmallVector<std::string, 2> Names, Cuts;
    const FieldDecl *First;
    const flow::Label *Module;
  };
  llvm::MapVector<const Expr *, Members> BySite;
  for (const auto &[Key, A] : Flow.accumulations()) {
    const FieldDecl *Field = Flow.fieldOf(A.Where);
    if (A.How != flow::Accumulation::Rebind || A.Loop || !Field ||
        Flow.rootOf(A.Where) || A.Mode != flow::GradMode::On ||
        A.Added.anyUnknown())
      continue;
    const flow::Label *Module = nullptr;
    for (flow::LabelId Id : A.Added.allLabels())
      if (const flow::Label &L = Flow.label(Id); L.bringsGraph())
        Module = &L;
    // What nobody uses at all is libtorch-accumulated-history's.
    if (!Module || !Unit.seesAllUses(Field) || !Unit.isFieldConsumed(Field) ||
        isWrittenElsewhere(Field, A.Site, Unit) ||
        (consumersOf(Field, Unit) &
         (flow::Label::Backward | flow::Label::Escaped)))
      continue;
    Members &All =
        BySite.insert({A.Site, Members{{}, {}, Field, Module}}).first->second;
    All.Names.push_back(Flow.nameOf(A.Where));
    All.Cuts.push_back(cutting(All.Names.back(), Field->getType()));
  }
  if (BySite.empty() || Unit.isCalledOnlyGuarded(Flow.function()))
    return;
  for (const auto &[Site, All] : BySite) {
    const CallExpr *Eval = evalAt(All.Module->Site, Unit);
    Finding F;
    F.Loc = Site->getExprLoc();
    F.Highlight = Site->getSourceRange();
    F.Strength = Eval ? Level::Likely : Level::Advisory;
    F.Message = carrying(All.Names) +
                " the autograd graph from call to call, and nothing detaches "
                "or resets it, so the graphs of all calls stay in memory";
    F.Steps.push_back(
        {All.First->getLocation(), "member '" + All.First->getNameAsString() +
                                       "' lives as long as its object"});
    F.Steps.push_back(originStep(*All.Module));
    if (Eval)
      F.Steps.push_back({Eval->getExprLoc(), "the module is there to predict: "
                                             "it is in evaluation mode"});
    bool Always = false;
    const Stmt *Whole = statementAround(Site, nullptr, Flow, Always);
    if (Whole && !llvm::is_contained(All.Cuts, ""))
      F.Fix = fixits::insertAfterStatement(
          Whole,
          llvm::join(All.Cuts,
                     ("\n" + fixits::indentationAt(Whole->getBeginLoc(),
                                                   Unit.context()))
                         .str()),
          Unit.context());
    report(F);
  }
}

void UndetachedHiddenStateCheck::checkFunction(const FunctionFlow &Flow,
                                               flow::UnitModel &Unit) {
  checkMembers(Flow, Unit);
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
    llvm::SmallVector<std::string, 2> Names;
    for (const CarriedGraph &Graph : Graphs)
      Names.push_back(Flow.nameOf(Graph.Made->Where));
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
    if (Retained)
      F.Message = carrying(Names) +
                  " the autograd graph into the next iteration, and "
                  "retain_graph keeps all of it: each backward() goes through "
                  "the graphs of all iterations so far, and none is freed";
    else
      F.Message = carrying(Names) +
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
    report(F);
  }
}

LIBTORCH_CHECK(UndetachedHiddenStateCheck, NoReasons);

} // namespace libtorch_tidy
