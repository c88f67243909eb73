//===- LongLivedIntermediateCheck.cpp -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/guards/Arbiter.h"
#include "checks/history/HeldMemory.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

constexpr struct LongLivedIntermediateReasons {
  Reason NoGraph{"no-graph", Effect::Advice,
                 "Only the tensor itself is kept: gradient mode is off, "
                 "`backward()` ran, or another finding asks for a guard."};
  Reason CallersMode{"callers-mode", Effect::Advice,
                     "It is in the `forward` of a module, or in a method of "
                     "one that returns history: whoever calls that decides "
                     "whether there is a graph."};
  Reason UnseenCallee{"unseen-callee", Effect::Advice,
                      "It goes through a function that cannot be seen and "
                      "makes a tensor of it."};
  Reason OneCall{"one-call", Effect::Advice,
                 "It is held during one call of a module, or during an "
                 "operator that computes much, not during a loop of modules."};
  Reason SomeSize{"operator-result", Effect::Advice,
                  "No module, matrix product or convolution takes part in what "
                  "is held: it is as large as the operands of an operator."};
  Reason OnlyNumber{"number-read-later", Effect::Advice,
                    "Its size, or another property, is read later: that can be "
                    "read before."};
  Reason SomePaths{"kept-on-some-paths", Effect::Advice,
                   "Something else holds it where one branch ran, and not "
                   "where another did."};
  Reason OfPart{"part-kept", Effect::Advice,
                "Something else holds one of its parts, and not the others."};
  Reason CallersCopy{"callers-copy", Effect::Advice,
                     "A function takes it by value and replaces its own copy, "
                     "which moving it in would free."};
  Reason OfInput{"computed-from-input", Effect::Advice,
                 "It is what `forward` computes from its input, whose history "
                 "is the caller's."};
  Reason OpenMember{"open-member", Effect::Advice,
                    "Other files may use the member: it is a public one of a "
                    "class in a header, or not all methods of its class are in "
                    "this file."};
  Reason CallersGuard{"callers-guard", Effect::Silent,
                      "The function is called under a guard only."};
  Reason PassReported{"pass-reported", Effect::Silent,
                      "A guard that [libtorch-inference-without-no-grad]"
                      "(libtorch-inference-without-no-grad.md) asks for "
                      "leaves no graph to keep: that finding names the member "
                      "in its notes."};
  Reason Small{"small-result", Effect::Silent,
               "It is a loss or another small reduced result."};
  Reason Captured{"captured", Effect::Silent, "A lambda captures it."};
  Reason Carried{"carried-over", Effect::Silent,
                 "It is computed from what the iteration before made: a hidden "
                 "state, a moving average."};
  Reason LetGo{"let-go", Effect::Silent,
               "Each iteration gives it an empty value at its end."};
  Reason KeptElsewhere{"kept-elsewhere", Effect::Silent,
                       "Something else holds it, too, a loop may have taken it "
                       "out of its list, or it is returned or handed to code "
                       "that cannot be seen."};
  Reason Used{"history-used", Effect::Silent,
              "The history of the member is used elsewhere in the file: "
              "`backward()` in another method."};
  Reason Overwritten{"overwritten", Effect::Silent,
                     "The member is given another value before the function "
                     "returns."};
  Reason SeveralNames{"several-names", Effect::NoFix,
                      "Several variables hold it, or it is no tensor and no "
                      "container of tensors that could let go of it there."};
  Reason CannotMove{"cannot-move", Effect::NoFix,
                    "The declaration cannot move, and there is no tensor that "
                    "could be let go of after its last use."};
  Reason UsedHere{"history-used-here", Effect::NoFix,
                  "The function goes on to use the history of the member."};
  Reason Unread{"member-unread", Effect::NoFix,
                "Nothing reads the member: it can be removed."};
} LongLivedIntermediate{};

using Refs = llvm::SmallVector<const DeclRefExpr *, 4>; ///< In source order.

/// A variable that is declared before the loop that makes it, although each
/// iteration makes it again: the old one is alive while the next is computed.
struct Outer {
  const VarDecl *Var;
  const Stmt *Declared;
  const Stmt *First, *Last; ///< Of an iteration, that use it; First assigns it.
  const Label *Graph = nullptr; ///< That it keeps; null when there is none.
  const Reason *Silence = nullptr;
  bool IsReported = false; ///< A weaker finding asks for a guard of its pass.
  bool IsOfCaller = false; ///< Whoever calls the function decides on the mode.

