//===- AccumulatedHistoryCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/Amounts.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/guards/Arbiter.h"
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

/// docs/checks/libtorch-accumulated-history.md says what it finds and why.
///
/// Option `Fix`: `detach` (default) cuts the history with .detach(); `item`
/// reads the number with .item() where that compiles and the addend is known
/// to be a scalar.
class AccumulatedHistoryCheck : public LibtorchCheck {
public:
  AccumulatedHistoryCheck(llvm::StringRef Name,
                          clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;

protected:
  void checkUnit(flow::UnitModel &Unit) override;
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  const Arbiter::Scope *guardFor(const flow::Accumulation &A, Level Strength,
                                 const flow::FunctionFlow &Flow);

  /// \p HandedInAt: the call that hands the history in, when it arises in a
  /// caller. \p Cuts: with a fix, where there is one.
  void reportAccumulation(const flow::Accumulation &A,
                          const flow::Label &Source, const Expr *HandedInAt,
                          Level Strength, bool Cuts,
                          const flow::FunctionFlow &Flow, ASTContext &Context);

  std::optional<uint64_t> keptByPass(const flow::Label &Source,
                                     const flow::Accumulation &A,
                                     const flow::FunctionFlow &Flow,
                                     ASTContext &Context);

  const std::string Fix;
  const Arbiter *Decided = nullptr; ///< Of the unit that is checked.
};

} // namespace

AccumulatedHistoryCheck::AccumulatedHistoryCheck(
    StringRef Name, clang::tidy::ClangTidyContext *Context)
    : LibtorchCheck(Name, Context), Fix(Options.get("Fix", "detach").str()) {
  if (Fix != "detach" && Fix != "item")
    configurationDiag("invalid value '%0' of option '%1.Fix': expected "
                      "'detach' or 'item'; using 'detach'")
        << Fix << Name;
}

void AccumulatedHistoryCheck::storeOptions(
    clang::tidy::ClangTidyOptions::OptionMap &Opts) {
  LibtorchCheck::storeOptions(Opts);
  Options.store(Opts, "Fix", Fix);
}

/// Does a list that grows over the iterations of \p Caller go into the call?
/// What one iteration hands in, and gets back, dies with the iteration.
static bool handsInGrownValue(const flow::UnitModel::RelayedTo &R) {
  return llvm::any_of(R.Caller->accumulations(), [&](const auto &Entry) {
    return R.Relay->Assigned.test(Entry.second.Carry);
  });
}

/// Does \p Source arise anew in each iteration of a loop that \p A, of the same
/// function, is in and that its place outlives?
static bool arisesInLoop(const Label &Source, const Accumulation &A,
                         const FunctionFlow &Flow) {
  const Stmt *Loop = A.Loop;
  while (Loop && !Flow.isWithin(Source.Site, Loop))
    Loop = Flow.loopFor(Loop, A.Where);
  return Loop;
}

/// Where history of an accumulation comes from, preferring what was
/// back-propagated, then what is \p Better: that decides the message.
static const Label *
sourceOf(const Accumulation &A, const flow::LabelSet &Added,
         const FunctionFlow &Flow,
         llvm::function_ref<bool(const Label &)> Better = nullptr) {
  const Label *Source = nullptr;
  for (flow::LabelId Id : Added) {
    const Label &L = Flow.label(Id);
    if (!L.bringsHistory() || !L.Arises)
      continue;
    // A list of parameters is not history: nothing was computed from them.
    const bool Computes =
        A.How == Accumulation::InPlace || A.How == Accumulation::Rebind;
    if (!L.bringsGraph() && !Computes)
      continue;
    if (L.Consumers & Label::Backward)
      return &L;
    if (!Source || (Better && !Better(*Source) && Better(L)))
      Source = &L;
  }
  return Source;
}

/// Will a guard that another finding gives a name to leave \p A nothing to
/// keep?
static bool isToBeGuarded(const Accumulation &A, const FunctionFlow &Flow,
                          const Arbiter &Guards) {
  for (flow::LabelId Id : A.Added.allLabels()) {
    const Label &L = Flow.label(Id);
    if (L.bringsHistory() && L.Arises && !Guards.isToBeGuarded(L.Site, Flow))
      return false;
  }
  return true;
}

