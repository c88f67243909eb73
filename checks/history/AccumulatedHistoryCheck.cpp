//===- AccumulatedHistoryCheck.cpp ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/Amounts.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/guards/Arbiter.h"
#include "checks/history/AddedTerms.h"
#include "checks/history/RunAgain.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy {

using flow::Accumulation;
using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

constexpr struct AccumulatedHistoryReasons {
  Reason NoBackward{"no-backward", Effect::Likely,
                    "No `backward()` is seen to run on what is added, in this "
                    "function."};
  Reason Another{"not-in-place", Effect::Likely,
                 "It is not changed in place: it is given another tensor, or "
                 "it is a list."};
  Reason Outlives{"outlives-function", Effect::Likely,
                  "It outlives the function, and grows from call to call: a "
                  "member, a static, what a parameter or a capture names."};
  Reason Slot{"one-of-many", Effect::Advice,
              "One element of many is replaced (`v[i] = x`, `m[key] = x`)."};
  Reason UnseenCallee{"unseen-callee", Effect::Advice,
                      "What is added goes through a function that cannot be "
                      "seen, which may cut its history."};
  Reason FrozenOnSomeWays{
      "frozen-on-some-paths", Effect::Advice,
      "The parameters of the module are frozen before the "
      "pass on some paths, and no backward() shows that they are "
      "not."};
  Reason KeptByCaller{"kept-by-caller", Effect::Advice,
                      "It is a list in what a parameter names, and nothing in "
                      "this file back-propagates what it holds."};
  Reason OpenMember{"open-member", Effect::Advice,
                    "Other files may use the member: it is a public one of a "
                    "class in a header, or not all methods of its class are in "
                    "this file."};
  Reason CallersTensor{"callers-tensor", Effect::Advice,
                       "It is a parameter that is changed in place, and "
                       "nothing in this file calls the function."};
  Reason PassReported{
      "pass-reported", Effect::Advice,
      "A guard that [libtorch-inference-without-no-grad]"
      "(libtorch-inference-without-no-grad.md) asks for leaves "
      "nothing to keep: that finding names the accumulator in its notes."};
  Reason Guarded{
      "guard-active", Effect::Silent,
      "A guard is active where it is added, on some paths at least."};
  Reason HeldAgain{"held-again", Effect::Silent,
                   "It is a list that takes in what another place holds "
                   "already, and ends before more is made."};
  Reason CallersGuard{"callers-guard", Effect::Silent,
                      "The function is called under a guard only."};
  Reason GuardToBe{"guard-to-be", Effect::Silent,
                   "A guard without a name, or one declared as a function, was "
                   "meant to cover it: [libtorch-ineffective-grad-guard]"
                   "(libtorch-ineffective-grad-guard.md) reports that."};
  Reason Used{
      "history-used", Effect::Silent,
      "The accumulator reaches `backward()`, "
      "`torch::autograd::grad`, a `return` or code that cannot be "
      "seen, or it is a global of other files, too, a captured variable "
      "or a reference parameter, which others may use. When each iteration, or "
      "a "
      "function that the loop runs, calls `backward()` without "
      "keeping the graph, only the first two count: the graph of "
      "what is added is freed already."};
  Reason Unknown{"history-unknown", Effect::Silent,
                 "Code that cannot be seen makes what is added, and nothing "
                 "shows that it has history."};
  Reason Bounded{
      "gives-up-elements", Effect::Silent,
      "The container gives up old elements (`pop_front`), is emptied "
      "within the loop, though perhaps not each time, or its places "
      "are used again."};
  Reason Emptied{"emptied-first", Effect::Silent,
                 "It is a list that each call empties before it fills it."};
  Reason Layers{"layers-in-turn", Effect::Silent,
                "It is one pass through the layers of a model "
                "(`for (auto &layer : layers) x = layer(x);`), also through a "
                "helper that is given the layer."};
  Reason FewTimes{"few-iterations", Effect::Silent,
                  "The loop runs at most four times by a constant, or over a "
                  "vector that is only given braced lists as short as that."};
  Reason GuardFixes{"fixed-by-guard", Effect::NoFix,
                    "The guard of that other finding is the fix for both."};
  Reason CallersElsewhere{"callers-elsewhere", Effect::NoFix,
                          "The history is handed in by a caller, and callers "
                          "in other files may need that of the result."};
  Reason InCallee{"in-callee", Effect::NoFix,
                  "The accumulation is inside a called function."};
  Reason NoTensor{"no-tensor-expression", Effect::NoFix,
                  "What is added is not an expression of a tensor."};
} AccumulatedHistory{};

