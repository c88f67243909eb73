//===- FunctionFlow.h - How tensors move in one function --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The result of the flow analysis of one function: a forward fixpoint over
/// its CFG that follows which history each place may carry and whether
/// gradient mode is on, and records who consumes that history. It serves two
/// readers: checks, which look for labels that have no consumer and for
/// accumulations, and the analysis of callers, for which it is the summary.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_FUNCTIONFLOW_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_FUNCTIONFLOW_H

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Fields.h"
#include "analysis/flow/history/LabelSet.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <memory>
#include <optional>

namespace libtorch_tidy::flow {

struct FunctionSummary;
using torch::GradMode;
using PlaceId = unsigned;

/// Which part of an aggregate: a field, or an element of a tuple or pair.
struct Selector {
  const clang::FieldDecl *Field = nullptr; ///< Null for an element.
  unsigned Element = 0;

  static Selector field(const clang::FieldDecl *F) { return {F}; }
  static Selector element(unsigned Index) { return {nullptr, Index}; }
  bool operator==(const Selector &O) const {
    return cpp::fieldsOf(*this) == cpp::fieldsOf(O);
  }
  bool operator<(const Selector &O) const {
    return cpp::fieldsOf(*this) < cpp::fieldsOf(O);
  }
};

/// The history that a value may carry. Joins only grow it.
struct Value {
  LabelSet Labels;
  /// It may carry history from where the model cannot see.
  bool Unknown = false;
  /// Parts known apart from the whole, ordered by selector. What the whole
  /// carries (Labels, Unknown) counts for every part that is not listed.
  std::vector<std::pair<Selector, Value>> Parts;

  static Value unknown() { return {{}, true, {}}; }
  static Value of(LabelId L) {
    Value V;
    V.Labels.set(L);
    return V;
  }

  bool carriesNothing() const { return !Unknown && allLabels().empty(); }
  /// Adds \p L to the whole and to all its parts.
  void addEverywhere(LabelId L);
  /// The labels of the whole and of all its parts.
  LabelSet allLabels() const;
  bool anyUnknown() const;
  /// All parts merged into the whole.
  Value flat() const;
  Value part(Selector S) const;
  /// The part, if it is known apart; null otherwise.
  const Value *knownPart(Selector S) const;
  /// The part, which is known apart from now on.
  Value &apart(Selector S);
  /// Returns the part.
  Value &setPart(Selector S, Value V);
  /// Returns true when this value grew.
  bool join(const Value &Other);
  bool operator==(const Value &O) const {
    return Unknown == O.Unknown && Labels == O.Labels && Parts == O.Parts;
  }
};

/// Where values live: a variable, `this`, or a part of another place.
/// Elements of containers, pointees and iterators count as their container.
struct Place {
  const clang::VarDecl *Root = nullptr; ///< Null for `this` and for parts.
  std::optional<PlaceId> Parent;        ///< Set for parts only.
  std::optional<Selector> Part;
};

/// Where history comes from, or that it went round a loop.
struct Label {
  enum Kind {
    Forward, ///< A module call with gradient mode on.
    Helper,  ///< A call of a function of this unit that returns fresh history.
    Leaf,    ///< A tensor that was made to require gradients.
    Entry,   ///< The value of a parameter, member or global on entry.
    Carry,   ///< Assigned at Site to Where, which outlives the iteration.
    Relay,   ///< A Carry of the function that Site calls, in its result.
    Spent,   ///< Where shared a graph that backward call Site went through.
    /// At Site, what backward() goes through. No source of it is seen, so it is
    /// the call that shows that Where has history.
    Proven,
  };
  /// Who needs the history of a label. No consumer (0): a defect may be near.
  enum Consumer : unsigned {
    Backward = 1, ///< backward(), autograd::backward or autograd::grad.
    Returned = 2,
    Stored = 4,  ///< In a parameter, member, global or captured variable.
    Escaped = 8, ///< To code that the model cannot see.
    /// To a function that the model cannot see and that makes a tensor of it:
    /// most likely it only computes.
    Computed = 16,
    /// Backward, by a call that keeps no graph: another would throw.
    Freed = 32,
  };