  bool isReleased() const {
    return !Graph || (Graph->Consumers & Label::Backward);
  }
};

/// A member or static that is set to a tensor with its graph, which nothing
/// uses later: the last graph lives on between calls.
struct Kept {
  const Label &Carry;
  const CXXOperatorCallExpr *Assign;
  const FieldDecl *Field; ///< Null for a static.
  /// Null when it is computed from forward()'s input.
  const Label *Source = nullptr;
  const Reason *Weaker = nullptr, *Silence = nullptr;
};

/// `x = value` as a statement, with x the whole variable: the value, else null.
const Expr *assignedTo(const Stmt *S, const VarDecl *V) {
  const auto *E = dyn_cast<Expr>(S);
  const auto *Op = E ? dyn_cast<CallExpr>(cpp::peel(E)) : nullptr;
  return cpp::isAssignment(Op) && cpp::variableOf(Op->getArg(0)) == V
             ? Op->getArg(1)
             : nullptr;
}

/// The statement of \p Block that \p S is in.
const Stmt *statementIn(const CompoundStmt *Block, const Stmt *S,
                        const FunctionFlow &Flow) {
  while (S && Flow.parentOf(S) != Block)
    S = Flow.parentOf(S);
  return S;
}

/// The innermost block that holds all of \p Refs.
const CompoundStmt *blockOf(ArrayRef<const DeclRefExpr *> Refs,
                            const FunctionFlow &Flow) {
  for (const Stmt *S = Refs.front(); S; S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      if (llvm::all_of(Refs, [&](const DeclRefExpr *Ref) {
            return Flow.isWithin(Ref, Block);
          }))
        return Block;
  return nullptr;
}

/// Lets go of what \p V holds after \p Last. `= {}` is ambiguous for a tensor.
fixits::Edits letGo(const VarDecl *V, const Stmt *Last,
                    const ASTContext &Context) {
  return fixits::insertAfterStatement(
      Last,
      (V->getName() + " = " + torch::spelling::UndefinedTensor + ";").str(),
      Context);
}

/// Whose graph \p Statement leaves in a variable; of several labels the last.
const Label *madeIn(const Stmt *Statement, const FunctionFlow &Flow) {
  const Label *Source = nullptr;
  for (const Label &L : Flow.labels())
    if (L.K == Label::Carry && L.Site && Flow.isWithin(L.Site, Statement))
      for (flow::LabelId From : L.Assigned)
        if (const Label &O = Flow.label(From);
            O.bringsHistory() && O.Arises && O.K != Label::Leaf)
          Source = &O;
  return Source;
}

std::optional<Outer> decideOuter(const VarDecl *V, const Refs &Uses,
                                 const FunctionFlow &Flow,
                                 const Arbiter &Guards,
                                 llvm::function_ref<Amount()> SizeOf) {
  if (!torch::mayHoldTensor(V->getType()) || torch::isModule(V->getType()))
    return std::nullopt;
  const Stmt *Declared = Flow.declarationOf(V);
  const CompoundStmt *Block = blockOf(Uses, Flow);
  if (!Declared || !Block || Flow.isWithin(Declared, Block))
    return std::nullopt;
  const Stmt *First = statementIn(Block, Uses.front(), Flow);
  const Stmt *Last = statementIn(Block, Uses.back(), Flow);
  const Expr *Made = First ? assignedTo(First, V) : nullptr;
  cpp::Body &In = cpp::Body::of(Flow.function());
  const Stmt *Loop = In.loopAround(Block);
  if (!Made || !Loop || In.isWithin(Declared, Loop))
    return std::nullopt;
  const Label *Source = madeIn(First, Flow);
  Outer Found = {V, Declared, First, Last};
  if (Source && Source->Mode == GradMode::On &&
      !Guards.findingOf(*Source, Level::Likely))
    Found.Graph = Source;
  else if (!torch::asModuleCall(cpp::stripImplicit(Made)) && !isWeighty(Made))
    return std::nullopt; // It is not large.
  Found.IsReported = Source && Guards.findingOf(*Source);

  const Expr *Final = assignedTo(Last, V);
  // What operators make of large tensors is no number, whatever its name is.
  if ((torch::namesLoss(V->getName()) ||
       isSmall(In.originOf(wholeValue(Made)))) &&
      !(Found.isReleased() && factsOf(Made) && SizeOf() == Amount::Large))
    Found.Silence = &LongLivedIntermediate.Small;
  else if (llvm::any_of(Uses, [&](const DeclRefExpr *Ref) {
             return In.around<LambdaExpr>(Ref);
           }))
    Found.Silence = &LongLivedIntermediate.Captured;
  else if (Uses.size() > 1 && Flow.isWithin(Uses[1], Made))
    Found.Silence = &LongLivedIntermediate.Carried;
  else if (Last != First && Final && cpp::isEmptyValue(Final))
    Found.Silence = &LongLivedIntermediate.LetGo;
  else if (Source && (Source->Consumers &
                      (Label::Returned | Label::Stored | Label::Escaped)))
    Found.Silence = &LongLivedIntermediate.KeptElsewhere;
  return Found;
}

Finding worded(const Outer &Found, const ASTContext &Context) {
  const std::string Name = quoted(Found.Var);
  Finding F =
      Finding::at(Found.Var->getLocation())
          .because(Found.Silence)
          .says("wasted peak memory: " + Name +
                " is declared outside the loop that makes it, so " +
                (Found.isReleased() ? "the tensor stays"
                                    : "the tensor and its graph stay") +
                " alive while the next iteration computes the new one")
          .remedy("declare it inside the loop")
          .note(Found.First->getBeginLoc(),
                "each iteration assigns " + Name + " here before it reads it");
  if (Found.isReleased() || Found.IsReported)
    F.because(LongLivedIntermediate.NoGraph);
  else if (Found.IsOfCaller)
    F.because(LongLivedIntermediate.CallersMode);
  if (!Found.isReleased() && Found.Graph->Consumers)
    F.because(LongLivedIntermediate.UnseenCallee);
  if (Found.Graph)
    F.note(LibtorchCheck::originStep(*Found.Graph));
  if (const auto *DS = dyn_cast<DeclStmt>(Found.Declared))
    F.fix(fixits::sinkDeclaration(DS, cast<Expr>(Found.First), Context));
  if (!F.Fix.empty())
    return F;
  // A declaration that cannot move.
  if (!torch::isTensor(Found.Var->getType()) ||
      isa<ReturnStmt, BreakStmt, ContinueStmt>(Found.Last))
    return F.because(LongLivedIntermediate.CannotMove);
  return F.fix(letGo(Found.Var, Found.Last, Context));
}

/// Fewer bytes than these do not matter next to a module.
constexpr uint64_t Notable = 1 << 20;

/// Why what \p Held says is no finding; null when it is one. \p Bytes are
/// those that it takes, where they are known.
const Reason *silenceOf(const HeldMemory &Held, std::optional<uint64_t> Bytes) {
  switch (Held.Else) {
  case MemoryNames::Holder::Lambda:
    return &LongLivedIntermediate.Captured;
  case MemoryNames::Holder::Returned:
  case MemoryNames::Holder::Other:
    return &LongLivedIntermediate.KeptElsewhere;
  case MemoryNames::Holder::None:
    break;
  }
  const bool IsLoss = llvm::any_of(Held.Vars, [](const VarDecl *V) {
    return torch::namesLoss(V->getName());
  });
  return Bytes ? (*Bytes < Notable ? &LongLivedIntermediate.Small : nullptr)
         : Held.Size == Amount::Filled || (IsLoss && Held.Size < Amount::Large)
             ? &LongLivedIntermediate.Small
             : nullptr;
}

/// What runs at the heavy point: 'net'.
std::string runningAt(const HeldMemory &Held) {
  const std::string Module = torch::calledModule(Held.Heavy);
  if (!Module.empty())
    return quoted(Module);
  const auto *Callee = dyn_cast_or_null<NamedDecl>(Held.Heavy->getCalleeDecl());
  return Callee && Callee->getDeclName().isIdentifier() ? quoted(Callee)
                                                        : "this call";
}

/// The edit that lets go of what \p Held says; none if no edit is sure to be
/// right.
fixits::Edits letGo(const HeldMemory &Held, const FunctionFlow &Flow,
                    const ASTContext &Context) {
  const VarDecl *V = Held.Vars.front();
  if (Held.Moved)
    return fixits::replaceExpression(
        Held.Moved, ("std::move(" + V->getName() + ")").str(), Context);
  const Stmt *Last = lastUseBefore(Held, Flow.function());
  if (Held.Vars.size() > 1 || Held.OnlyNumber || !Last ||
      V->getType().isConstQualified() || V->getName().empty())
    return {};
  if (torch::isTensor(V->getType()))
    return letGo(V, Last, Context);
  const llvm::StringRef Method = torch::releaseMethod(V->getType());
  return Method.empty()
             ? fixits::Edits()
             : fixits::insertAfterStatement(
                   Last, (V->getName() + "." + Method + "();").str(), Context);
}

llvm::SmallVector<std::string, 2> namesOf(const HeldMemory &Held) {
  llvm::SmallVector<std::string, 2> Names;
  for (const VarDecl *V : Held.Vars)
    if (const auto *Parts = dyn_cast<DecompositionDecl>(V))
      for (const BindingDecl *Part : Parts->bindings())
        Names.push_back(quoted(Part));
    else
      Names.push_back(quoted(V));
  return Names;
}

Finding worded(const HeldMemory &Held, std::optional<uint64_t> Bytes,
               const FunctionFlow &Flow, const ASTContext &Context) {
  const llvm::SmallVector<std::string, 2> Names = namesOf(Held);
  const bool Several = Names.size() > 1;
  const std::string Runs = runningAt(Held);
  const std::string Name = listed(Names);
  const std::string Them = Several ? "them" : "it";
  const std::string Last = Several ? " are last used" : " is last used";
  const bool Unread = !Held.Moved && !Held.OnlyNumber && !Held.LastRead;
  const std::string Memory = Several
                                 ? ", but their memory stays allocated while "
                                 : ", but its memory stays allocated while ";
  const std::string What =
      Held.Moved ? " is not used again, but " + Runs +
                       " gets a copy of the handle: the memory stays allocated "
                       "when it "
                       "replaces its own"
      : Held.OnlyNumber
          ? ": only sizes or the like are read later" + Memory + Runs + " runs"
      : Held.OfLastRound
          ? std::string(" of the last round ") + (Several ? "stay" : "stays") +
                " alive while " + Runs + " runs, and nothing reads " + Them +
                " again"
      : Held.Loop && Held.RunsModule
          ? (Unread ? "" : Last + " before the loop") + Memory +
                "the loop runs a module"
          : (Unread ? "" : Last + " before " + Runs + " runs") + Memory +
                (Unread ? Runs + " runs" : "it does");
  Finding F = Finding::at(Held.Vars.front()->getLocation())
                  .because(silenceOf(Held, Bytes))
                  .says("wasted peak memory: " +
                        (Unread ? "nothing reads " + Name : Name) + What)
                  .remedy(Held.Moved ? "std::move() it"
                          : Held.OnlyNumber
                              ? "keep the sizes, and reset " + Them + " first"
                              : "reset " + Them + " first")
                  .bytes(Bytes);
  if (Held.Unseen)
    F.because(LongLivedIntermediate.UnseenCallee);
  if (Held.OnlyNumber)
    F.because(LongLivedIntermediate.OnlyNumber);
  if (Held.SomePaths)
    F.because(LongLivedIntermediate.SomePaths);
  if (Held.OfPart)
    F.because(LongLivedIntermediate.OfPart);
  if (Held.Moved)
    F.because(LongLivedIntermediate.CallersCopy);
  if (!Held.Loop || !Held.RunsModule)
    F.because(LongLivedIntermediate.OneCall);
  if (Held.Size < Amount::Large && !Bytes)
    F.because(LongLivedIntermediate.SomeSize);
  if (Held.LastRead && !Held.Moved) {
    const Stmt *In = Held.LastRead;
    while (isa_and_nonnull<Expr, DeclStmt>(Flow.parentOf(In)))
      In = Flow.parentOf(In);
    F.note(In->getBeginLoc(), Name + Last + " here");
  }
  if (Held.KeptBy)
    F.note(Held.KeptBy,
           Held.OfPart
               ? "one part of " + Name +
                     " is kept elsewhere, from here on, and not the others"
               : Name + (Several ? " are" : " is") +
                     " kept elsewhere, from here on, and not on the way around "
                     "this");
  if (Held.Loop && Held.RunsModule)
    F.note(Held.Loop->getBeginLoc(), "this loop runs a module");
  else
    F.note(Held.Heavy, Runs + " runs here");
  F.fix(letGo(Held, Flow, Context));
  if (F.Fix.empty())
    F.because(LongLivedIntermediate.SeveralNames);
  return F;
}

/// Does a module's forward() keep what it computes from its input in \p Field,
/// although nothing reads it but \p F, after it has set it?
bool isLeftOver(const FieldDecl *Field, const Expr *Set, const FunctionDecl *F,
                flow::UnitModel &Unit) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  const SourceManager &SM = Unit.context().getSourceManager();
  return Method && F->getNameAsString() == "forward" &&
         torch::isModule(compat::recordType(Method->getParent())) &&
         Unit.seesAllUses(Field, /*Alone=*/true) &&
         llvm::none_of(Unit.functions(), [&](const FunctionDecl *User) {
           return cpp::anyOf<MemberExpr>(
               User->getBody(), [&](const MemberExpr *Ref) {
                 return Ref->getMemberDecl() == Field &&
                        !isa<CXXConstructorDecl>(User) &&
                        (User != F || !cpp::comesBefore(Set, Ref, SM)) &&
                        !cpp::Body::of(User).isWithin(Ref, Set);
               });
         });
}