/// An accumulation of tensors with history.
struct Growth {
  const Accumulation &A;
  const Label *Source;    ///< Where the history comes from.
  const Expr *HandedInAt; ///< The call that hands it in, when it arises in a
                          ///< caller; or null.
  llvm::SmallVector<Because, 4> Why = {}; ///< Why the finding is weaker.
  const Reason *WhyNotFixed = nullptr;    ///< Null where the fix is safe.

  /// Nobody can back-propagate it again, whoever gets it: in each round
  /// backward() frees the graph of what is added.
  bool IsSpent = false;
  /// Other functions may use the history of the member that it is.
  bool IsReadElsewhere = false;

  bool isBackPropagated() const { return Source->Consumers & Label::Backward; }
};

/// Does a list that grows over the iterations of \p Caller go into the call?
/// What one iteration hands in, and gets back, dies with the iteration.
bool handsInGrownValue(const flow::UnitModel::RelayedTo &R) {
  return llvm::any_of(R.Caller->accumulations(), [&](const auto &Entry) {
    return R.Relay->Assigned.test(Entry.second.Carry);
  });
}

/// Does \p Source arise again in each iteration of a loop that \p A, of the
/// same function, is in and that its place outlives?
bool arisesInLoop(const Label &Source, const Accumulation &A,
                  const FunctionFlow &Flow) {
  const Stmt *Loop = A.Loop;
  while (Loop && !Flow.isWithin(Source.Site, Loop))
    Loop = Flow.loopFor(Loop, A.Where);
  return Loop;
}

/// The labels among \p All, which outlives the result, that bring history.
auto historyIn(const flow::LabelSet &All, const FunctionFlow &Flow) {
  return llvm::make_filter_range(
      llvm::map_range(All, [&](flow::LabelId Id) { return &Flow.label(Id); }),
      [](const Label *L) { return L->bringsHistory() && L->Arises; });
}

/// Where history of an accumulation comes from, preferring what was
/// back-propagated, then what is \p Better: that decides the message.
const Label *
sourceOf(const Accumulation &A, const flow::LabelSet &Added,
         const FunctionFlow &Flow,
         llvm::function_ref<bool(const Label &)> Better = nullptr) {
  const Label *Source = nullptr;
  for (const Label *L : historyIn(Added, Flow)) {
    // A list of parameters is not history: nothing was computed from them.
    if (!L->bringsGraph() && L->K != Label::Proven &&
        A.How != Accumulation::InPlace && A.How != Accumulation::Rebind &&
        !addsComputed(A, *L, Flow))
      continue;
    if (L->Consumers & Label::Backward)
      return L;
    if (!Source || (Better && !Better(*Source) && Better(*L)))
      Source = L;
  }
  return Source;
}

/// The first finding of those whose guards leave \p A nothing to keep. It has
/// the story and the fix.
const Arbiter::Scope *guardFor(const Accumulation &A, const FunctionFlow &Flow,
                               const Arbiter &Guards) {
  const Arbiter::Scope *First = nullptr;
  const flow::LabelSet Added = A.Added.allLabels();
  for (const Label *L : historyIn(Added, Flow)) {
    const Arbiter::Scope *Finding = Guards.findingOf(*L);
    if (!Finding && L->isParameter())
      continue; // The pass that reads it decides.
    if (!Finding)
      return nullptr;
    First = First ? First : Finding;
  }
  return First;
}

/// Is it a tensor that the caller has, too? It may go on with its history.
bool isCallersTensor(const Accumulation &A, const FunctionFlow &Flow) {
  const VarDecl *Root = Flow.rootOf(A.Where);
  return A.How == Accumulation::InPlace && isa_and_nonnull<ParmVarDecl>(Root) &&
         torch::isTensor(Root->getType());
}

/// Is it a list in what a parameter names, whose history this unit does not
/// use? Its owner may.
bool isCallersList(const Accumulation &A, const FunctionFlow &Flow,
                   flow::UnitModel &Unit) {
  return A.How == Accumulation::Contain && Flow.fieldOf(A.Where) &&
         isa_and_nonnull<ParmVarDecl>(Flow.rootOf(A.Where)) &&
         !(Unit.consumersHere(Flow.label(A.Carry), Flow) & ~Label::Computed);
}

