//===- Interpreter.cpp - Runs one function over abstract values -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/history/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/Fixpoint.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include <utility>

using namespace clang;

namespace libtorch_tidy::flow {

using cpp::Std;

Interpreter::Interpreter(UnitModel &Unit, const FunctionDecl *F)
    : Unit(Unit), Context(Unit.context()),
      Out(std::make_unique<FunctionFlow>()) {
  Out->F = F;
}

//===----------------------------------------------------------------------===//
// Fixpoint
//===----------------------------------------------------------------------===//

std::unique_ptr<FunctionFlow> Interpreter::run() {
  const FunctionDecl *F = Out->F;
  Out->Body = &cpp::Body::of(F);
  Freezes = &Unit.frozenModules().switchesOf(F);

  std::optional<FlowGraph> Graph = FlowGraph::of(F, cpp::Grain::Statements);
  if (!Graph)
    return FunctionFlow::givenUp(F);
  State Start;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F)) {
    // By a guard among the members, or by what a constructor did.
    const CXXRecordDecl *Class = Method->getParent();
    if (std::optional<GradMode> Guard = torch::guardOf(Class))
      Start.Mode = *Guard;
    if (!isa<CXXConstructorDecl>(F)) {
      for (const ValueDecl *Frozen : Unit.frozenModules().byConstructors(Class))
        Start.Frozen.insert(Frozen);
      if (Start.Mode == GradMode::On &&
          Unit.frozenModules().constructorsEndGradients(Class))
        Start.Mode = GradMode::Unknown;
    }
  }
  for (const ParmVarDecl *Param : F->parameters())
    rootPlace(Param);
  auto In = runToFixpoint(*Graph, *this, std::move(Start),
                          Cost::of(Unit.context()).Visits);
  if (!In)
    return FunctionFlow::givenUp(F);
  const std::optional<State> &AtExit =
      (*In)[Graph->Cfg->getExit().getBlockID()];
  finish(AtExit ? *AtExit : State());
  return std::move(Out);
}

void Interpreter::enter(const CFGBlock &Block, State In) {
  S = std::move(In);
  JustWalked = nullptr;
  EndsProgram = Block.hasNoReturnElement();
  // The graph lists a call by itself before the statement that it is part of:
  // it is evaluated then, and its result is taken by what is around it.
  Evaluated.clear();
}

void Interpreter::visit(const CFGElement &Element) {
  SwitchesIfThrown = false;
  if (auto AsStmt = Element.getAs<CFGStmt>()) {
    transfer(AsStmt->getStmt());
    noteLeaving(AsStmt->getStmt());
  } else if (auto AsDtor = Element.getAs<CFGAutomaticObjDtor>()) {
    S.end(AsDtor->getVarDecl());
  } else if (auto AsInit = Element.getAs<CFGInitializer>()) {
    const CXXCtorInitializer *Init = AsInit->getInitializer();
    Value V = eval(Init->getInit());
    if (const FieldDecl *Field = Init->getAnyMember())
      write(partPlace(rootPlace(nullptr), Selector::field(Field)), V, true);
  }
}

Interpreter::State Interpreter::leave() {
  S.Gone |= EndsProgram;
  return std::move(S);
}

/// What \p Block decides, without negations, and where control goes when that
/// is false; null for both where there is no such choice.
static std::pair<const Expr *, const CFGBlock *>
choiceOf(const CFGBlock &Block) {
  const auto *Condition =
      dyn_cast_or_null<Expr>(Block.getTerminatorCondition());
  if (!Condition || Block.succ_size() != 2)
    return {};
  Condition = cpp::stripImplicit(Condition);
  bool Negated = false;
  while (const auto *Not = dyn_cast<UnaryOperator>(Condition)) {
    if (Not->getOpcode() != UO_LNot)
      return {};
    Negated = !Negated;
    Condition = cpp::stripImplicit(Not->getSubExpr());
  }
  return {Condition,
          Negated ? *Block.succ_begin() : *std::next(Block.succ_begin())};
}