/// The first finding, at least as strong, of those whose guards leave \p A
/// nothing to keep. It has the story and the fix.
const Arbiter::Scope *
AccumulatedHistoryCheck::guardFor(const Accumulation &A, Level Strength,
                                  const FunctionFlow &Flow) {
  const Arbiter::Scope *First = nullptr;
  for (flow::LabelId Id : A.Added.allLabels()) {
    const Label &L = Flow.label(Id);
    if (!L.bringsHistory() || !L.Arises)
      continue;
    const Arbiter::Scope *Guarded = Decided->findingOf(L);
    if (!Guarded || Guarded->strength() > Strength)
      return nullptr;
    if (!First)
      First = Guarded;
  }
  return First;
}

/// Is it a tensor that the caller has, too? It may go on with its history.
static bool isCallersTensor(const Accumulation &A, const FunctionFlow &Flow) {
  const VarDecl *Root = Flow.rootOf(A.Where);
  return A.How == Accumulation::InPlace && isa_and_nonnull<ParmVarDecl>(Root) &&
         torch::isTensor(Root->getType());
}

void AccumulatedHistoryCheck::checkUnit(flow::UnitModel &Unit) {
  Decided = &Arbiter::decided(Unit, isEnabled(Arbiter::ReportsPasses));
  LibtorchCheck::checkUnit(Unit);
}

void AccumulatedHistoryCheck::checkFunction(const FunctionFlow &Flow,
                                            flow::UnitModel &Unit) {
  for (const auto &[Key, A] : Flow.accumulations()) {
    if (A.Mode != GradMode::On || A.Bounded || Flow.appliesLayers(A))
      continue;
    const Label *Source =
        sourceOf(A, A.Added.allLabels(), Flow,
                 [&](const Label &L) { return arisesInLoop(L, A, Flow); });
    // History of what callers hand in, where the sum goes back to them.
    const Expr *HandedInAt = nullptr;
    if (!Source)
      for (const auto &R : Unit.relaysOf(Flow.function(), A.Carry))
        if (handsInGrownValue(R) &&
            (Source = sourceOf(A, R.Relay->Assigned, *R.Caller))) {
          HandedInAt = R.Relay->Site;
          break;
        }
    if (!Source)
      continue;
    // What a call makes and returns lives as long as its caller wants.
    const Label &Carry = Flow.label(A.Carry);
    unsigned Consumers = !HandedInAt && (Carry.Consumers & Label::Returned)
                             ? Carry.Consumers
                             : Unit.consumersOf(Carry, Flow);
    Level Strength =
        Source->Consumers & Label::Backward ? Level::Certain : Level::Likely;
    if (A.How != Accumulation::InPlace)
      Strength = Level::Likely;
    // Code that cannot be seen may have cut the history of what is added.
    if (A.How == Accumulation::Slot || A.Added.Unknown)
      Strength = Level::Advisory;
    if (!Flow.outlivesFunction(A.Where)) {
      if (!A.Loop || Consumers)
        continue;
      if (isCallersTensor(A, Flow) && Unit.callersOf(Flow.function()).empty())
        Strength = Level::Advisory;
    } else {
      // A member grows from call to call. The rest of the unit may still use
      // its history, and so may methods that are not in this unit.
      const FieldDecl *Field = Flow.fieldOf(A.Where);
      const VarDecl *Root = Flow.rootOf(A.Where);
      bool IsStatic = Root && Root->isStaticLocal();
      // A list in what a parameter names: whoever owns it may still use it.
      bool IsHandedIn = Root && isa<ParmVarDecl>(Root) && Field &&
                        A.How == Accumulation::Contain &&
                        !(Unit.consumersHere(Carry, Flow) & ~Label::Computed);
      if ((Root && !IsStatic && !IsHandedIn) || (!Root && !Field) ||
          (Consumers & ~Label::Stored))
        continue;
      // A list that each call empties before it fills it.
      if (A.How == Accumulation::Contain && !Flow.addsToEntry(A))
        continue;
      if (IsHandedIn) {
        Strength = Level::Advisory;
      } else if (Field) {
        if (Unit.isFieldConsumed(Field))
          continue;
        if (!Unit.seesAllUses(Field))
          Strength = Level::Advisory;
      }
      Strength = std::max(Strength, Level::Likely); // The weaker one.
    }
    if (cpp::runsFewTimes(A.Loop, Unit.context()) ||
        Unit.isCalledOnlyGuarded(Flow.function()) ||
        (!HandedInAt && isToBeGuarded(A, Flow, *Decided)))
      continue;
    const Arbiter::Scope *Guard =
        HandedInAt ? nullptr : guardFor(A, Strength, Flow);
    reportAccumulation(
        A, *Source, HandedInAt, Guard ? Level::Advisory : Strength,
        /*Cuts=*/!Guard || !Guard->Guardable, Flow, Unit.context());
  }
}

