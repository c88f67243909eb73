//===- UndetachedHiddenStateCheck.cpp -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace libtorch_tidy {

using flow::CarriedGraph;
using flow::FunctionFlow;

namespace {

constexpr struct UndetachedHiddenStateReasons {
  Reason UnseenModule{"unseen-module", Effect::Advice,
                      "The module is of another file, which may cut the state "
                      "itself."};
  Reason NotEvaluated{"purpose-unknown", Effect::Advice,
                      "It goes from call to call in a member, and nothing puts "
                      "the module in evaluation mode, which would say that it "
                      "is there to predict."};
  Reason CallersGuard{"callers-guard", Effect::Silent,
                      "The function is called under a guard only."};
  Reason MayBeCut{"may-be-cut", Effect::Silent,
                  "Something in the loop may cut the state: it is detached or "
                  "assigned under a condition, in a lambda, or in a loop over "
                  "its parts."};
  Reason Unused{"never-used", Effect::Silent,
                "Nothing uses the member: [libtorch-accumulated-history]"
                "(libtorch-accumulated-history.md) reports that."};
  Reason Written{"written-elsewhere", Effect::Silent,
                 "Another function gives the member another value, perhaps for "
                 "a new sequence; or functions of other files can."};
  Reason Used{"history-used", Effect::Silent,
              "The member is back-propagated through, or handed to code that "
              "cannot be seen."};
  Reason InParts{"state-in-parts", Effect::NoFix,
                 "The state is in a struct, a container or an optional."};
  Reason SeveralLoops{"several-loops", Effect::NoFix,
                      "The states of one call are carried by different loops, "
                      "or `backward()` goes through them at different "
                      "places."};
  Reason NoPlace{"no-place-to-cut", Effect::NoFix,
                 "`backward()` or the assignment is in a branch without "
                 "braces; or `backward()` runs in some iterations only, and "
                 "the state is not defined before the loop."};
} UndetachedHiddenState{};

/// The variable, or the member of this, that \p P is; null for parts of others.
const ValueDecl *declOf(flow::PlaceId P, const FunctionFlow &Flow) {
  const flow::Place &Here = Flow.place(P);
  if (!Here.Parent)
    return Here.Root;
  const flow::Place &Above = Flow.place(*Here.Parent);
  return !Above.Parent && !Above.Root ? Here.Part->Field : nullptr;
}

/// `h = h.detach();`, also for a tuple of tensors; empty for other types.
std::string cutting(StringRef Name, QualType T) {
  T = T.getNonReferenceType();
  if (torch::isTensor(T))
    return (Name + " = " + Name + ".detach();").str();
  const CXXRecordDecl *R = cpp::recordOf(T);
  const bool IsPair = cpp::isStdClass(R, {"pair"});
  if (!IsPair && !cpp::isStdClass(R, {"tuple"}))
    return {};
  bool AreTensors = true;
  llvm::SmallVector<std::string, 2> Parts;
  cpp::forEachArgument(R, [&](QualType Part) {
    AreTensors &= torch::isTensor(Part);
    Parts.push_back("std::get<" + std::to_string(Parts.size()) + ">(" +
                    Name.str() + ").detach()");
  });
  return Parts.empty() || !AreTensors
             ? ""
             : (Name + " = std::make_" + (IsPair ? "pair" : "tuple") + "(" +
                llvm::join(Parts, ", ") + ");")
                   .str();
}

/// Does it hold tensors before the loop starts?
bool isDefinedBefore(const ValueDecl *D) {
  const auto *Var = dyn_cast<VarDecl>(D);
  return Var && (isa<ParmVarDecl>(Var) ||
                 (Var->getInit() && !cpp::isEmptyValue(Var->getInit())));
}

/// The statement of a block that \p S is in, and whether every iteration of
/// \p Loop comes there. Null where what stands after it would not always
/// follow \p S: in a branch without braces.
const Stmt *statementAround(const Stmt *S, const Stmt *Loop,
                            const FunctionFlow &Flow, bool &Always) {
  Always = false;
  while (S && !isa_and_nonnull<CompoundStmt>(Flow.parentOf(S))) {
    S = Flow.parentOf(S);
    const auto *Operator = dyn_cast_or_null<BinaryOperator>(S);
    if (isa_and_nonnull<IfStmt, AbstractConditionalOperator>(S) ||
        cpp::isLoop(S) || (Operator && Operator->isLogicalOp()))
      return nullptr;
  }
  if (!S)
    return nullptr;
  const Stmt *Block = Flow.parentOf(S);
  while (Block && isa<CompoundStmt>(Block) && Flow.parentOf(Block) != Loop)
    Block = Flow.parentOf(Block);
  Always = Block && isa<CompoundStmt>(Block);
  return S;
}

bool retains(const Expr *Backward) {
  std::optional<torch::BackwardCall> Call =
      torch::asBackward(dyn_cast<CallExpr>(Backward));
  return Call && Call->RetainGraph != torch::Flag::False;
}

/// `h.detach();` looks as if it cut the graph of \p Graphs.
void noteDiscardedDetach(llvm::ArrayRef<CarriedGraph> Graphs,
                         const FunctionFlow &Flow, Finding &F) {
  const cpp::Body &In = cpp::Body::of(Flow.function());
  cpp::forEachCall(Graphs.front().Loop, [&](const CallExpr *Detach) {
    std::optional<torch::PureOp> Op = torch::asPureOp(Detach);
    if (!isa<CXXMemberCallExpr>(Detach) || !Op ||
        Op->Kind != torch::PureKind::Detach ||
        !isa_and_nonnull<CompoundStmt>(In.outerOf(Detach)))
      return;
    const ValueDecl *D = cpp::rootOf(Op->Tensor);
    if (llvm::any_of(Graphs, [&](const CarriedGraph &Graph) {
          return D && D == declOf(Graph.Made->Where, Flow);
        }))
      F.note(Detach, "this changes nothing: its result is discarded");
  });
}

/// \p Cuts, a line each, as deep as \p Next.
std::string lines(llvm::ArrayRef<std::string> Cuts, const Stmt *Next,
                  const ASTContext &Context) {
  return llvm::join(
      Cuts, ("\n" + fixits::indentationAt(Next->getBeginLoc(), Context)).str());
}

/// The fix of \p F: detaches all of \p Graphs, which \p Site carries on, at the
/// head of the loop's body where they are always defined and each iteration
/// runs backward(), else after backward().
Finding &cutGraphs(Finding &F, const Expr *Site,
                   llvm::ArrayRef<CarriedGraph> Graphs,
                   const FunctionFlow &Flow, ASTContext &Context) {
  const auto &Rows = UndetachedHiddenState;
  const CarriedGraph &First = Graphs.front();
  bool EachTime = false;
  const Stmt *Backward =
      statementAround(First.Spent->Site, First.Loop, Flow, EachTime);
  const auto *Body = dyn_cast_or_null<CompoundStmt>(cpp::bodyOf(First.Loop));
  if (!Backward)
    return F.because(Rows.NoPlace);
  bool Defined = true;
  llvm::SmallVector<std::string, 2> Cuts;
  for (const CarriedGraph &Graph : Graphs) {
    const ValueDecl *D = declOf(Graph.Made->Where, Flow);
    Cuts.push_back(D ? cutting(Flow.nameOf(Graph.Made->Where), D->getType())
                     : "");
    if (Cuts.back().empty())
      return F.because(Rows.InParts);
    if (Graph.Loop != First.Loop || Graph.Spent->Site != First.Spent->Site)
      return F.because(Rows.SeveralLoops);
    Defined &= isDefinedBefore(D);
  }
  if (EachTime && Defined && Body)
    return F.fix(fixits::insertAtBlockHead(
        Body, lines(Cuts, Body->body_front(), Context), Context));
  // What is undefined cannot be detached, and after both it is not. A cut in
  // each iteration would be too many where backward() runs now and then.
  const bool MadeLater =
      !Defined && !Context.getSourceManager().isBeforeInTranslationUnit(
                      Site->getExprLoc(), Backward->getBeginLoc());
  const Stmt *Last = Backward;
  if (MadeLater)
    Last =
        EachTime ? statementAround(Site, First.Loop, Flow, EachTime) : nullptr;
  return Last ? F.fix(fixits::insertAfterStatement(
                    Last, lines(Cuts, Backward, Context), Context))
              : F.because(Rows.NoPlace);
}

/// Is \p Field written anywhere but by \p Site and by constructors?
bool isWrittenElsewhere(const FieldDecl *Field, const Expr *Site,
                        const flow::UnitModel &Unit) {
  return flow::fieldElsewhere(Field).IsWritten ||
         llvm::any_of(Unit.functions(), [&](const FunctionDecl *F) {
           cpp::Body &In = cpp::Body::of(F);
           return !isa<CXXConstructorDecl>(F) &&
                  llvm::any_of(In.writesTo(Field), [&](const cpp::Write &W) {
                    return !In.isWithin(W.Where, Site);
                  });
         });
}

/// What is done, anywhere in the program, with what \p Field held before a
/// call.
unsigned consumersOf(const FieldDecl *Field, flow::UnitModel &Unit) {
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
const CallExpr *evalAt(const Expr *Site, flow::UnitModel &Unit) {
  const std::optional<torch::ModuleCall> M = torch::asModuleCall(Site);
  cpp::Body *In = cpp::Body::around(Site, Unit.context());
  const Expr *Module = M && In ? M->Module : nullptr;
  for (unsigned I = 0; Module && I < cpp::MaxChase; ++I) {
    for (const ValueDecl *Named : torch::modulesNamed(Module, *In))
      if (const CallExpr *Eval = Unit.scan().calls().Evals.lookup(Named))
        return Eval;
    const auto *Member = dyn_cast<MemberExpr>(cpp::stripPointers(Module));
    Module = Member ? cpp::stripPointers(Member->getBase()) : nullptr;
  }
  return nullptr;
}

/// "'h' and 'c' carry", "'h' carries".
std::string carrying(llvm::ArrayRef<std::string> Names) {
  llvm::SmallVector<std::string, 2> Quoted;
  for (const std::string &Name : Names)
    Quoted.push_back(quoted(Name));
  return listed(Quoted) + (Names.size() == 1 ? " carries" : " carry");
}

const char *them(llvm::ArrayRef<std::string> Names) {
  return Names.size() == 1 ? "it" : "them";
}

/// What a call leaves in members that the next one begins with.
struct CarriedMembers {
  llvm::SmallVector<std::string, 2> Names, Cuts;
  const FieldDecl *First;
  const flow::Label *Module;
};

/// Why \p Field, which \p Site gives a value, does not keep the graphs of all
/// calls, or is reported elsewhere; null when it does.
const Reason *whyNotKept(const FieldDecl *Field, const Expr *Site,
                         flow::UnitModel &Unit) {
  const auto &Rows = UndetachedHiddenState;
  if (!Unit.seesAllUses(Field))
    return &Rows.Written;
  if (!Unit.isFieldConsumed(Field))
    return &Rows.Unused;
  if (isWrittenElsewhere(Field, Site, Unit))
    return &Rows.Written;
  return consumersOf(Field, Unit) &
                 (flow::Label::Backward | flow::Label::Escaped)
             ? &Rows.Used
             : nullptr;
}

Finding worded(const Expr *Site, const CarriedMembers &All,
               const FunctionFlow &Flow, flow::UnitModel &Unit) {
  const CallExpr *Eval = evalAt(All.Module->Site, Unit);
  Finding F =
      Finding::at(Site)
          .says("memory growth: " + carrying(All.Names) +
                " the autograd graph from call to call, and nothing detaches "
                "or resets it, so the graphs of all calls stay in memory")
          .remedy(llvm::Twine("detach ") + them(All.Names) + " after each call")
          .note(LibtorchCheck::memberStep(All.First))
          .note(LibtorchCheck::originStep(*All.Module))
          .runsWith(Site, Unit.context());
  if (Eval)
    F.note(Eval, "the module is there to predict: it is in evaluation mode");
  else
    F.because(UndetachedHiddenState.NotEvaluated);
  if (llvm::is_contained(All.Cuts, ""))
    return F.because(UndetachedHiddenState.InParts);
  bool Always = false;
  const Stmt *Whole = statementAround(Site, nullptr, Flow, Always);
  if (!Whole)
    return F.because(UndetachedHiddenState.NoPlace);
  return F.fix(fixits::insertAfterStatement(
      Whole, lines(All.Cuts, Whole, Unit.context()), Unit.context()));
}

Finding worded(const Expr *Site, llvm::ArrayRef<CarriedGraph> Graphs,
               const FunctionFlow &Flow, ASTContext &Context) {
  const CarriedGraph &First = Graphs.front();
  llvm::SmallVector<std::string, 2> Names;
  for (const CarriedGraph &Graph : Graphs)
    Names.push_back(Flow.nameOf(Graph.Made->Where));
  const bool Retained =
      retains(First.Spent->Site) || retains(First.Spent->BackwardAt);
  Finding F = Finding::at(Site).says(
      (Retained ? "memory growth: " : "use of a freed graph: ") +
      carrying(Names) + " the autograd graph into the next iteration, and " +
      (Retained
           ? "retain_graph keeps all of it: each backward() goes through the "
             "graphs of all iterations so far, and none is freed"
           : "the next backward() fails: the one before has freed that graph"));
  F.remedy(llvm::Twine("detach ") + them(Names) + " between iterations");
  F.runsWith(Site, Context);
  std::optional<torch::ModuleCall> M = torch::asModuleCall(First.Module->Site);
  const auto *Call = dyn_cast<CallExpr>(First.Module->Site);
  if (M && !M->Body && !(Call && torch::isTorchDecl(Call->getDirectCallee())))
    F.because(UndetachedHiddenState.UnseenModule, "it runs",
              First.Module->Site->getExprLoc());
  for (const CarriedGraph &Graph : Graphs)
    if (const VarDecl *Root = Flow.rootOf(Graph.Made->Where))
      F.note(LibtorchCheck::declarationStep(Root, /*OutsideLoop=*/true));
  F.note(LibtorchCheck::originStep(*First.Module))
      .note(First.Spent->Site,
            "backward() goes through the graph of the state here, and nothing "
            "detaches the state before the next iteration uses it");
  noteDiscardedDetach(Graphs, Flow, F);
  return cutGraphs(F, Site, Graphs, Flow, Context);
}

/// docs/checks/libtorch-undetached-hidden-state.md says what it finds and why.
/// Loops without backward() are libtorch-accumulated-history's.
class UndetachedHiddenStateCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void checkFunction(const FunctionFlow &Flow, flow::UnitModel &Unit) override {
    checkMembers(Flow, Unit);
    // One finding for each statement: std::tie(h, c) = ... makes two.
    llvm::MapVector<const Expr *, llvm::SmallVector<CarriedGraph, 2>> BySite;
    for (const CarriedGraph &Graph : flow::carriedGraphs(Flow)) {
      if (Graph.Made->How != flow::Accumulation::Rebind || !Graph.Module)
        continue;
      if (Graph.MayBeCut)
        silent(Graph.Made->Site, UndetachedHiddenState.MayBeCut,
               quoted(Flow.nameOf(Graph.Made->Where)));
      else
        BySite[Graph.Made->Site].push_back(Graph);
    }
    for (const auto &[Site, Graphs] : BySite)
      reportUnguarded(worded(Site, Graphs, Flow, Unit.context()), Flow, Unit);
  }

private:
  /// A state in a member that each call of a method computes from the one
  /// before, and that nobody detaches or resets: the graphs of all calls live
  /// on. Whether somebody trains does not matter: a second backward() would
  /// meet the graph that the first has freed.
  void checkMembers(const FunctionFlow &Flow, flow::UnitModel &Unit) {
    llvm::MapVector<const Expr *, CarriedMembers> BySite;
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
      if (!Module)
        continue;
      if (const Reason *Why = whyNotKept(Field, A.Site, Unit)) {
        silent(A.Site, *Why, Field);
        continue;
      }
      CarriedMembers &All =
          BySite.insert({A.Site, CarriedMembers{{}, {}, Field, Module}})
              .first->second;
      All.Names.push_back(Flow.nameOf(A.Where));
      All.Cuts.push_back(cutting(All.Names.back(), Field->getType()));
    }
    for (const auto &[Site, All] : BySite)
      reportUnguarded(worded(Site, All, Flow, Unit), Flow, Unit);
  }

  void reportUnguarded(Finding F, const FunctionFlow &Flow,
                       flow::UnitModel &Unit) {
    if (Unit.isCalledOnlyGuarded(Flow.function()))
      F.because(UndetachedHiddenState.CallersGuard, Flow.function());
    report(std::move(F));
  }
};

} // namespace

LIBTORCH_CHECK(UndetachedHiddenStateCheck, UndetachedHiddenState);

} // namespace libtorch_tidy