  Kind K;
  const clang::Expr *Site = nullptr; ///< Null for Entry.
  /// Entry, Carry and Proven; of Leaf: the field, or 0. For Relay: the LabelId
  /// of the callee's Carry.
  PlaceId Where = 0;
  unsigned Consumers = 0; ///< Consumer bits.
  /// The backward call, if any; of several the last in the source.
  const clang::Expr *BackwardAt = nullptr;
  /// Fields that hold it after `Stored`, for a look at the rest of the unit.
  llvm::SmallVector<PlaceId, 1> StoredIn;
  /// The call's mode: On, or Unknown when it differs by path.
  GradMode Mode = GradMode::On;
  /// It is On even when the function is called with gradients off.
  bool OnAnyway = false;

  /// For Carry: the labels of the value that is assigned. For Forward: of what
  /// goes in. For Relay: of what the callee added, as far as it was handed in
  /// at Site. For Spent, with `this` as Where: of what was back-propagated.
  LabelSet Assigned;
  /// For Relay: whose Carry it is.
  const clang::FunctionDecl *Callee = nullptr;
  /// For Forward and Helper: the result does carry the label.
  bool Arises = false;
  /// For Spent and Forward: some of what was back-propagated, or goes in, comes
  /// from where the model cannot see.
  bool Unseen = false;
  /// For Helper: a module runs in the callee, and its result comes back.
  bool RunsModule = false;
  /// For Forward and Helper: of a module that is frozen on some paths.
  bool PerhapsFrozen = false;
  /// Where it arises in another unit, as file:line. Empty: in this one.
  std::string From;

  bool bringsHistory() const {
    return K == Forward || K == Helper || K == Leaf || K == Proven;
  }
  /// A member of a class that requires gradients, as the parameters of a model
  /// that is not a module.
  bool isParameter() const { return K == Leaf && Where; }
  /// A graph comes with it, not only a leaf of one.
  bool bringsGraph() const {
    return Arises && (K == Forward || (K == Helper && RunsModule));
  }
};

/// One statement that adds to, or rewrites from itself, what a place holds.
struct Accumulation {
  enum Form {
    InPlace, ///< t += x, t.add_(x), t[i] = x
    Rebind,  ///< t = f(t, x), directly or over other variables
    Contain, ///< v.push_back(x)
    Slot,    ///< v[i] = x, m[k] = x: replaces one element of many
    ViaCall, ///< a function of this unit does one of these
  };
  const clang::Expr *Site = nullptr;
  PlaceId Where = 0;
  Form How = InPlace;
  /// The expression that is added, when there is one to point at.
  const clang::Expr *Addend = nullptr;
  Value Added;       ///< The history that it adds.
  LabelId Carry = 0; ///< The label of this accumulation.
  GradMode Mode = GradMode::On;
  /// The loop over whose iterations it grows; null when Where outlives the
  /// function.
  const clang::Stmt *Loop = nullptr;
  /// For ViaCall: the statements in the callee, outermost first.
  llvm::SmallVector<const clang::Expr *, 2> Inner;
  /// For ViaCall, and for what happens in another unit: where, as file:line.
  std::string Elsewhere;
  /// Something takes elements out of Where again, or the slots are reused.
  bool Bounded = false;
};

/// A call of a function.
struct CallSite {
  const clang::Expr *Call = nullptr;
  const clang::FunctionDecl *Callee = nullptr;
  GradMode Mode = GradMode::On;
  /// It is On even when the caller is called with gradients off.
  bool OnAnyway = false;
  /// An InferenceMode of the caller is active: the callee cannot switch
  /// gradients on.
  bool UnderInference = false;
};

/// The analysis of one function. Immutable once made.
class FunctionFlow {
public:
  /// The flow of a function that does nothing with tensors.
  static std::unique_ptr<FunctionFlow> nothing(const clang::FunctionDecl *F);
  /// The flow of \p F, whose body is in another unit with summary \p Said.
  static std::unique_ptr<FunctionFlow> abroad(const clang::FunctionDecl *F,
                                              const FunctionSummary &Said);
  /// The flow of a function that is too large, or that has no graph.
  static std::unique_ptr<FunctionFlow> givenUp(const clang::FunctionDecl *F);
  const clang::FunctionDecl *function() const { return F; }
  /// Would callers see the same function in \p Other, an earlier flow of it?
  bool saysTheSame(const FunctionFlow &Other) const;
  /// False when the function was given up: nothing is known then, and callers
  /// treat it as unseen code.
  bool available() const { return Available; }
  /// For other units. It must be available().
  FunctionSummary summary() const;
  /// Was it made by abroad()? Labels and accumulations have no site then.
  bool isAbroad() const { return Abroad; }
  /// For a function of another unit: is every forward pass whose result it
  /// returns reported there?
  bool reportsResultsAbroad() const { return ReportsResults; }