/// A branch on is_training() goes one way only in a program that leaves its
/// modules in training mode.
bool Interpreter::isTaken(const CFGBlock &Block, const CFGBlock &Successor) {
  if (!Unit.neverEvaluates())
    return true;
  const auto [Condition, Never] = choiceOf(Block);
  const auto *Call = dyn_cast_or_null<CallExpr>(Condition);
  return !Call || !torch::isTrainingQuery(Call) || &Successor != Never;
}

/// The variable of which \p E is true where it holds something: `p`,
/// `p.has_value()`, `p != nullptr`; null for others.
static const VarDecl *boxAsked(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return cpp::variableOf(E);
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator && Operator->getOperator() == OO_ExclaimEqual &&
      cpp::isEmptyValue(Operator->getArg(1)))
    return cpp::variableOf(Operator->getArg(0));
  const FunctionDecl *Callee = Call->getDirectCallee();
  return isa_and_nonnull<CXXConversionDecl>(Callee) ||
                 cpp::nameOf(Callee) == "has_value"
             ? cpp::variableOf(cpp::calledOn(Call))
             : nullptr;
}

/// In `if (guard) guard.reset();`, the false branch holds no guard.
std::optional<Interpreter::State> Interpreter::along(const CFGBlock &Block,
                                                     const CFGBlock &Successor,
                                                     const State &After) {
  if (After.Guards.empty())
    return std::nullopt;
  const auto [Condition, IfNone] = choiceOf(Block);
  const VarDecl *Box = &Successor == IfNone ? boxAsked(Condition) : nullptr;
  if (!Box || !isPlainBox(Box) || !After.Guards.count(Box))
    return std::nullopt;
  State Without = After;
  Without.end(Box);
  return Without;
}

/// The site of an entry of one of the lists of a flow.
template <typename Entry> static const Expr *siteOf(const Entry &At) {
  if constexpr (std::is_convertible_v<Entry, const Expr *>)
    return At;
  else
    return siteOf(At.first);
}

void Interpreter::finish(const State &AtExit) {
  Out->Available = true;
  if (!AtExit.Gone) {
    Out->ExitMode = AtExit.Mode;
    Out->ExitFromOff = AtExit.FromOff;
    Out->LeftOffBy = AtExit.OffBy;
  }
  // A call in a loop is first reached with the mode of the first iteration.
  for (Label &L : Out->Labels)
    L.Mode = firstMode(L.Site, L.Mode);
  for (auto &[Key, A] : Out->Accumulations)
    A.Mode = firstMode(A.Site, A.Mode);
  for (auto &[E, Call] : Calls)
    Call.Mode = firstMode(E.first, Call.Mode);
  for (auto &[E, Call] : UnseenCalls)
    Call.Mode = firstMode(E, Call.Mode);
  for (const auto &[P, V] : AtExit.Held) {
    const bool Outlives = Out->outlivesFunction(P) && !Out->isFolded(P);
    if (Outlives || InPlaceOnParam.count(P))
      Out->Exit[P] = Outlives ? V : InPlaceOnParam[P];
  }
  // The fields of elements go with the container that grows.
  for (const auto &[Key, A] : Out->Accumulations)
    if (auto Whole = Out->Exit.find(A.Where); Whole != Out->Exit.end()) {
      Whole->second = withParts(Out->Exit, A.Where, Whole->second);
      forEachPart(A.Where, [&](PlaceId Part) { Out->Exit.erase(Part); });
    }
  // All lists are in the order of the source: that in which blocks are walked
  // differs between versions of Clang.
  auto InOrder = [&](auto Listed) {
    const SourceManager &SM = Context.getSourceManager();
    llvm::stable_sort(Listed, [&](const auto &A, const auto &B) {
      return SM.isBeforeInTranslationUnit(siteOf(A)->getExprLoc(),
                                          siteOf(B)->getExprLoc());
    });
    return Listed;
  };
  for (auto &Entry : InOrder(Out->Accumulations.takeVector())) {
    Accumulation &A = Entry.second;
    A.Bounded = llvm::any_of(
        Bounded, [&](PlaceId P) { return Out->isPartOf(A.Where, P); });
    if (A.Loop &&
        (A.How == Accumulation::Contain || A.How == Accumulation::Slot))
      A.Bounded |= llvm::any_of(Emptied, [&](const auto &By) {
        return Out->isPartOf(A.Where, By.first) &&
               Out->isWithin(By.second, A.Loop);
      });
    Out->Accumulations.insert(std::move(Entry));
  }
  for (const auto &[E, Call] : InOrder(Calls.takeVector()))
    Out->Calls.push_back(Call);
  for (const auto &[E, Call] : InOrder(UnseenCalls.takeVector()))
    Out->UnseenCalls.push_back(Call);
  for (const auto &Call : InOrder(Out->ScriptCalls.takeVector()))
    Out->ScriptCalls.insert(Call);
  for (const auto &Run : InOrder(Out->RunsOff.takeVector()))
    Out->RunsOff.insert(Run);
  Out->TrainingSites.assign(Training.begin(), Training.end());
  Out->TrainingSites = InOrder(std::move(Out->TrainingSites));
  for (const Expr *E : InOrder(Lasting.takeVector()))
    for (const Stmt *In = E; In && Out->Switched.try_emplace(In, E).second;
         In = Out->parentOf(In))
      ;
}