/// The operand of `total + x` that is not the accumulator itself.
static const Expr *otherOperand(const Expr *E, const VarDecl *Accumulator) {
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(cpp::stripImplicit(E));
  if (!Op || Op->getNumArgs() != 2 || Op->getOperator() != OO_Plus)
    return nullptr;
  for (unsigned I : {0U, 1U})
    if (const auto *Ref =
            dyn_cast<DeclRefExpr>(cpp::stripImplicit(Op->getArg(I))))
      if (Ref->getDecl() == Accumulator)
        return Op->getArg(1 - I);
  return nullptr;
}

/// `loss` of loss.backward() without a gradient argument: a scalar, or
/// backward() would throw.
static bool isBackwardRoot(const Expr *Addend, const Expr *Backward) {
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(Backward);
  const auto *Ref = dyn_cast<DeclRefExpr>(cpp::stripImplicit(Addend));
  if (!Call || !Ref || !cpp::writtenArguments(Call).empty())
    return false;
  const auto *Root = dyn_cast<DeclRefExpr>(
      cpp::stripImplicit(Call->getImplicitObjectArgument()));
  return Root && Root->getDecl() == Ref->getDecl();
}

/// What the graph of \p Source, a forward pass, keeps in memory. nullopt where
/// it is not known, or the function does more to the model than eval().
std::optional<uint64_t>
AccumulatedHistoryCheck::keptByPass(const Label &Source, const Accumulation &A,
                                    const FunctionFlow &Flow,
                                    ASTContext &Context) {
  bool Evaluates = false, Trains = false, Changes = false;
  cpp::forEachCall(Flow.function(), [&](const CallExpr *Call) {
    Evaluates |= torch::isModuleEval(Call);
    Trains |= torch::isModuleTrain(Call);
    Changes |= torch::convertsModule(Call->getDirectCallee()) ||
               torch::setsRequiresGrad(Call) ||
               torch::autocastUse(Call, Context);
  });
  const auto *Pass = dyn_cast<CallExpr>(cpp::stripImplicit(Source.Site));
  if (!Pass || Changes || (Evaluates && Trains))
    return std::nullopt;
  // Inputs that are made before the loop are there once.
  bool InputsGo = true;
  for (const Expr *Argument : Pass->arguments())
    if (const auto *Ref = dyn_cast<DeclRefExpr>(cpp::stripImplicit(Argument)))
      if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
          Var && torch::isTensor(Var->getType()))
        InputsGo &= Var->hasLocalStorage() &&
                    (!A.Loop || Context.getSourceManager().isPointWithin(
                                    Var->getLocation(), A.Loop->getBeginLoc(),
                                    A.Loop->getEndLoc()));
  return keptBy(Pass, !Evaluates, InputsGo);
}