/// Why \p A does not grow, whatever it adds; null if it does.
const Reason *boundOf(const Accumulation &A, const FunctionFlow &Flow,
                      ASTContext &Context) {
  if (A.Mode != GradMode::On)
    return &AccumulatedHistory.Guarded;
  if (A.Bounded)
    return &AccumulatedHistory.Bounded;
  if (Flow.appliesLayers(A))
    return &AccumulatedHistory.Layers;
  return cpp::runsFewTimes(A.Loop, Context) ? &AccumulatedHistory.FewTimes
                                            : nullptr;
}

/// Does backward() free, in each round or call that adds to \p G, the graphs of
/// all that is added, and nothing go through the sum or list?
bool isSpent(const Growth &G, const FunctionFlow &Flow, flow::UnitModel &Unit) {
  const Accumulation &A = G.A;
  if (G.HandedInAt || (Flow.label(A.Carry).Consumers & Label::Backward))
    return false;
  auto IsFreed = [&](const Label &L) {
    return L.BackwardAt && (!A.Loop || Flow.isWithin(L.BackwardAt, A.Loop)) &&
           (Flow.frees(L, A.Site) || Flow.freesInSome(L, A));
  };
  const VarDecl *Root = Flow.rootOf(A.Where);
  return IsFreed(*G.Source) &&
         llvm::all_of(historyIn(A.Added.allLabels(), Flow),
                      [&](const Label *L) {
                        return !L->bringsGraph() || IsFreed(*L);
                      }) &&
         (A.Loop || (!Root && Flow.addsToEntry(A)) ||
          (Root && !Root->hasGlobalStorage() && isRunAgain(Flow, Root, Unit)));
}

/// What is around the part or element of a container that \p E is; null when it
/// is neither.
const Expr *wholeOf(const Expr *E) {
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return Member->getBase();
  const auto *Call = dyn_cast<CallExpr>(E);
  const bool IsElement =
      Call && Call->isLValue() &&
      (cpp::Call(Call).op() == OO_Subscript ||
       (isa<CXXMemberCallExpr>(Call) && cpp::does(Call, cpp::Std::Element)));
  if (!IsElement)
    return nullptr;
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  return Method ? Method->getImplicitObjectArgument() : Call->getArg(0);
}

/// Is \p G a list of what other places hold already, which is not made in a
/// loop over which the list grows?
bool holdsAgain(const Growth &G, const FunctionFlow &Flow) {
  const Accumulation &A = G.A;
  if (A.How != Accumulation::Contain || !A.Loop || !A.Addend)
    return false;
  const Expr *Held = cpp::stripPointers(A.Addend);
  bool IsPart = false;
  while (const Expr *Whole = Held ? wholeOf(Held) : nullptr) {
    Held = cpp::stripPointers(Whole);
    IsPart = true;
  }
  const VarDecl *Var = cpp::variableOf(Held);
  return (IsPart ? isa_and_nonnull<CXXThisExpr, DeclRefExpr>(Held)
                 : Var && Var->getType()->isReferenceType()) &&
         llvm::none_of(
             historyIn(A.Added.allLabels(), Flow),
             [&](const Label *L) { return arisesInLoop(*L, A, Flow); });
}