void Interpreter::transfer(const Stmt *Statement) {
  if (JustWalked && !Out->isWithin(JustWalked, Statement))
    JustWalked = nullptr;
  if (const auto *Decls = dyn_cast<DeclStmt>(Statement)) {
    for (const Decl *D : Decls->decls())
      if (const auto *V = dyn_cast<VarDecl>(D))
        declare(V);
  } else if (const auto *Return = dyn_cast<ReturnStmt>(Statement)) {
    if (const Expr *E = Return->getRetValue()) {
      Value V = eval(E);
      // What the next call of the function begins with.
      if (const ParmVarDecl *Next = Out->Body->foldedInto()) {
        const PlaceId P = rootPlace(Next);
        assign(E, {P}, V, Accumulation::Rebind, E);
        V = read(P);
      }
      consume(V, Label::Returned, E);
      Out->Return.join(V);
    }
  } else if (const auto *E = dyn_cast<Expr>(Statement)) {
    eval(E);
    // A guard without an owner ends wherever somebody deletes it.
    const auto *Assign = dyn_cast<BinaryOperator>(cpp::peel(E));
    const auto *New = dyn_cast_or_null<CXXNewExpr>(
        cpp::peel(Assign && Assign->isAssignmentOp() ? Assign->getRHS() : E));
    if (New && !isa_and_nonnull<Expr, DeclStmt>(Out->Body->userOf(E)) &&
        torch::guardOf(New->getAllocatedType()->getAsCXXRecordDecl())) {
      setMode(GradMode::Unknown);
      Lasting.insert(New);
    }
    if (const auto Change = torch::guardChange(E))
      changeGuard(E, *Change);
  }
  if (!isa<CallExpr>(Statement)) // Others are noted as they are evaluated.
    freeze(Statement);
}

void Interpreter::declare(const VarDecl *V) {
  const Expr *Init = V->getInit();
  if (std::optional<GradMode> Mode = torch::guardOf(V)) {
    eval(Init);
    const bool IsBox = torch::isGuardBox(V), Shared = IsBox && !isPlainBox(V);
    if (IsBox && !Shared && torch::holdsNoGuard(Init))
      return; // Nothing has begun.
    S.Guards.try_emplace(V, began(torch::isInferenceMode(V), *Mode, Shared));
    if (*Mode == GradMode::On && Init)
      Training.insert(Init); // Somebody asked for gradients.
    setMode(*Mode);
    if (V->getType()->isPointerType()) // No scope ends it.
      Lasting.insert(Init);
    return;
  }
  if (!Init)
    return;
  if (torch::readsGradMode(Init))
    S.Saved.insert_or_assign(V, S);
  const QualType T = V->getType();
  // Iterators count as their container.
  const auto *Call = dyn_cast<CXXMemberCallExpr>(cpp::stripImplicit(Init));
  const bool Refers = T->isReferenceType() || T->isPointerType() ||
                      (!cpp::pointeeOf(T).isNull() && !torch::isModule(T)) ||
                      (Call && cpp::does(Call, cpp::Std::Iterator) &&
                       !torch::isTorchDecl(Call->getDirectCallee()));
  const std::optional<Target> To = Refers ? placeOf(Init) : std::nullopt;
  if (To)
    Aliases.try_emplace(V, *To);
  const Value Held = eval(Init);
  if (To)
    return;
  const PlaceId P = rootPlace(V);
  assign(Init, {P}, Held, Accumulation::Rebind, nullptr);
  // Made by the first call; the others find what it has come to hold.
  if (V->isStaticLocal()) {
    Emptied.erase({P, Init});
    write(P, Value::of(label(Label::Entry, nullptr, P)), /*Strong=*/false);
  }
}

