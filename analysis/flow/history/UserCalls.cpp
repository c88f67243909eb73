//===- UserCalls.cpp - What functions with a flow do to history -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/history/Interpreter.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

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

  /// \p Theirs, or the part of it that \p Below leads to, held on return \p V.
  /// What a whole held on entry is, in a part of it, that part.
  Value mappedAt(PlaceId Theirs, const Value &V,
                 llvm::ArrayRef<Selector> Below = {}) {
    Value Mapped;
    Mapped.Unknown = V.Unknown;
    for (LabelId L : V.Labels) {
      const Label &Of = Callee.label(L);
      Value Held = mapped(L);
      if (Of.K == Label::Entry && Callee.isPartOf(Theirs, Of.Where)) {
        Held = partOf(Of.Where, Held, Theirs);
        for (Selector Part : Below)
          Held = Held.part(Part);
      }
      Mapped.join(Held);
    }
    llvm::SmallVector<Selector, 4> Deeper(Below.begin(), Below.end());
    for (const auto &[Part, Inner] : V.Parts) {
      Deeper.push_back(Part);
      Mapped.setPart(Part, mappedAt(Theirs, Inner, Deeper));
      Deeper.pop_back();
    }
    return Mapped;
  }

  /// Of \p Held, in the callee's place \p Whole, its place \p Part.
  Value partOf(PlaceId Whole, const Value &Held, PlaceId Part) const {
    const Place &There = Callee.place(Part);
    return Part == Whole ? Held
                         : partOf(Whole, Held, *There.Parent).part(*There.Part);
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
      Value Mapped = mappedAt(Theirs, V);
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
