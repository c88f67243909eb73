//===- CallHandlers.cpp - What known functions do to history --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handlers of calls of LibTorch, the standard library and functions with a
// flow; the tables that name them are in Calls.cpp.
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Types.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

using cpp::Std;

//===----------------------------------------------------------------------===//
// LibTorch
//===----------------------------------------------------------------------===//

/// One value for each of an operator's outputs, as far as they differ.
static Value outputsOf(const torch::OpFacts *Facts, const Value &Inputs) {
  if (!Facts || Facts->Factory || Facts->neverDifferentiable())
    return Facts ? Value() : Inputs;
  if (Facts->Outputs < 2 || !Facts->NonDifferentiable)
    return Inputs;
  Value V = Inputs;
  for (unsigned I = 0; I < Facts->Outputs; ++I)
    V.setPart(Selector::element(I),
              Facts->NonDifferentiable >> I & 1 ? Value() : Inputs);
  return V;
}

/// \p V is what \p Object holds from here on, if that has a name.
void Interpreter::overwrite(const Expr *Object, const Value &V) {
  if (Object)
    if (std::optional<Target> P = placeOf(Object))
      write(P->P, V, !P->Element);
}

/// Is the result of \p C a tensor that requires no gradients? A gradient has no
/// history of its own here: see backward().
bool Interpreter::hasNoHistory(const cpp::Call &C) {
  return torch::gradOf(C.expr()) ||
         torch::registersParameter(C.expr()) == torch::Flag::False ||
         (torch::isParametersCall(C.expr()) && isFrozen(C.Object));
}

Value Interpreter::requiresGrad(const cpp::Call &C, torch::Flag Requires,
                                const Operands &Of) {
  if (Requires == torch::Flag::False)
    return Of.Object;
  Value Leaf = Of.Object;
  arise(label(Label::Leaf, C.E, 0), Leaf);
  overwrite(C.Object, Leaf);
  return Leaf;
}

Value Interpreter::dropHistory(const cpp::Call &C, const Operands &) {
  if (C.Name.ends_with("_"))
    overwrite(C.Object, Value());
  return {};
}

Value Interpreter::newLeaf(const cpp::Call &C, const Operands &) {
  Value Leaf;
  arise(label(Label::Leaf, C.E, 0), Leaf);
  return Leaf;
}

Value Interpreter::inPlace(const cpp::Call &C, const Expr *Self,
                           const Operands &Of) {
  const bool OnTensor = Self == C.Object;
  const auto Others = ArrayRef(C.Args).drop_front(!OnTensor);
  const Value Added = OnTensor ? Of.Args : evalAll(Others);
  auto Addend = llvm::find_if(
      Others, [](const Expr *Arg) { return torch::isTensor(Arg->getType()); });
  accumulate(C.E, Self, Added, Accumulation::InPlace,
             Addend == Others.end() ? nullptr : *Addend);
  Value Result = eval(Self);
  Result.join(produced(Added));
  return Result;
}

Value Interpreter::intoFirst(const cpp::Call &C, const Operands &) {
  const Value Added = evalAll(ArrayRef(C.Args).drop_front());
  accumulate(C.E, C.Args.front(), Added, Accumulation::InPlace, nullptr);
  return eval(C.Args.front());
}

/// Hooks and saved data keep what they are given somewhere else.
Value Interpreter::keepArguments(const cpp::Call &C, const Operands &Of) {
  consume(Of.Args, Label::Escaped, C.E);
  return {};
}

Value Interpreter::tensorOperator(const cpp::Call &C, const Operands &Of) {
  const torch::OpFacts *Facts = torch::opFacts(C.Callee);
  Value Inputs = Of.Args;
  Inputs.join(Of.Object.flat());
  // An operator that the table does not know, of a later LibTorch: as much is
  // known of it as of a function that another file defines.
  if (!Facts && C.E->isPRValue() && torch::isTensor(C.E->getType())) {
    consume(Inputs, Label::Computed, C.E);
    Inputs.Unknown = true;
  }
  return produced(outputsOf(Facts, Inputs));
}