void Interpreter::setMode(GradMode M) {
  // AutoGradMode(true) does not bring gradients back under InferenceMode.
  if (M != GradMode::On || !S.underInference())
    static_cast<Switches &>(S) = {M, M};
}

void Interpreter::switchMode(const Expr *E, GradMode FromOn, GradMode FromOff,
                             bool LeavesOff) {
  auto Switch = [&](GradMode &M) {
    const GradMode To = M == GradMode::On    ? FromOn
                        : M == GradMode::Off ? FromOff
                        : FromOn == FromOff  ? FromOn
                                             : M;
    if (To != GradMode::On || !S.underInference())
      M = To;
  };
  if (FromOn != GradMode::On)
    Switching.insert(E);
  if (FromOn != GradMode::On || FromOff != GradMode::Off)
    Lasting.insert(E);
  if (LeavesOff || FromOff != GradMode::Off)
    S.OffBy = LeavesOff ? E : nullptr;
  Switch(S.Mode);
  Switch(S.FromOff);
}

GradMode Interpreter::firstMode(const Expr *E, GradMode Last) const {
  if (!E || Last != GradMode::Unknown || !OnOnce.contains(E) ||
      !Out->Body->loopAround(E))
    return Last;
  const SourceManager &SM = Context.getSourceManager();
  return llvm::none_of(
             Switching,
             [&](const Expr *By) { return cpp::comesBefore(By, E, SM); })
             ? GradMode::On
             : Last;
}

//===----------------------------------------------------------------------===//
// Labels and effects
//===----------------------------------------------------------------------===//

LabelId Interpreter::label(Label::Kind K, const Expr *Site, PlaceId Where) {
  auto [It, New] = LabelIds.try_emplace({K, Site, Where}, Out->Labels.size());
  if (New) {
    Label L;
    L.K = K;
    L.Site = Site;
    L.Where = Where;
    L.Mode = S.Mode;
    L.OnAnyway = S.FromOff == GradMode::On;
    Out->Labels.push_back(std::move(L));
  }
  return It->second;
}

bool Interpreter::asksForGradient(const Value &V) const {
  bool Asks = false, ByModule = false;
  for (LabelId Id : V.allLabels()) {
    const Label &L = Out->Labels[Id];
    ByModule |= L.bringsGraph();
    Asks |= L.Arises && !L.isParameter() &&
            (L.K == Label::Leaf || (L.K == Label::Helper && !L.RunsModule));
  }
  return Asks && ByModule;
}

void Interpreter::handOver(const Value &V, unsigned Consumers, const Expr *By) {
  const bool Asks = asksForGradient(V);
  if (Asks)
    trainsAt(By);
  consume(V, Asks ? unsigned(Label::Escaped) : Consumers, By);
}

void Interpreter::consume(const Value &V, unsigned Consumers, const Expr *By,
                          std::optional<PlaceId> StoredIn) {
  for (LabelId Id : V.allLabels()) {
    Label &L = Out->Labels[Id];
    // Keep the last in the source, whatever the order of the blocks.
    if (Consumers & Label::Backward &&
        (!L.BackwardAt ||
         cpp::comesBefore(L.BackwardAt, By, Context.getSourceManager())))
      L.BackwardAt = By;
    L.Consumers |= Consumers;
    if (StoredIn && !llvm::is_contained(L.StoredIn, *StoredIn))
      L.StoredIn.push_back(*StoredIn);
  }
}