  llvm::ArrayRef<Label> labels() const { return Labels; }
  const Label &label(LabelId L) const { return Labels[L]; }
  const Place &place(PlaceId P) const { return Places[P]; }
  PlaceId placeCount() const { return static_cast<PlaceId>(Places.size()); }
  /// Is \p P the same as \p Whole, or a part of it?
  bool isPartOf(PlaceId P, PlaceId Whole) const;
  /// The variable at the bottom of \p P; null for `this`.
  const clang::VarDecl *rootOf(PlaceId P) const;
  /// The number of the function's parameter that \p D is; nullopt for others
  /// and for null.
  std::optional<unsigned> indexOf(const clang::VarDecl *D) const;
  /// `this->total_`, `meter.total`, `losses`: as the user would write it.
  std::string nameOf(PlaceId P) const;
  /// The innermost field on the way to \p P, or null.
  const clang::FieldDecl *fieldOf(PlaceId P) const;
  /// The statement that declares \p V, a local variable; null for others.
  const clang::Stmt *declarationOf(const clang::VarDecl *V) const {
    return Body ? Body->declarationOf(V) : nullptr;
  }
  /// Does \p P live longer than a call of the function?
  bool outlivesFunction(PlaceId P) const;
  /// Is \p P in the parameter that has what the call before returned, as
  /// std::accumulate makes them?
  bool isFolded(PlaceId P) const;

  /// In the order of the source.
  const llvm::MapVector<std::pair<const clang::Expr *, PlaceId>, Accumulation> &
  accumulations() const {
    return Accumulations;
  }
  /// Is \p A one pass through the layers of a model, another in each iteration:
  /// `for (auto &layer : layers) x = layer(x)`? It does not grow with anything
  /// but the model.
  bool appliesLayers(const Accumulation &A) const;
  /// The label in \p V, what \p P holds on return, of what it held on entry,
  /// if nothing is added to that: some way leaves it alone.
  std::optional<LabelId> keptIn(const Value &V, PlaceId P) const;
  /// Does \p A add to what its place held on entry, and not only to what this
  /// call put there?
  bool addsToEntry(const Accumulation &A) const;
  /// Calls of functions of this unit, in the order of the source, as are the
  /// lists below.
  llvm::ArrayRef<CallSite> calls() const { return Calls; }
  /// Calls of functions that this unit does not show.
  llvm::ArrayRef<CallSite> unseenCalls() const { return UnseenCalls; }
  /// Calls of TorchScript modules whose parameters are not known to be frozen.
  const llvm::MapVector<const clang::Expr *, GradMode> &scriptCalls() const {
    return ScriptCalls;
  }
  /// Calls that need history: backward, optimizer steps, calls of functions
  /// that train, gradient mode switched on, calls into code that cannot be seen
  /// with tensors or modules.
  llvm::ArrayRef<const clang::Expr *> trainingSites() const {
    return TrainingSites;
  }
  /// Does it, or what it calls in this unit, run backward or step an
  /// optimizer?
  bool trains() const { return Trains; }
  /// Gradient mode on return, when On on entry.
  GradMode exitMode() const { return ExitMode; }
  /// The same when Off on entry.
  GradMode exitFromOff() const { return ExitFromOff; }
  /// The call in it that has left gradient mode off, on some way, on return;
  /// null for none.
  const clang::Expr *leftOffBy() const { return LeftOffBy; }
  /// What runs a module, or trains, while gradient mode is as a call before it
  /// has left it on some way: off.
  const llvm::MapVector<const clang::Expr *, const clang::Expr *> &
  runsOff() const {
    return RunsOff;
  }
  /// What ends a guard before its scope does, and brings gradients back.
  const llvm::SetVector<const clang::Expr *> &endedGuards() const {
    return EndedGuards;
  }
  /// What in \p S leaves another gradient mode when S is done, or may: the
  /// function's body, one of its blocks or a statement. Null for nothing. What
  /// a guard at the head of S would take back.
  const clang::Expr *switchedAfter(const clang::Stmt *S) const;
  /// May an exception leave it with another gradient mode than on entry?
  bool switchesIfThrown() const { return SwitchesIfThrown; }