void AccumulatedHistoryCheck::reportAccumulation(
    const Accumulation &A, const Label &Source, const Expr *HandedInAt,
    Level Strength, bool Cuts, const FunctionFlow &Flow, ASTContext &Context) {
  const std::string Name = Flow.nameOf(A.Where);
  const bool BackPropagated = Source.Consumers & Label::Backward;
  // One forward pass before the loop, of which each iteration takes a part.
  const bool OnePass = !BackPropagated && !HandedInAt && A.Loop &&
                       Source.bringsGraph() && !arisesInLoop(Source, A, Flow);
  const bool InEachCall =
      !A.Loop ||
      (OnePass && Flow.outlivesFunction(A.Where) && Flow.addsToEntry(A));
  const StringRef Each = InEachCall ? "call" : "iteration";

  Finding F;
  F.Loc = A.Site->getExprLoc();
  F.Highlight = A.Site->getSourceRange();
  F.Strength = Strength;
  // backward() frees what its pass kept, but for the nodes.
  if (!BackPropagated && !HandedInAt && Source.K == Label::Forward &&
      reports(Strength))
    F.Bytes = keptByPass(Source, A, Flow, Context);
  const VarDecl *Place = Flow.rootOf(A.Where);
  const StringRef Nothing =
      Place && isa<ParmVarDecl>(Place) ? "nothing in this file" : "nothing";
  const std::string Amount =
      F.Bytes ? " (" + readableBytes(*F.Bytes) + " by one forward())" : "";
  const std::string Stays =
      BackPropagated ? ("the graph metadata of every " + Each + " stays").str()
      : OnePass && !InEachCall
          ? "the activations of one forward pass" + Amount + " stay"
          : ("the activations of every " + Each + Amount + " stay").str();
  F.Message =
      ("'" + Name + "' accumulates tensors with autograd history; " + Nothing +
       " back-propagates through it, so " + Stays + " in memory")
          .str();
  if (OnePass && !InEachCall)
    F.Message += ", and every iteration adds to their graph";

  if (HandedInAt) {
    F.Steps.push_back(originStep(Source));
    F.Steps.push_back({HandedInAt->getExprLoc(),
                       "it is handed in here, and nothing back-propagates the "
                       "result of the call"});
  }
  const VarDecl *Root = Flow.rootOf(A.Where);
  if (const FieldDecl *Field = Flow.fieldOf(A.Where); Field && !Root)
    F.Steps.push_back(
        {Field->getLocation(), "member '" + Field->getNameAsString() +
                                   "' lives as long as its object"});
  else if (Root)
    F.Steps.push_back({Root->getLocation(),
                       "'" + Root->getNameAsString() + "' is declared here" +
                           (A.Loop ? ", outside the loop" : "")});
  if (!HandedInAt)
    F.Steps.push_back(originStep(Source));
  if (BackPropagated)
    F.Steps.push_back({Source.BackwardAt->getExprLoc(),
                       "backward() releases the activations here, but not the "
                       "nodes of the graph"});
  for (const Expr *Inner : A.Inner)
    F.Steps.push_back({Inner->getExprLoc(), "the call adds to it here"});
  if (!A.Elsewhere.empty())
    F.Steps.push_back(
        {A.Site->getExprLoc(), "the call adds to it at " + A.Elsewhere});

  // Other units may call the function for a result with history.
  if (!Cuts || (HandedInAt && Flow.function()->isExternallyVisible()))
    return report(F);

  auto Cut = [&](const Expr *Addend) {
    return Fix == "item" && isBackwardRoot(Addend, Source.BackwardAt)
               ? fixits::appendMemberCall(Addend, ".item()", Context)
               : fixits::detachOperand(Addend, Context);
  };
  switch (A.How) {
  case Accumulation::InPlace:
  case Accumulation::Contain:
  case Accumulation::Slot:
    if (A.Addend && torch::isTensor(A.Addend->getType()))
      F.Fix = isa<CXXOperatorCallExpr>(A.Site) && A.How == Accumulation::InPlace
                  ? Cut(A.Addend)
                  : fixits::detachOperand(A.Addend, Context);
    break;
  case Accumulation::Rebind:
    if (A.Addend && torch::isTensor(A.Addend->getType())) {
      const Expr *Other = otherOperand(A.Addend, Root);
      F.Fix = Other ? Cut(Other) : fixits::detachOperand(A.Addend, Context);
    }
    break;
  case Accumulation::ViaCall:
    break;
  }
  report(F);
}

LIBTORCH_CHECK(AccumulatedHistoryCheck, NoReasons);

} // namespace libtorch_tidy