void Interpreter::spend(const Expr *Backward, const Value &Roots) {
  // The back-propagated labels are noted once; each place that shares the graph
  // has its own label.
  const LabelSet All = Roots.allLabels();
  const bool Unseen = Roots.anyUnknown();
  auto Spent = [&](PlaceId P) {
    LabelId Id = label(Label::Spent, Backward, P);
    Out->Labels[Id].Unseen |= Unseen;
    return Id;
  };
  const LabelId Noted = Spent(rootPlace(nullptr));
  Out->Labels[Noted].Assigned |= All;
  LabelSet Graph, Carried;
  for (LabelId Id : All) {
    const Label::Kind K = Out->Labels[Id].K;
    if (K == Label::Forward || K == Label::Helper)
      Graph.set(Id);
    if (K == Label::Carry)
      Carried.set(Id);
  }
  auto HasHistory = [&](const LabelSet &Labels) {
    for (LabelId Id : Labels)
      if (Out->Labels[Id].bringsHistory())
        return true;
    return false;
  };
  for (auto &[P, V] : S.Held)
    if (V.Labels.intersects(Graph) ||
        (V.Labels.intersects(Carried) && HasHistory(V.Labels))) {
      V.Labels.set(Spent(P));
      Written.push_back(P);
    }
}

/// The index or key of the element that \p E is, and what it is an element of;
/// null for other expressions.
static std::pair<const Expr *, const Expr *> asElement(const Expr *E) {
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    return {Subscript->getIdx(), Subscript->getBase()};
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return {};
  const cpp::Call C(Call);
  const bool Named = C.does(Std::Element) && C.Args.size() == 1;
  if (C.op() == OO_Subscript && Call->getNumArgs() == 2)
    return {Call->getArg(1), Call->getArg(0)};
  return Named ? std::pair(C.Args.front(), C.Object)
               : std::pair<const Expr *, const Expr *>();
}

/// The key that insertion \p C into a map looks for; null when it adds an
/// element each time.
static const Expr *keyOf(const cpp::Call &C) {
  if (!C.Object || C.Args.empty() || !C.does(Std::Insert) ||
      !cpp::isStdClass(cpp::finalPointee(C.Object->getType()),
                       {"map", "unordered_map"}))
    return nullptr;
  const Expr *Key = cpp::stripImplicit(C.Args.front());
  if (C.Args.size() > 1)
    return Key;
  const auto *Pair = dyn_cast<CXXConstructExpr>(Key);
  if (cpp::isStdCall(Key, Std::Tuple))
    return cast<CallExpr>(Key)->getArg(0);
  return Pair && Pair->getNumArgs() == 2 ? Pair->getArg(0) : nullptr;
}

bool Interpreter::reusesElement(const Expr *Site, PlaceId P) {
  const Stmt *Loop = Out->loopFor(Site, P);
  cpp::Body &In = cpp::Body::of(Out->function());
  const auto *Call = dyn_cast<CallExpr>(Site);
  if (!Call)
    return false;
  if (const Expr *Key = keyOf(cpp::Call(Call)))
    return cpp::hasFewValues(Key, In, Loop);
  const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Call);
  const Expr *At = Assign ? cpp::peel(Assign->getArg(0)) : nullptr;
  bool Reuses = false;
  while (At) {
    const auto [Key, Whole] = asElement(At);
    if (Key && !cpp::hasFewValues(Key, In, Loop))
      return false;
    Reuses |= Key != nullptr;
    const auto *Member = dyn_cast<MemberExpr>(At);
    At = Whole ? Whole : Member ? Member->getBase() : nullptr;
    At = At ? cpp::peel(At) : nullptr;
  }
  return Reuses;
}