std::optional<Kept> decideKept(const Label &L, const FunctionFlow &Flow,
                               flow::UnitModel &Unit, const Arbiter &Guards) {
  const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(L.Site);
  if (L.K != Label::Carry || !Assign || Assign->getOperator() != OO_Equal ||
      !Flow.outlivesFunction(L.Where) ||
      Flow.accumulations().count({L.Site, L.Where}) ||
      !torch::isTensor(Assign->getArg(0)->getType()))
    return std::nullopt;
  const VarDecl *Root = Flow.rootOf(L.Where);
  const FieldDecl *Field = Flow.fieldOf(L.Where);
  if (Root ? !Root->isStaticLocal() : !Field)
    return std::nullopt;
  Kept Found = {L, Assign, Field};
  bool FromParameter = false;
  for (flow::LabelId From : L.Assigned) {
    const Label &O = Flow.label(From);
    if (O.bringsHistory() && O.Arises && O.K != Label::Leaf &&
        O.Mode == GradMode::On)
      Found.Source = &O;
    FromParameter |= O.K == Label::Entry &&
                     isa_and_nonnull<ParmVarDecl>(Flow.rootOf(O.Where));
  }
  if (!Found.Source &&
      !(FromParameter && Field && isComputed(Assign->getArg(1)) &&
        isLeftOver(Field, Assign, Flow.function(), Unit)))
    return std::nullopt;
  if (!Found.Source)
    Found.Weaker = &LongLivedIntermediate.OfInput;
  else if (Field && !Unit.seesAllUses(Field))
    Found.Weaker = &LongLivedIntermediate.OpenMember;
  if (isSmall(Assign->getArg(1)))
    Found.Silence = &LongLivedIntermediate.Small;
  else if (Field && Unit.isFieldConsumed(Field))
    Found.Silence = &LongLivedIntermediate.Used;
  else if (Field &&
           cpp::Body::of(Flow.function()).isOverwrittenAfter(Field, Assign))
    Found.Silence = &LongLivedIntermediate.Overwritten;
  else if (Found.Source && Guards.findingOf(*Found.Source))
    Found.Silence = &LongLivedIntermediate.PassReported;
  return Found;
}