/// Why \p G, which grows, is not reported; null when it is.
const Reason *silenceOf(const Growth &G, const FunctionFlow &Flow,
                        flow::UnitModel &Unit, const Arbiter &Guards) {
  const Accumulation &A = G.A;
  const Label &Carry = Flow.label(A.Carry);
  if (holdsAgain(G, Flow))
    return &AccumulatedHistory.HeldAgain;
  // A returned value lives as long as the caller keeps it.
  const unsigned Consumers =
      !G.HandedInAt && (Carry.Consumers & Label::Returned)
          ? Carry.Consumers
          : Unit.consumersOf(Carry, Flow);
  if (Flow.outlivesFunction(A.Where)) {
    // A member or global grows from call to call. The rest of the unit may
    // still use its history.
    const FieldDecl *Field = Flow.fieldOf(A.Where);
    const VarDecl *Root = Flow.rootOf(A.Where);
    const bool IsCallers = isCallersList(A, Flow, Unit);
    const bool IsKept =
        Root ? Root->isStaticLocal() || IsCallers || Unit.seesAllUses(Root)
             : Field != nullptr;
    if (!G.IsSpent && (!IsKept || (Consumers & ~Label::Stored)))
      return &AccumulatedHistory.Used;
    if (A.How == Accumulation::Contain && !Flow.addsToEntry(A))
      return &AccumulatedHistory.Emptied;
    if (!G.IsSpent && !IsCallers && Unit.isConsumed(A.Where, Flow))
      return &AccumulatedHistory.Used;
  } else if (Consumers && !G.IsSpent) {
    return &AccumulatedHistory.Used;
  }
  if (Unit.isCalledOnlyGuarded(Flow.function()))
    return &AccumulatedHistory.CallersGuard;
  // A guard that another finding gives a name to leaves nothing to keep.
  return !G.HandedInAt && G.Source->K != Label::Proven &&
                 llvm::all_of(historyIn(A.Added.allLabels(), Flow),
                              [&](const Label *L) {
                                return Guards.isToBeGuarded(
                                    L->isParameter() ? A.Site : L->Site, Flow);
                              })
             ? &AccumulatedHistory.GuardToBe
             : nullptr;
}

/// Finds why \p G is a weaker finding than others, or has no fix.
void weigh(Growth &G, const FunctionFlow &Flow, flow::UnitModel &Unit,
           const Arbiter &Guards) {
  const Accumulation &A = G.A;
  auto If = [&](bool Applies, const Reason &Row) {
    if (Applies)
      G.Why.push_back({&Row});
  };
  If(!G.isBackPropagated(), AccumulatedHistory.NoBackward);
  If(A.How != Accumulation::InPlace, AccumulatedHistory.Another);
  If(A.How == Accumulation::Slot, AccumulatedHistory.Slot);
  If(A.Added.Unknown && !isProven(A, *G.Source, Flow),
     AccumulatedHistory.UnseenCallee);
  If(G.Source->PerhapsFrozen && !G.isBackPropagated(),
     AccumulatedHistory.FrozenOnSomeWays);
  if (!Flow.outlivesFunction(A.Where)) {
    If(isCallersTensor(A, Flow) && Unit.callersOf(Flow.function()).empty(),
       AccumulatedHistory.CallersTensor);
  } else {
    const FieldDecl *Field = Flow.fieldOf(A.Where);
    const bool IsCallers = !G.IsSpent && isCallersList(A, Flow, Unit);
    If(true, AccumulatedHistory.Outlives);
    If(IsCallers, AccumulatedHistory.KeptByCaller);
    If(!IsCallers && !G.IsSpent && Field && !Unit.seesAllUses(Field),
       AccumulatedHistory.OpenMember);
  }
  const Arbiter::Scope *Guard =
      G.HandedInAt ? nullptr : guardFor(A, Flow, Guards);
  If(Guard, AccumulatedHistory.PassReported);
  // Other units may call the function for a result with history.
  if (Guard && Guard->Guardable)
    G.WhyNotFixed = &AccumulatedHistory.GuardFixes;
  else if (G.HandedInAt && Flow.function()->isExternallyVisible())
    G.WhyNotFixed = &AccumulatedHistory.CallersElsewhere;
  else if (A.How == Accumulation::ViaCall)
    G.WhyNotFixed = &AccumulatedHistory.InCallee;
  else if (!A.Addend || !torch::isTensor(A.Addend->getType()))
    G.WhyNotFixed = &AccumulatedHistory.NoTensor;
}

/// `loss` of loss.backward() without a gradient argument: a scalar, or
/// backward() would throw.
bool isBackwardRoot(const Expr *Addend, const Expr *Backward) {
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(Backward);
  const auto *Ref = dyn_cast<DeclRefExpr>(cpp::stripImplicit(Addend));
  return Call && Ref && cpp::writtenArguments(Call).empty() &&
         cpp::isMention(cpp::stripImplicit(Call->getImplicitObjectArgument()),
                        Ref->getDecl());
}

/// Cuts the history of what \p G adds; \p AsNumber reads a scalar where that
/// compiles.
fixits::Edits cut(const Growth &G, bool AsNumber, const FunctionFlow &Flow) {
  const ASTContext &Context = Flow.function()->getASTContext();
  const Accumulation &A = G.A;
  const Expr *Term = termOf(A, Flow);
  return Term && AsNumber && isBackwardRoot(Term, G.Source->BackwardAt)
             ? fixits::appendMemberCall(Term, ".item()", Context)
             : fixits::detachOperand(Term ? Term : A.Addend, Context);
}