void Interpreter::assign(const Expr *Site, Target To, Value V,
                         Accumulation::Form How, const Expr *Addend,
                         const Value *Added) {
  const PlaceId P = To.P;
  const bool Outlives = Out->outlivesFunction(P);
  const Stmt *Loop = Out->loopFor(Site, P);
  if (Loop && How == Accumulation::Rebind && !To.Element) {
    if (V.carriesNothing())
      Emptied.insert({P, Site});
    else // What an earlier round did not know.
      Emptied.erase({P, Site});
  }
  if ((Loop || Outlives) && !V.carriesNothing()) {
    LabelId Carry = label(Label::Carry, Site, P);
    LabelSet All = V.allLabels();
    Out->Labels[Carry].Assigned |= All;
    bool FromItself = All.test(Carry);
    if (Outlives && hasEntryValue(P))
      FromItself |= All.test(label(Label::Entry, nullptr, P));
    // A write in place may change part of the value on entry.
    if (How == Accumulation::InPlace)
      for (LabelId L : All)
        FromItself |= Out->Labels[L].K == Label::Entry &&
                      Out->overlap(Out->Labels[L].Where, P);
    // One element of many.
    if (How == Accumulation::Rebind && To.Element && !FromItself) {
      How = Accumulation::Slot;
      FromItself = !reusesElement(Site, P);
    }
    // x = x.view(...) and x = x.to(...) hold what x held.
    if (How == Accumulation::Rebind && FromItself && Addend)
      if (std::optional<Target> Viewed = inPlaceTarget(Addend))
        FromItself = Viewed->P != P;
    if (FromItself) {
      Accumulation &A = Out->Accumulations[{Site, P}];
      A.Site = Site;
      A.Where = P;
      A.How = How;
      A.Addend = Addend;
      A.Carry = Carry;
      A.Mode = S.Mode;
      if (S.Mode == GradMode::On)
        OnOnce.insert(Site);
      A.Loop = Loop;
      A.Added.join((Added ? *Added : V).flat());
    }
    // What comes out of a container is one of its elements.
    if (How == Accumulation::Contain || How == Accumulation::Slot ||
        How == Accumulation::ViaCall)
      V.addEverywhere(Carry);
    else
      V.Labels.set(Carry);
  }
  if (Outlives && !Out->isFolded(P))
    consume(V, Label::Stored, Site, P);
  else if (How == Accumulation::InPlace && hasEntryValue(P))
    InPlaceOnParam[P].join(V.flat()); // a by-value handle: the caller's too
  write(P, V,
        /*Strong=*/!To.Element && How != Accumulation::Contain &&
            How != Accumulation::Slot);
}

void Interpreter::accumulate(const Expr *Site, const Expr *Onto,
                             const Value &Added, Accumulation::Form How,
                             const Expr *Addend) {
  std::optional<Target> To = inPlaceTarget(Onto);
  if (!To) {
    eval(Onto);
    // Into something that cannot be named: others may see it there.
    if (How == Accumulation::Contain)
      consume(Added, Label::Escaped, Site);
    return;
  }
  if (S.Mode != GradMode::On && How == Accumulation::InPlace)
    return; // In place without gradients leaves history as it is.
  Value V = read(To->P);
  V.join(How == Accumulation::Contain ? Added : Added.flat());
  Value JustAdded = Added.flat();
  To->Element = false; // In place: what was there stays part of it.
  assign(Site, *To, std::move(V), How, Addend, &JustAdded);
}

GradMode Interpreter::modeAt(const Expr *E) {
  if (S.Mode == GradMode::Off)
    return S.Mode;
  if (S.Mode == GradMode::On)
    OnOnce.insert(E);
  // An unnamed guard lives to the end of the full expression:
  // `run(torch::NoGradGuard(), x)`, `(torch::NoGradGuard(), net(x))`.
  const auto *Call = dyn_cast<CallExpr>(E);
  if (Call && llvm::any_of(Call->arguments(), [](const Expr *Arg) {
        return torch::isTemporaryGuard(cpp::stripImplicit(Arg));
      }))
    return GradMode::Off;
  for (const Stmt *P = Out->parentOf(E); P && isa<Expr>(P);
       P = Out->parentOf(P))
    if (const auto *Comma = dyn_cast<BinaryOperator>(P))
      if (Comma->getOpcode() == BO_Comma &&
          torch::isTemporaryGuard(cpp::stripImplicit(Comma->getLHS())) &&
          Out->isWithin(E, Comma->getRHS()))
        return GradMode::Off;
  return S.Mode;
}

Value Interpreter::produced(Value V) {
  if (S.Mode == GradMode::On)
    return V;
  return S.Mode == GradMode::Off || V.carriesNothing() ? Value()
                                                       : Value::unknown();
}

} // namespace libtorch_tidy::flow