/// Are \p A and \p B told in one finding, with one level and a fix for both?
bool isLike(const Kept &A, const Kept &B, const FunctionFlow &Flow) {
  auto IsUsed = [](const Kept &K) {
    return (K.Carry.Consumers & ~Label::Stored) != 0;
  };
  return A.Source && B.Source && !A.Silence && !B.Silence &&
         A.Weaker == B.Weaker && IsUsed(A) == IsUsed(B) &&
         !Flow.isWithin(A.Assign, B.Assign) &&
         !Flow.isWithin(B.Assign, A.Assign);
}

Finding worded(llvm::ArrayRef<Kept> All, const FunctionFlow &Flow,
               const ASTContext &Context) {
  const Kept &Found = All.front();
  const bool Single = All.size() == 1;
  llvm::SmallVector<std::string, 2> Names;
  for (const Kept &K : All)
    Names.push_back(quoted(Flow.nameOf(K.Carry.Where)));
  Finding F =
      Finding::at(Found.Assign)
          .because(Found.Silence)
          .because(Found.Weaker)
          .says("wasted memory: " + listed(Names) +
                (!Found.Source ? " keeps what forward() computed alive until "
                                 "the next call, in training with its autograd "
                                 "graph, and nothing reads it"
                 : Single ? " keeps the tensor and its autograd graph alive "
                            "after the function returns, and nothing in this "
                            "unit needs that graph"
                          : " keep the tensors and their autograd graphs alive "
                            "after the function returns, and nothing in this "
                            "unit needs those graphs"))
          .remedy(!Found.Source ? "make it a local variable"
                  : Single      ? "store its detach()"
                                : "store their detach()");
  if (Single)
    F.bytesOf(Found.Assign->getArg(1));
  for (const Kept &K : All)
    if (K.Field)
      F.note(LibtorchCheck::memberStep(K.Field));
    else
      F.note(Flow.rootOf(K.Carry.Where),
             "static " + quoted(Flow.nameOf(K.Carry.Where)) +
                 " lives until the program ends");
  if (!Found.Source)
    return F.because(LongLivedIntermediate.Unread);
  llvm::SmallPtrSet<const Label *, 2> Told;
  for (const Kept &K : All)
    if (Told.insert(K.Source).second)
      F.note(LibtorchCheck::originStep(*K.Source));
  // Cut only what this function does not go on to use with its history.
  if (Found.Carry.Consumers & ~Label::Stored)
    return F.because(LongLivedIntermediate.UsedHere);
  for (const Kept &K : All)
    F.fix(fixits::detachOperand(K.Assign->getArg(1), Context));
  return F;
}