/// c10::List and its like grow as containers of the standard library do.
Value Interpreter::insertion(const cpp::Call &C, const Operands &Of) {
  if (C.Object && mayCarry(C.Object->getType()))
    accumulate(C.E, C.Object, Of.Args, Accumulation::Contain,
               C.Args.empty() ? nullptr : C.Args.back());
  return {};
}

Value Interpreter::wrapper(const cpp::Call &, const Operands &Of) {
  Value All = Of.Object.Parts.empty() ? Of.Object : Of.Object.flat();
  All.join(Of.Args);
  return All;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value Interpreter::comparison(const cpp::Call &C) {
  for (const Expr *Operand : C.expr()->arguments())
    eval(Operand);
  return {};
}

/// `t[i] = x` writes into t; `t = x` lets t name another tensor.
Value Interpreter::assignmentCall(const cpp::Call &C) {
  const Expr *Left = C.expr()->getArg(0), *Right = C.expr()->getArg(1);
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  if (!Method || Method->getRefQualifier() != RQ_RValue ||
      !torch::isTensor(Left->getType()))
    return assignment(C.E, Left, Right);
  Value V = eval(Right);
  accumulate(C.E, Left, V, Accumulation::InPlace, Right);
  return V;
}

Value Interpreter::compound(const cpp::Call &C) {
  const Expr *Left = C.expr()->getArg(0), *Right = C.expr()->getArg(1);
  accumulate(C.E, Left, eval(Right), Accumulation::InPlace,
             torch::isTensor(Right->getType()) ? Right : nullptr);
  return eval(Left);
}

std::optional<Value> Interpreter::access(const cpp::Call &C) {
  std::optional<Target> P = placeOf(C.E);
  if (!P)
    return std::nullopt;
  if (C.expr()->getNumArgs() > 1)
    eval(C.expr()->getArg(1));
  return read(P->P);
}

Value Interpreter::computedOperator(const cpp::Call &C) {
  const auto *E = cast<CXXOperatorCallExpr>(C.E);
  Value All;
  for (unsigned I = 0; I < std::min(E->getNumArgs(), 2u); ++I)
    All.join(eval(E->getArg(I)).flat());
  return torch::isTensor(E->getArg(0)->getType()) ||
                 torch::isTensor(E->getType())
             ? produced(All)
             : All;
}

//===----------------------------------------------------------------------===//
// The standard library
//===----------------------------------------------------------------------===//

/// A call of a std::function, or through a pointer.
Value Interpreter::functionObject(const cpp::Call &C) {
  const FunctionDecl *Target =
      onlyTargetOf(C.Object ? C.Object : C.expr()->getCallee());
  const FunctionFlow *Flow = Target ? Unit.flowOf(Target) : nullptr;
  if (!Flow || !Flow->available())
    return unknownCall(C);
  cpp::Call Inner(C.E, Target, nullptr, C.Args);
  Inner.OnThis = true;
  return evalUserCall(Inner, *Flow, label(Label::Helper, C.E, 0), false);
}

static bool isMap(QualType T) {
  return cpp::isStdClass(cpp::finalPointee(T.getNonReferenceType()),
                         cpp::StdClass::Map);
}

static bool isTuple(QualType T) {
  return cpp::isStdClass(T.getNonReferenceType(), cpp::StdClass::Tuple);
}

/// Is \p T the class of the elements of \p Container, so that its parts are
/// theirs?
static bool isElementOf(QualType Container, QualType T) {
  const CXXRecordDecl *Given = cpp::recordOf(T.getNonReferenceType());
  if (Given && isMap(Container))
    return isTuple(T);
  return Given &&
         cpp::anyTypeArgument(
             cpp::recordOf(cpp::finalPointee(Container.getNonReferenceType())),
             [&](QualType Of) { return cpp::recordOf(Of) == Given; });
}

/// What an insertion adds.
Value Interpreter::insertedBy(const cpp::Call &C) {
  const QualType Into = C.Object->getType();
  Value Added;
  // emplace_back(a, b) of a tuple; emplace(key, value) of a map.
  const bool OfTuples =
      C.does(Std::Emplace) && C.Written > 1 &&
      cpp::anyTypeArgument(
          cpp::recordOf(cpp::finalPointee(Into.getNonReferenceType())),
          isTuple);
  const bool OfMap =
      isMap(Into) && C.Written == 2 && !mayCarry(C.Args.front()->getType());
  for (unsigned I = 0; I < C.Args.size(); ++I) {
    Value V = eval(C.Args[I]);
    if (OfTuples || OfMap)
      Added.setPart(Selector::element(I), std::move(V));
    else
      Added.join(isElementOf(Into, C.Args[I]->getType()) ? V : V.flat());
  }
  return Added;
}

Value Interpreter::stdInsertion(const cpp::Call &C) {
  Value Added = insertedBy(C);
  const Expr *Addend = nullptr;
  for (const Expr *Arg : C.Args)
    if (mayCarry(Arg->getType()))
      Addend = Arg;
  if (auto Into = placeOf(C.Object); Into && reusesElement(C.E, Into->P))
    assign(C.E, {Into->P, true}, Added, Accumulation::Rebind, Addend);
  else if (mayCarry(C.Object->getType()))
    accumulate(C.E, C.Object, Added, Accumulation::Contain,
               C.Args.size() <= 2 ? Addend : nullptr);
  return Added;
}

void Interpreter::noteRemoval(const cpp::Call &C) {
  if (C.Object)
    if (std::optional<Target> P = placeOf(C.Object))
      Bounded.insert(P->P);
}

std::optional<Value> Interpreter::clearing(const cpp::Call &C) {
  const std::optional<Target> P = C.Object ? placeOf(C.Object) : std::nullopt;
  if (!P || P->Element)
    return std::nullopt;
  evalAll(C.Args);
  assign(C.E, *P, Value(), Accumulation::Rebind, nullptr);
  return Value();
}

Value Interpreter::stdMethod(const cpp::Call &C) {
  if (std::optional<Target> Inside = placeOf(C.E)) {
    evalAll(C.Args);
    return read(Inside->P);
  }
  // Any other method that can change its object may pass its arguments on: a
  // promise, a function object, an output iterator.
  if (const auto *Method = dyn_cast<CXXMethodDecl>(C.Callee);
      Method && !Method->isConst())
    consume(evalAll(C.Args), Label::Escaped, C.E);
  return allOperands(C);
}

std::optional<Value> Interpreter::tuplePart(const cpp::Call &C) {
  if (C.Args.empty())
    return std::nullopt;
  Value Whole = eval(C.Args.front());
  std::optional<unsigned> Index = tupleIndex(C.Callee);
  return Index ? Whole.part(Selector::element(*Index)) : Whole.flat();
}

Value Interpreter::tuple(const cpp::Call &C) {
  Value Tuple;
  for (unsigned I = 0; I < C.Args.size(); ++I)
    Tuple.setPart(Selector::element(I), eval(C.Args[I]));
  return Tuple;
}

std::optional<Value> Interpreter::sameObject(const cpp::Call &C) {
  return C.Args.size() == 1 ? std::optional(eval(C.Args.front()))
                            : std::nullopt;
}

std::optional<Value> Interpreter::swap(const cpp::Call &C) {
  if (C.Args.size() != 2)
    return std::nullopt;
  std::optional<Target> A = placeOf(C.Args[0]), B = placeOf(C.Args[1]);
  Value Both = evalAll(C.Args);
  if (A)
    write(A->P, Both, false);
  if (B)
    write(B->P, Both, false);
  return Value();
}

Value Interpreter::allOperands(const cpp::Call &C) {
  Value All = evalAll(C.Args);
  if (C.Object)
    All.join(eval(C.Object).flat());
  return All;
}

//===----------------------------------------------------------------------===//
// Functions with a flow
//===----------------------------------------------------------------------===//

/// One call, as evalUserCall() says: the flow of the callee, which is its
/// summary, is put in the terms of the caller.
class Interpreter::UserCall {
public:
  UserCall(Interpreter &At, const cpp::Call &C, const FunctionFlow &Callee,
           std::optional<LabelId> Fresh, bool ThisIsFresh)
      : At(At), C(C), Callee(Callee), Fresh(Fresh), ThisIsFresh(ThisIsFresh),
        Mode(At.modeAt(C.E)) {}

  Value run() {
    if (!isa<LambdaExpr>(C.E)) // Its body may be called elsewhere.
      At.noteCall(C.E, Callee.function());
    for (const Expr *Arg : C.Args)
      Args.push_back(At.eval(Arg));
    if (C.Object)
      Object = At.eval(C.Object);

    consumeArguments();
    // With gradients off here, nothing gains history in the callee.
    if (Mode != GradMode::Off)
      assignResults();
    if (Callee.trains())
      At.trainsAt(C.E);
    At.switchMode(C.E, Callee.exitMode(), Callee.exitFromOff(),
                  Callee.leftOffBy());
    At.SwitchesIfThrown |= Callee.switchesIfThrown();

    if (Mode == GradMode::Off)
      return {};
    // Only what is returned is distinguished: what grows a place of ours is an
    // accumulation of ours.
    for (const auto &[Key, A] : Callee.accumulations())
      if (Callee.label(A.Carry).Consumers == Label::Returned)
        Grown[A.Carry] = &A;
    Known.clear();
    const Value Result = mapped(Callee.Return);
    return torch::isTensor(Callee.function()->getReturnType()) ? Result.flat()
                                                               : Result;
  }

private:
  /// A place of the callee in terms of the caller.
  std::optional<Target> ours(PlaceId Theirs) {
    const Place &There = Callee.place(Theirs);
    if (There.Parent)
      return At.partOf(ours(*There.Parent), *There.Part);
    if (!There.Root)
      return C.OnThis || !C.Object ? Target{At.rootPlace(nullptr)}
                                   : At.placeOf(C.Object);
    const std::optional<unsigned> Index = Callee.indexOf(There.Root);
    if (!Index)
      return At.placeOfVar(There.Root);
    return *Index < C.Args.size() ? At.placeOf(C.Args[*Index]) : std::nullopt;
  }

  /// What a place of the callee held when it was called.
  Value onEntry(PlaceId Theirs) {
    const std::optional<unsigned> Index = Callee.indexOf(Callee.rootOf(Theirs));
    // Read the part itself: for members, it is a label of its own.
    if (const std::optional<Target> Ours = Index ? std::nullopt : ours(Theirs))
      return At.read(Ours->P);
    if (const Place &There = Callee.place(Theirs); There.Parent)
      return onEntry(*There.Parent).part(*There.Part);
    return !Index ? Object : *Index < Args.size() ? Args[*Index] : Value();
  }

  /// A tuple goes into modules as a whole: any of its elements may be in what
  /// the callee makes of it. Of a struct they get fields.
  static Value asHandedOn(const Value &V) {
    const auto Elements = llvm::count_if(V.Parts, [](const auto &Part) {
      return !Part.first.Field && !Part.second.carriesNothing();
    });
    return Elements > 1 ? V.flat() : V;
  }

  /// Is \p L, of the callee, a pass of a module that is among \p Frozen here?
  bool runs(const std::set<const ValueDecl *> &Frozen, const Label &L) {
    const auto M = L.K == Label::Forward && L.Site && !Frozen.empty()
                       ? torch::asModuleCall(L.Site)
                       : std::nullopt;
    const ValueDecl *D =
        M && M->Module ? torch::moduleNamed(M->Module) : nullptr;
    const auto Index = Callee.indexOf(dyn_cast_or_null<VarDecl>(D));
    if (Index)
      return *Index < C.Args.size() && At.isAmong(Frozen, C.Args[*Index]);
    return C.OnThis && isa_and_nonnull<FieldDecl>(D) && Frozen.count(D);
  }

  Value mapped(LabelId Theirs) {
    if (auto It = Known.find(Theirs); It != Known.end())
      return It->second;
    return Known[Theirs] = computed(Theirs);
  }

  Value computed(LabelId Theirs) {
    const Label &L = Callee.label(Theirs);
    Value V;
    if (L.K == Label::Entry) {
      V = asHandedOn(onEntry(L.Where));
      if (ThisIsFresh && Fresh && !Callee.rootOf(L.Where))
        At.arise(*Fresh, V);
    } else if (L.K == Label::Carry) {
      auto It = Grown.find(Theirs);
      if (It == Grown.end())
        return V;
      if (LabelSet Added = grownBy(*It->second); !Added.empty()) {
        LabelId Id = At.label(Label::Relay, C.E, Theirs);
        At.Out->Labels[Id].Callee = Callee.function();
        At.Out->Labels[Id].Assigned |= Added;
        V.Labels.set(Id);
      }
    } else if (runs(At.S.Frozen, L)) {
      return V;
    } else if (L.bringsHistory() && Fresh && Mode == GradMode::On) {
      At.arise(*Fresh, V);
      Label &Ours = At.Out->Labels[*Fresh];
      Ours.RunsModule |= L.bringsGraph();
      Ours.PerhapsFrozen |= L.PerhapsFrozen || runs(At.S.PerhapsFrozen, L);
      if (Ours.From.empty())
        Ours.From = L.From;
      // What the callee back-propagated before it handed it on.
      if (L.Consumers & Label::Backward) {
        Ours.Consumers |=
            Label::Backward | (Callee.frees(L) ? Label::Freed : 0);
        Ours.BackwardAt = C.E;
      }
    } else if (L.bringsHistory() && Mode == GradMode::Unknown) {
      V.Unknown = true;
    }
    return V;
  }

  Value mapped(const Value &Theirs) {
    Value V;
    for (LabelId L : Theirs.Labels)
      V.join(mapped(L));
    V.Unknown |= Theirs.Unknown;
    for (const auto &[Part, Inner] : Theirs.Parts) {
      // What the whole held on entry is, in a part, that part of it.
      Value There;
      There.Unknown = Inner.Unknown;
      for (LabelId L : Inner.Labels) {
        Value Whole = mapped(L);
        const Value *Known =
            Theirs.Labels.test(L) ? Whole.knownPart(Part) : nullptr;
        There.join(Known ? Value(*Known) : Whole);
      }
      if (!Inner.Parts.empty())
        There.join(mapped({{}, false, Inner.Parts}));
      V.setPart(Part, std::move(There));
    }
    return V;
  }

  /// The labels of what \p A, of the callee, added of what it was given.
  LabelSet grownBy(const Accumulation &A) {
    LabelSet Added;
    for (LabelId Id : A.Added.allLabels())
      if (Callee.label(Id).K == Label::Entry)
        Added |= onEntry(Callee.label(Id).Where).allLabels();
    return Added;
  }

  /// Is \p V, what \p Theirs holds on return, only what it held on entry?
  bool leavesAlone(PlaceId Theirs, const Value &V) const {
    LabelSet OnlyItself;
    for (LabelId L : V.allLabels())
      if (Callee.label(L).K != Label::Carry)
        OnlyItself.set(L);
    if (V.anyUnknown() || OnlyItself.count() != 1)
      return false;
    const Label &Only = Callee.label(*OnlyItself.begin());
    return Only.K == Label::Entry && Only.Where == Theirs;
  }

  /// What the callee does with the history that it is given.
  void consumeArguments() {
    for (LabelId L = 0; L < Callee.labels().size(); ++L) {
      const Label &Theirs = Callee.label(L);
      const unsigned Inside =
          Theirs.Consumers & (Label::Backward | Label::Escaped);
      const unsigned Unseen =
          Theirs.Consumers & (Label::Escaped | Label::Computed);
      if (Theirs.K != Label::Entry || !(Inside | Unseen))
        continue;
      Value Entry = onEntry(Theirs.Where).flat();
      if (Unseen && At.asksForGradient(Entry))
        At.handOver(Entry, Unseen, C.E);
      At.consume(Entry, Inside | (Callee.frees(Theirs) ? Label::Freed : 0),
                 C.E);
      if (Inside & Label::Backward)
        At.spend(C.E, Entry);
    }
  }

  /// Assigns to places of the caller what the callee leaves in them.
  void assignResults() {
    for (const auto &[Theirs, AtExit] : Callee.Exit) {
      // The old value, on a path that leaves early or throws, is kept and not
      // added to.
      Value V = AtExit;
      const std::optional<LabelId> Kept = Callee.keptIn(V, Theirs);
      if (Kept)
        V.Labels.reset(*Kept);
      Value Mapped = mapped(V);
      if (leavesAlone(Theirs, AtExit))
        continue;
      std::optional<Target> Ours = ours(Theirs);
      if (!Ours) {
        At.consume(Mapped, Label::Escaped, C.E);
        continue;
      }
      Ours->Element |= Kept.has_value();
      assign(Theirs, *Ours, std::move(Mapped));
    }
  }

  /// \p V is what the callee left in our place \p To, its place \p Theirs.
  void assign(PlaceId Theirs, Target To, Value V) {
    bool ToldThere = false;
    llvm::SmallVector<const Expr *, 2> Inner;
    std::string Elsewhere;
    for (const auto &[Key, A] : Callee.accumulations()) {
      if (A.Where != Theirs)
        continue;
      if (A.Site)
        Inner.push_back(A.Site);
      if (Elsewhere.empty())
        Elsewhere = A.Elsewhere;
      Inner.append(A.Inner.begin(), A.Inner.end());
      if (A.Bounded)
        At.Bounded.insert(To.P);
      for (LabelId L : A.Added.allLabels())
        ToldThere |= Callee.label(L).bringsHistory();
    }
    // A value that a module keeps for its own methods is seen again when one of
    // them is called here, so keeping it does not use its history. An
    // accumulation of history that arises in the callee is the callee's to
    // report.
    const bool IntoModule =
        C.Object && torch::isModule(C.Object->getType()) && !C.OnThis;
    if (IntoModule || ToldThere) {
      if (!IntoModule && At.Out->outlivesFunction(To.P))
        At.consume(V, Label::Stored, C.E, To.P);
      At.write(To.P, V, !To.Element);
      return;
    }
    At.assign(C.E, To, std::move(V), Accumulation::ViaCall, nullptr);
    if (auto It = At.Out->Accumulations.find({C.E, To.P});
        It != At.Out->Accumulations.end()) {
      constexpr unsigned Enough = 3; // Steps that a reader follows.
      if (Inner.size() > Enough)
        Inner.resize(Enough);
      It->second.Inner.assign(Inner.begin(), Inner.end());
      It->second.Elsewhere = std::move(Elsewhere);
    }
  }

  Interpreter &At;
  const cpp::Call &C;
  const FunctionFlow &Callee;
  const std::optional<LabelId> Fresh;
  const bool ThisIsFresh;
  const GradMode Mode;
  llvm::SmallVector<Value, 4> Args;
  Value Object;
  llvm::DenseMap<LabelId, Value> Known;
  llvm::SmallDenseMap<LabelId, const Accumulation *> Grown;
};

Value Interpreter::evalUserCall(const cpp::Call &C, const FunctionFlow &Callee,
                                std::optional<LabelId> Fresh,
                                bool ThisIsFresh) {
  return UserCall(*this, C, Callee, Fresh, ThisIsFresh).run();
}

} // namespace libtorch_tidy::flow