Finding worded(const Growth &G, std::optional<uint64_t> Bytes,
               const FunctionFlow &Flow, const flow::UnitModel &Unit) {
  const Accumulation &A = G.A;
  const bool OutlivesCall = Flow.outlivesFunction(A.Where);
  // One forward pass before the loop, of which each iteration takes a part.
  const bool OnePass = !G.isBackPropagated() && !G.HandedInAt && A.Loop &&
                       G.Source->bringsGraph() &&
                       !arisesInLoop(*G.Source, A, Flow);
  const bool InEachCall =
      !A.Loop || (OnePass && OutlivesCall && Flow.addsToEntry(A));
  const std::string Each = InEachCall ? "call" : "iteration";
  const VarDecl *Root = Flow.rootOf(A.Where);
  const std::string Amount =
      Bytes ? " (" + readableBytes(*Bytes) + " by one forward())" : "";
  const bool IsParameter = isa_and_nonnull<ParmVarDecl>(Root);
  // Of a member, the rest of the class decides.
  const unsigned Consumers =
      Flow.label(A.Carry).Consumers & ~unsigned(Root ? 0 : Label::Stored);
  const std::string Nobody =
      G.IsSpent && (Consumers || IsParameter || G.IsReadElsewhere)
          ? "after backward() nothing can back-propagate through it"
          : std::string("nothing") +
                (!IsParameter     ? ""
                 : Unit.program() ? " in this program"
                                  : " in this file") +
                " back-propagates through it";
  const std::string What =
      G.isBackPropagated() ? "the autograd graph nodes of every " + Each
      : OnePass && !InEachCall
          ? "the autograd graph and activations of one forward pass" + Amount
          : "the autograd graph and activations of every " + Each + Amount;
  Finding F = Finding::at(A.Site).because(G.Why).bytes(Bytes).says(
      "memory growth: " + quoted(Flow.nameOf(A.Where)) + " keeps " + What +
      ", and " + Nobody +
      (OnePass && !InEachCall ? "; every iteration adds to that graph"
                              : "; detach what is added"));
  if (G.HandedInAt)
    F.note(LibtorchCheck::originStep(*G.Source))
        .note(G.HandedInAt, "it is handed in here, and nothing back-propagates "
                            "the result of the call");
  if (const FieldDecl *Field = Flow.fieldOf(A.Where); Field && !Root)
    F.note(LibtorchCheck::memberStep(Field));
  else if (Root)
    F.note(LibtorchCheck::declarationStep(Root, /*OutsideLoop=*/A.Loop));
  if (!G.HandedInAt)
    F.note(LibtorchCheck::originStep(*G.Source));
  if (G.isBackPropagated())
    F.note(G.Source->BackwardAt, "backward() releases the activations here, "
                                 "but not the nodes of the graph");
  for (const Expr *Inner : A.Inner)
    F.note(Inner, "the call adds to it here");
  if (!A.Elsewhere.empty())
    F.note(A.Site, "the call adds to it at " + A.Elsewhere);
  // A sum is a new node; a list only takes in what there is.
  if (A.How == Accumulation::InPlace || A.How == Accumulation::Rebind)
    F.Makes = A.Site->getSourceRange();
  else
    F.runsWith(A.Site, Unit.context());
  return F;
}

/// Is \p A what a lambda does wherever it may run, of which a call of this
/// function is told?
bool isToldAtCall(const Accumulation &A, const FunctionFlow &Flow) {
  return isa_and_nonnull<LambdaExpr>(A.Site) && !A.Inner.empty() &&
         llvm::any_of(Flow.accumulations(), [&](const auto &Entry) {
           const Accumulation &Other = Entry.second;
           return Other.Site != A.Site && Other.Where == A.Where &&
                  !Other.Inner.empty() && Other.Inner.back() == A.Inner.back();
         });
}