/// docs/checks/libtorch-long-lived-intermediate.md says what it finds and why.
class LongLivedIntermediateCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void checkFunction(const FunctionFlow &Flow, flow::UnitModel &Unit) override {
    const bool IsGuarded = Unit.isCalledOnlyGuarded(Flow.function());
    if (IsGuarded && !asksWhy())
      return;
    const Arbiter &Decided =
        Arbiter::decided(Unit, isEnabled(Arbiter::ReportsPasses));
    auto Report = [&](Finding F) {
      if (IsGuarded)
        F.because(LongLivedIntermediate.CallersGuard, Flow.function());
      report(std::move(F));
    };
    const cpp::Body &Body = cpp::Body::of(Flow.function());
    llvm::MapVector<const VarDecl *, Refs> Uses;
    cpp::forEach<DeclRefExpr>(Body.root(), [&](const DeclRefExpr *E) {
      const auto *V = dyn_cast<VarDecl>(E->getDecl());
      if (V && V->isLocalVarDecl() && !V->isStaticLocal() &&
          !V->getType()->isReferenceType() && !V->getType()->isPointerType())
        Uses[V].push_back(E);
    });
    llvm::SmallPtrSet<const VarDecl *, 4> Outside;
    std::optional<bool> IsOfCaller; // Asked once, and only where it matters.
    for (const auto &[V, Of] : Uses)
      if (auto Found = decideOuter(V, Of, Flow, Decided, [&, V = V] {
            const MemoryNames &Names =
                MemoryNames::of(Flow.function(), Unit, Known);
            const std::optional<unsigned> Var = Names.indexOf(V);
            return Var ? Names.groupOf(*Var).Size : Amount::Some;
          })) {
        Outside.insert(V);
        if (!IsOfCaller)
          IsOfCaller = Arbiter::leftToCallers(Flow, Unit) != nullptr;
        Found->IsOfCaller = *IsOfCaller;
        Report(worded(*Found, Unit.context()));
      }
    for (const HeldMemory &Held :
         heldThoughDead(Flow.function(), Unit, Known, asksWhy()))
      if (llvm::none_of(Held.Vars,
                        [&](const VarDecl *V) { return Outside.contains(V); }))
        Report(worded(Held, bytesOf(Held.Value), Flow, Unit.context()));
    std::vector<std::vector<Kept>> Groups;
    for (const Label &L : Flow.labels())
      if (auto Found = decideKept(L, Flow, Unit, Decided)) {
        auto Like = llvm::find_if(Groups, [&](const auto &Group) {
          return llvm::all_of(
              Group, [&](const Kept &K) { return isLike(K, *Found, Flow); });
        });
        if (Like != Groups.end())
          Like->push_back(*Found);
        else
          Groups.push_back({*Found});
      }
    for (const auto &Group : Groups)
      Report(worded(Group, Flow, Unit.context()));
  }

private:
  MemoryNamesOf Known;
};

} // namespace

LIBTORCH_CHECK(LongLivedIntermediateCheck, LongLivedIntermediate);

} // namespace libtorch_tidy