  /// The parent of \p S within the function's body; null for the body.
  const clang::Stmt *parentOf(const clang::Stmt *S) const {
    return Body ? Body->parentOf(S) : nullptr;
  }
  /// The innermost loop around \p S that \p Where outlives.
  const clang::Stmt *loopFor(const clang::Stmt *S, PlaceId Where) const;
  /// The history that a value may carry. A graph can hold only what has some.
  enum class Carried : unsigned char {
    Nothing,
    Entry, ///< What parameters, members and globals may have brought along.
    Seen,  ///< Other history, also from where the model cannot see.
  };
  /// What the value of \p E may carry that is recorded there, over all rounds:
  /// Nothing where gradient mode is off, Seen where E was not evaluated as code
  /// of this function.
  Carried recordedBy(const clang::Expr *E) const;
  /// Is the graph of \p L freed by a backward() that runs whenever the function
  /// returns or, given \p With, in each round that runs \p With?
  bool frees(const Label &L, const clang::Stmt *With = nullptr) const;
  /// The same in some of the rounds of the loop that \p A adds in: where a
  /// condition decides, it is another one in each round.
  bool freesInSome(const Label &L, const Accumulation &A) const;
  /// Is \p S within \p Ancestor (or the same)?
  bool isWithin(const clang::Stmt *S, const clang::Stmt *Ancestor) const;

private:
  friend class Interpreter;

  bool overlap(PlaceId A, PlaceId B) const {
    return isPartOf(A, B) || isPartOf(B, A);
  }

  const clang::FunctionDecl *F = nullptr;
  bool Available = false, Abroad = false, ReportsResults = false;
  bool Trains = false;
  GradMode ExitMode = GradMode::On, ExitFromOff = GradMode::Off;
  bool SwitchesIfThrown = false;
  const clang::Expr *LeftOffBy = nullptr;
  llvm::MapVector<const clang::Expr *, const clang::Expr *> RunsOff;
  llvm::SetVector<const clang::Expr *> EndedGuards;
  /// See switchedAfter().
  llvm::DenseMap<const clang::Stmt *, const clang::Expr *> Switched;
  std::vector<Label> Labels;
  std::vector<Place> Places;
  Value Return;
  /// The values that places which outlive the function hold on return.
  std::map<PlaceId, Value> Exit;
  llvm::MapVector<std::pair<const clang::Expr *, PlaceId>, Accumulation>
      Accumulations;
  std::vector<CallSite> Calls, UnseenCalls;
  llvm::MapVector<const clang::Expr *, GradMode> ScriptCalls;
  llvm::SmallVector<const clang::Expr *, 0> TrainingSites;
  /// By the expressions that were evaluated, without what cpp::peel() removes.
  llvm::DenseMap<const clang::Expr *, Carried> Recorded;
  cpp::Body *Body = nullptr;
};

/// A variable that carries a graph, through which backward() has gone, into the
/// next iteration, whose backward() goes through it again.
struct CarriedGraph {
  /// The statement that makes the new value from the old one.
  const Accumulation *Made = nullptr;
  const Label *Spent = nullptr;      ///< The backward() calls.
  const clang::Stmt *Loop = nullptr; ///< The innermost loop that carries it.
  /// The module call that it comes out of; null when none takes part.
  const Label *Module = nullptr;
  /// Something in the loop may cut it now and then.
  bool MayBeCut = false;
};

/// One for each accumulation, in source order.
llvm::SmallVector<CarriedGraph, 2> carriedGraphs(const FunctionFlow &Flow);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_FUNCTIONFLOW_H
