//===- UserCalls.cpp - What a call of the user's function does ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flow of a function of this unit is its summary: here it is put in the
// terms of a caller.
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/history/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// One call, as evalUserCall() says.
class Interpreter::UserCall {
public:
  UserCall(Interpreter &At, const cpp::Call &C, const FunctionFlow &Callee,
           std::optional<LabelId> Fresh, bool ThisIsFresh)
      : At(At), C(C), Callee(Callee), Fresh(Fresh), ThisIsFresh(ThisIsFresh),
        Mode(At.modeAt(C.E)) {}

  Value run() {
    if (!isa<LambdaExpr>(C.E)) // Its body may be called elsewhere.
      At.Calls[C.E] = {C.E, Callee.function(), Mode};
    for (const Expr *Arg : C.Args)
      Args.push_back(At.eval(Arg));
    if (C.Object)
      Object = At.eval(C.Object);

    consumeArguments();
    // With gradients off here, nothing gains history in the callee.
    if (Mode != GradMode::Off)
      assignResults();
    if (Callee.exitMode() != GradMode::On && At.S.Mode == GradMode::On)
      At.setMode(Callee.exitMode());
    if (Callee.trains())
      At.trainsAt(C.E);

    if (Mode == GradMode::Off)
      return {};
    // Only what is returned is distinguished: what grows a place of ours is an
    // accumulation of ours.
    for (const auto &[Key, A] : Callee.accumulations())
      if (Callee.label(A.Carry).Consumers == Label::Returned)
        Grown[A.Carry] = &A;
    Known.clear();
    return mapped(Callee.Return);
  }

private:
  struct Path {
    PlaceId Root;
    llvm::SmallVector<Selector, 4> Parts; ///< The innermost first.
  };
  Path pathTo(PlaceId Theirs) const {
    Path To{Theirs, {}};
    while (Callee.place(To.Root).Parent) {
      To.Parts.push_back(*Callee.place(To.Root).Part);
      To.Root = *Callee.place(To.Root).Parent;
    }
    return To;
  }

  /// The parameter of the callee that \p Root is, by its number.
  std::optional<unsigned> parameter(PlaceId Root) const {
    const auto *Param = dyn_cast_or_null<ParmVarDecl>(Callee.place(Root).Root);
    if (!Param || Param->getDeclContext() != Callee.function())
      return std::nullopt;
    return Param->getFunctionScopeIndex();
  }

  /// A place of the callee in terms of the caller.
  std::optional<Target> ours(PlaceId Theirs) {
    Path To = pathTo(Theirs);
    std::optional<Target> Ours;
    if (const VarDecl *Root = Callee.place(To.Root).Root; !Root) {
      if (C.OnThis || !C.Object)
        Ours = Target{At.rootPlace(nullptr)};
      else
        Ours = At.placeOf(C.Object);
    } else if (std::optional<unsigned> Index = parameter(To.Root)) {
      if (*Index < C.Args.size())
        Ours = At.placeOf(C.Args[*Index]);
    } else {
      Ours = At.placeOfVar(Root);
    }
    while (Ours && !To.Parts.empty())
      Ours->P = At.partPlace(Ours->P, To.Parts.pop_back_val());
    return Ours;
  }

  /// What a place of the callee held when it was called.
  Value onEntry(PlaceId Theirs) {
    Path To = pathTo(Theirs);
    Value Held;
    if (std::optional<unsigned> Index = parameter(To.Root)) {
      Held = *Index < Args.size() ? Args[*Index] : Value();
    } else if (std::optional<Target> Root = ours(To.Root)) {
      // Read the part itself: for members, it is a label of its own.
      if (std::optional<Target> Part = ours(Theirs))
        return At.read(Part->P);
      Held = At.read(Root->P);
    } else {
      Held = Object;
    }
    while (!To.Parts.empty())
      Held = Held.part(To.Parts.pop_back_val());
    return Held;
  }

  Value mapped(LabelId Theirs) {
    if (auto It = Known.find(Theirs); It != Known.end())
      return It->second;
    Value V = computed(Theirs);
    return Known[Theirs] = V;
  }

  Value computed(LabelId Theirs) {
    const Label &L = Callee.label(Theirs);
    Value V;
    if (L.K == Label::Entry) {
      V = onEntry(L.Where).flat();
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
    } else if (L.bringsHistory() && Fresh && Mode == GradMode::On) {
      At.arise(*Fresh, V);
      Label &Ours = At.Out->Labels[*Fresh];
      Ours.RunsModule |= L.bringsGraph();
      if (Ours.From.empty())
        Ours.From = L.From;
      // What the callee back-propagated before it handed it on.
      if (L.Consumers & Label::Backward) {
        Ours.Consumers |= Label::Backward;
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
    for (const auto &[Part, Inner] : Theirs.Parts)
      V.setPart(Part, mapped(Inner));
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
    const Label &Only = Callee.label(OnlyItself.find_first());
    return Only.K == Label::Entry && Only.Where == Theirs;
  }

  /// What the callee does with the history that it is given.
  void consumeArguments() {
    for (LabelId L = 0; L < Callee.labels().size(); ++L) {
      const Label &Theirs = Callee.label(L);
      unsigned Inside = Theirs.Consumers & (Label::Backward | Label::Escaped);
      if (Theirs.K != Label::Entry || !Inside)
        continue;
      Value Entry = onEntry(Theirs.Where).flat();
      At.consume(Entry, Inside, C.E);
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
      const std::optional<LabelId> Kept = Callee.addsNothingTo(Theirs)
                                              ? Callee.entryIn(V, Theirs)
                                              : std::nullopt;
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
      At.assignViaCall(C, Callee, Theirs, *Ours, std::move(Mapped));
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

void Interpreter::assignViaCall(const cpp::Call &C, const FunctionFlow &Callee,
                                PlaceId Theirs, Target To, Value V) {
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
      Bounded.insert(To.P);
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
    if (!IntoModule && Out->outlivesFunction(To.P))
      consume(V, Label::Stored, C.E, To.P);
    write(To.P, V, !To.Element);
    return;
  }
  assign(C.E, To, std::move(V), Accumulation::ViaCall, nullptr);
  if (auto It = Out->Accumulations.find({C.E, To.P});
      It != Out->Accumulations.end()) {
    constexpr unsigned Enough = 3; // Steps that a reader follows.
    if (Inner.size() > Enough)
      Inner.resize(Enough);
    It->second.Inner.assign(Inner.begin(), Inner.end());
    It->second.Elsewhere = std::move(Elsewhere);
  }
}

} // namespace libtorch_tidy::flow