/// docs/checks/libtorch-accumulated-history.md says what it finds and why.
///
/// Option `Fix`: `detach` (default) cuts the history with .detach(); `item`
/// reads the number with .item() where that compiles and the addend is known
/// to be a scalar.
class AccumulatedHistoryCheck : public LibtorchCheck {
public:
  AccumulatedHistoryCheck(StringRef Name,
                          clang::tidy::ClangTidyContext *Context)
      : LibtorchCheck(Name, Context), Fix(Options.get("Fix", "detach").str()) {
    if (Fix != "detach" && Fix != "item")
      configurationDiag("invalid value '%0' of option '%1.Fix': expected "
                        "'detach' or 'item'; using 'detach'")
          << Fix << Name;
  }
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override {
    LibtorchCheck::storeOptions(Opts);
    Options.store(Opts, "Fix", Fix);
  }
  void checkFunction(const FunctionFlow &Flow, flow::UnitModel &Unit) override {
    const Arbiter &Guards =
        Arbiter::decided(Unit, isEnabled(Arbiter::ReportsPasses));
    for (const auto &[Key, A] : Flow.accumulations()) {
      const Reason *Silence = boundOf(A, Flow, Unit.context());
      if ((Silence && !asksWhy()) ||
          (!A.Loop && !Flow.outlivesFunction(A.Where)) || isToldAtCall(A, Flow))
        continue;
      Growth G = {A,
                  sourceOf(A, A.Added.allLabels(), Flow,
                           [&, &A = A](const Label &L) {
                             return arisesInLoop(L, A, Flow);
                           }),
                  nullptr};
      // History of what callers hand in, where the sum goes back to them.
      if (!G.Source)
        for (const auto &R : Unit.relaysOf(Flow.function(), A.Carry))
          if (handsInGrownValue(R) &&
              (G.Source = sourceOf(A, R.Relay->Assigned, *R.Caller))) {
            G.HandedInAt = R.Relay->Site;
            break;
          }
      if (!G.Source && A.Added.Unknown)
        G.Source = provenSource(A, Flow);
      if (!G.Source) {
        if (A.Added.Unknown && !Silence)
          silent(A.Site, AccumulatedHistory.Unknown);
        continue;
      }
      G.IsSpent = isSpent(G, Flow, Unit);
      if (!Silence)
        Silence = silenceOf(G, Flow, Unit, Guards);
      if (Silence) {
        silent(A.Site, *Silence);
        continue;
      }
      G.IsReadElsewhere = Unit.isConsumed(A.Where, Flow);
      weigh(G, Flow, Unit, Guards);
      // backward() frees what its pass kept, but for the nodes.
      std::optional<uint64_t> Bytes;
      if (!G.isBackPropagated() && !G.HandedInAt &&
          G.Source->K == Label::Forward &&
          reports(lowered(Level::Certain, G.Why)))
        Bytes = keptByPass(
            dyn_cast<CallExpr>(cpp::stripImplicit(G.Source->Site)), A, Flow);
      Finding F = worded(G, Bytes, Flow, Unit);
      if (G.WhyNotFixed)
        F.because(*G.WhyNotFixed);
      else
        F.fix(cut(G, /*AsNumber=*/Fix == "item", Flow));
      report(std::move(F));
    }
  }

private:
  /// The bytes that the graph of \p Pass, whose result \p A adds, keeps.
  /// nullopt where they are not known, or the function does more to the model
  /// than eval().
  std::optional<uint64_t> keptByPass(const CallExpr *Pass,
                                     const Accumulation &A,
                                     const FunctionFlow &Flow) {
    bool Evaluates = false, Trains = false, Changes = false;
    cpp::forEachCall(Flow.function(), [&](const CallExpr *Call) {
      Evaluates |= torch::isModuleEval(Call);
      Trains |= torch::isModuleTrain(Call);
      Changes |= torch::convertsModule(Call->getDirectCallee()) ||
                 torch::setsRequiresGrad(Call) ||
                 torch::autocastUse(Call, context());
    });
    if (!Pass || Changes || (Evaluates && Trains))
      return std::nullopt;
    // Inputs that are made before the loop are there once.
    bool InputsGo = true;
    for (const Expr *Argument : Pass->arguments())
      if (const VarDecl *Var = cpp::variableOf(Argument);
          Var && torch::isTensor(Var->getType()))
        InputsGo &= Var->hasLocalStorage() &&
                    (!A.Loop || cpp::isWithin(Var->getLocation(), A.Loop,
                                              context().getSourceManager()));
    return keptBy(Pass, !Evaluates, InputsGo);
  }

  const std::string Fix;
};

} // namespace

LIBTORCH_CHECK(AccumulatedHistoryCheck, AccumulatedHistory);

} // namespace libtorch_tidy
