//===- Interpreter.h - Runs one function over abstract values ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The domain of autograd history: which labels each place may carry, and
/// whether gradient mode is on. Statements are evaluated as a whole where they
/// stand in the CFG; evaluating one twice changes nothing, because labels
/// belong to expressions and sets only grow.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_INTERPRETER_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_INTERPRETER_H

#include "analysis/cpp/Calls.h"
#include "analysis/flow/Fixpoint.h"
#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace libtorch_tidy::flow {

class Interpreter {
public:
  Interpreter(UnitModel &Unit, const clang::FunctionDecl *F);
  /// Runs to the fixpoint. A function that is given up (see Fixpoint.h) has a
  /// flow that is not available().
  std::unique_ptr<FunctionFlow> run();

  /// Gradient mode at a point of the function.
  struct Switches {
    GradMode Mode = GradMode::On;     ///< When On on entry.
    GradMode FromOff = GradMode::Off; ///< When Off on entry.
    /// The call that has left it off on some way; null for guards, and for what
    /// depends on a value.
    const clang::Expr *OffBy = nullptr;

    /// Returns whether this changed.
    bool join(const Switches &Other);
  };

  /// A guard that is alive.
  struct Guard {
    Switches Before;        ///< What its end brings back.
    bool Inference = false; ///< Not overridden by AutoGradMode(true).
    /// Some paths do not have it; on these its end changes nothing.
    bool Perhaps = false;
    /// Its box may have been given to another owner.
    bool Shared = false;

    bool join(const Guard &Other);
  };

  /// Gradient mode, and what will change it.
  struct Modes : Switches {
    std::map<const clang::VarDecl *, Guard> Guards;
    /// Variables that were given the mode of then.
    std::map<const clang::VarDecl *, Switches> Saved;

    bool join(const Modes &Other);
    void end(const clang::VarDecl *V);
    /// What gradients are under an InferenceMode that is alive, whatever else
    /// switches them: off, or unknown where there may be none.
    std::optional<torch::GradMode> underInference() const;
  };

  /// What holds at a point of the function.
  struct State : Modes {
    std::map<PlaceId, Value> Held; ///< Whole values; parts are own places.
    /// Variables and fields whose modules have no parameter that trains.
    std::set<const clang::ValueDecl *> Frozen;
    /// The same on some of the paths.
    std::set<const clang::ValueDecl *> PerhapsFrozen;
    /// Control does not get here, but by an exception: what holds is for places
    /// that outlive the function, and the mode means nothing.
    bool Gone = false;
  };

  // The domain, as Fixpoint.h asks for it.
  void enter(const clang::CFGBlock &Block, State In);
  void visit(const clang::CFGElement &Element);
  State leave();
  bool join(State &Into, const State &From);
  bool isTaken(const clang::CFGBlock &Block, const clang::CFGBlock &Successor);
  std::optional<State> along(const clang::CFGBlock &Block,
                             const clang::CFGBlock &Successor,
                             const State &After);
  void atThrow(llvm::MutableArrayRef<Thrown<State>> To);

private:
  /// Something an assignment can reach: a place, or an element of it.
  struct Target {
    PlaceId P;
    bool Element = false; ///< Others of its elements keep their value.
  };
  /// What goes into a call.
  struct Operands {
    Value Object, Args;
  };

  // Statements.
  void transfer(const clang::Stmt *S);
  void declare(const clang::VarDecl *V);
  void changeGuard(const clang::Expr *E, const torch::GuardChange &Change);
  /// Are all changes of box \p V, by whoever, ones that guardChange() tells?
  bool isPlainBox(const clang::VarDecl *V);
  void finish(const State &AtExit);

  // Places: Expressions.cpp.
  PlaceId rootPlace(const clang::VarDecl *V);
  /// The place of a part, or \p Base where that is not told apart from it.
  PlaceId partPlace(PlaceId Base, Selector S);
  bool isToldApart(PlaceId Base, Selector Part) const;
  /// Calls \p Visit for each place that is a part of \p P, wholes before their
  /// parts.
  template <typename Function>
  void forEachPart(PlaceId P, const Function &Visit) const {
    if (auto It = PartsOf.find(P); It != PartsOf.end())
      for (PlaceId Part : It->second) {
        Visit(Part);
        forEachPart(Part, Visit);
      }
  }
  std::optional<Target> placeOf(const clang::Expr *E);
  Target placeOfVar(const clang::VarDecl *V);
  std::optional<Target> placeOfBinding(const clang::BindingDecl *Binding);
  std::optional<Target> partOf(std::optional<Target> Whole, Selector Part);
  std::optional<Target> placeOfOperator(const clang::CXXOperatorCallExpr *Op);
  std::optional<Target> placeOfCall(const clang::CallExpr *Call);
  std::optional<Target> elementOf(const clang::Expr *Whole);
  std::optional<Target> mappedValueOf(const clang::Expr *Whole);
  /// Where a write in place lands: the place under the views of it.
  std::optional<Target> inPlaceTarget(const clang::Expr *E);
  /// I of std::get<I>.
  static std::optional<unsigned> tupleIndex(const clang::FunctionDecl *Get);
  bool hasEntryValue(PlaceId P) const;
  Value readWhole(const State &At, PlaceId P);
  Value withParts(const std::map<PlaceId, Value> &Held, PlaceId P,
                  Value V) const;
  Value read(PlaceId P);
  void write(PlaceId P, const Value &V, bool Strong);

  // Labels.
  LabelId label(Label::Kind K, const clang::Expr *Site, PlaceId Where);
  /// Adds \p L, which arises here, to \p V.
  void arise(LabelId L, Value &V) {
    Out->Labels[L].Arises = true;
    V.Labels.set(L);
  }
  /// Did a module compute \p V from a tensor that asks for its gradient? Why
  /// else would it, where code that cannot be seen gets \p V?
  bool asksForGradient(const Value &V) const;
  /// Code that cannot be seen gets \p V at \p By: consumes as \p Consumers say,
  /// or more where it may differentiate.
  void handOver(const Value &V, unsigned Consumers, const clang::Expr *By);
  void consume(const Value &V, unsigned Consumers, const clang::Expr *By,
               std::optional<PlaceId> StoredIn = std::nullopt);

  // Expressions.cpp.
  /// Can a value of type \p T hold a tensor?
  static bool mayCarry(clang::QualType T);
  Value eval(const clang::Expr *E);
  Value evalPeeled(const clang::Expr *E);
  FunctionFlow::Carried recorded(const Value &V) const;
  Value evalAll(llvm::ArrayRef<const clang::Expr *> Exprs);
  Value evalConstruct(const clang::CXXConstructExpr *E);
  void noteConstructor(const clang::Expr *E);
  Value evalInitList(const clang::InitListExpr *E);
  Value evalLambda(const clang::LambdaExpr *E);
  Value assignment(const clang::Expr *Site, const clang::Expr *To,
                   const clang::Expr *From);
  void assignTo(const clang::Expr *Site, const clang::Expr *To, const Value &V,
                const clang::Expr *Addend);

  // Calls.cpp: the tables, and the handlers of their rows.
  Value evalCall(const clang::CallExpr *E);
  Value libraryCall(const cpp::Call &C);
  Value operatorCall(const cpp::Call &C);
  Value stdCall(const cpp::Call &C);
  // Training and modules.
  void noteCallables(const cpp::Call &C);
  Value backward(const cpp::Call &C, const torch::BackwardCall &Back);
  void noteNeed(const cpp::Call &C, const clang::Expr *Tensor);
  Value optimizerStep(const cpp::Call &C);
  void prove(const clang::CallExpr *Backward, const clang::Expr *Root);
  void freeze(const clang::Stmt *At);
  Value modeSwitch(const cpp::Call &C, GradMode Mode);
  Value moduleCall(const cpp::Call &C, const torch::ModuleCall &M);
  bool isFrozen(const clang::Expr *Module) { return isAmong(S.Frozen, Module); }
  /// Does \p Module name one of \p Frozen, or a part of one?
  bool isAmong(const std::set<const clang::ValueDecl *> &Frozen,
               const clang::Expr *Module);
  /// Does \p M, with the values that go in, need gradients inside?
  bool differentiates(const torch::ModuleCall &M, const Value &Inputs);
  torch::Parameters trainableIn(const torch::ModuleCall &M);
  std::optional<LabelId> forwardLabel(const torch::ModuleCall &M, GradMode Mode,
                                      torch::Parameters Trainable);
  // LibTorch.
  bool hasNoHistory(const cpp::Call &C);
  Value requiresGrad(const cpp::Call &C, torch::Flag Requires,
                     const Operands &Of);
  Value dropHistory(const cpp::Call &C, const Operands &Of);
  Value newLeaf(const cpp::Call &C, const Operands &Of);
  Value inPlace(const cpp::Call &C, const clang::Expr *Self,
                const Operands &Of);
  Value intoFirst(const cpp::Call &C, const Operands &Of);
  Value keepArguments(const cpp::Call &C, const Operands &Of);
  Value tensorOperator(const cpp::Call &C, const Operands &Of);
  Value insertion(const cpp::Call &C, const Operands &Of);
  Value wrapper(const cpp::Call &C, const Operands &Of);
  void overwrite(const clang::Expr *Object, const Value &V);
  // Operators.
  Value comparison(const cpp::Call &C);
  Value assignmentCall(const cpp::Call &C);
  Value compound(const cpp::Call &C);
  std::optional<Value> access(const cpp::Call &C);
  Value computedOperator(const cpp::Call &C);
  // The standard library.
  Value functionObject(const cpp::Call &C);
  Value insertedBy(const cpp::Call &C);
  Value stdInsertion(const cpp::Call &C);
  void noteRemoval(const cpp::Call &C);
  std::optional<Value> clearing(const cpp::Call &C);
  Value stdMethod(const cpp::Call &C);
  std::optional<Value> tuplePart(const cpp::Call &C);
  Value tuple(const cpp::Call &C);
  std::optional<Value> sameObject(const cpp::Call &C);
  std::optional<Value> swap(const cpp::Call &C);
  Value allOperands(const cpp::Call &C);
  Value algorithm(const cpp::Call &C);
  const clang::FunctionDecl *onlyTargetOf(const clang::Expr *Object) const;
  /// The function that \p Arg, a lambda or what always holds one, runs; null
  /// for others.
  const clang::FunctionDecl *targetOfArgument(const clang::Expr *Arg) const;
  // Others.
  std::optional<Value> userCall(const cpp::Call &C);
  Value unknownCall(const cpp::Call &C);

  /// Notes that \p E runs \p Callee, whose flow is known.
  void noteCall(const clang::Expr *E, const clang::FunctionDecl *Callee) {
    Calls[{E, Callee}] = siteAt(E, Callee);
  }

  // CallHandlers.cpp.
  class UserCall;
  /// The flow of the function that \p C calls is \p Callee. \p Fresh is the
  /// label here for history that arises in it; \p ThisIsFresh lets what it
  /// reads from its object's tensors count as such.
  Value evalUserCall(const cpp::Call &C, const FunctionFlow &Callee,
                     std::optional<LabelId> Fresh, bool ThisIsFresh);

  // Effects: Interpreter.cpp, as what follows.
  /// v[i % n] = x, m["last"] = x, m.insert_or_assign("last", x): does \p Site
  /// write one of a few elements of \p P, which are used again over the rounds
  /// of a loop and from call to call?
  bool reusesElement(const clang::Expr *Site, PlaceId P);
  void assign(const clang::Expr *Site, Target To, Value V,
              Accumulation::Form How, const clang::Expr *Addend,
              const Value *Added = nullptr);
  void accumulate(const clang::Expr *Site, const clang::Expr *Onto,
                  const Value &Added, Accumulation::Form How,
                  const clang::Expr *Addend);
  /// \p Backward went through the graph of \p Roots: what shares it is Spent.
  void spend(const clang::Expr *Backward, const Value &Roots);
  void setMode(GradMode M);
  /// A guard that begins now and gives mode \p Mode; an InferenceMode may be
  /// off.
  Guard began(bool IsInference, GradMode Mode, bool Shared = false) const {
    return {S, IsInference, IsInference && Mode == GradMode::Unknown, Shared};
  }
  /// \p E switches the mode: to \p FromOn where it was On, to \p FromOff where
  /// it was Off. \p LeavesOff: on some way it is off then, whatever it was.
  void switchMode(const clang::Expr *E, GradMode FromOn, GradMode FromOff,
                  bool LeavesOff);
  /// What the mode is when the variables of \p Block are gone; null: all.
  Modes unwound(const clang::Stmt *Block) const;
  void noteLeaving(const clang::Stmt *S);
  void joinThrown(State &Into, const State &First);
  /// Frozen is what all paths freeze, PerhapsFrozen what one does. Returns
  /// whether \p Into changed.
  static bool joinFrozen(State &Into, const State &From);
  /// The mode at \p E when the first iteration of the loops around it comes
  /// there, where it is \p Last known as Unknown.
  GradMode firstMode(const clang::Expr *E, GradMode Last) const;
  /// \p E back-propagates, steps an optimizer, or calls what does.
  void trainsAt(const clang::Expr *E) {
    Training.insert(E);
    noteRun(E);
    Out->Trains = true;
  }
  /// \p E runs a module, or trains, with the mode at hand.
  void noteRun(const clang::Expr *E) {
    if (S.OffBy)
      Out->RunsOff.insert({E, S.OffBy});
  }
  /// The mode at \p E: a comma expression may hold an unnamed guard.
  GradMode modeAt(const clang::Expr *E);
  CallSite siteAt(const clang::Expr *E, const clang::FunctionDecl *Callee) {
    const GradMode Mode = modeAt(E);
    return {E, Callee, Mode, Mode == GradMode::On && S.FromOff == GradMode::On,
            S.underInference().has_value()};
  }
  /// Does history arise here? Off: never; Unknown: the result is unknown.
  Value produced(Value V);

  UnitModel &Unit;
  clang::ASTContext &Context;
  std::unique_ptr<FunctionFlow> Out;
  State S;
  std::map<const clang::VarDecl *, PlaceId> RootIds; ///< Null: `this`.
  std::map<std::pair<PlaceId, Selector>, PlaceId> PartIds;
  llvm::DenseMap<PlaceId, llvm::SmallVector<PlaceId, 2>> PartsOf;
  std::map<std::tuple<unsigned, const clang::Expr *, PlaceId>, LabelId>
      LabelIds;
  llvm::DenseMap<const clang::VarDecl *, Target> Aliases;
  /// What in-place writes gave a by-value parameter: a tensor is a handle, so
  /// the caller's tensor changed too.
  std::map<PlaceId, Value> InPlaceOnParam;
  /// Containers that something takes elements out of again.
  std::set<PlaceId> Bounded;
  /// What a loop empties, by which clear() or assignment.
  std::set<std::pair<PlaceId, const clang::Expr *>> Emptied;
  /// By the expression and what it runs, of which a virtual call has several.
  llvm::MapVector<std::pair<const clang::Expr *, const clang::FunctionDecl *>,
                  CallSite>
      Calls;
  llvm::MapVector<const clang::Expr *, CallSite> UnseenCalls;
  llvm::SetVector<const clang::Expr *> Training;
  const FrozenModules::Switches *Freezes = nullptr;
  std::optional<bool> NamesDerivatives; ///< See namesDerivatives().
  llvm::DenseMap<const clang::VarDecl *, bool> PlainBoxes; ///< Once asked.
  /// Where the mode was On once.
  llvm::SmallPtrSet<const clang::Expr *, 8> OnOnce;
  /// What switches gradients off, or leaves them unknown.
  llvm::SmallSetVector<const clang::Expr *, 2> Switching;
  /// What sets gradient mode for longer than its own scope.
  llvm::SetVector<const clang::Expr *> Lasting;
  /// A function that the statement at hand calls leaves another mode when it
  /// throws.
  bool SwitchesIfThrown = false;
  /// The block at hand ends the program.
  bool EndsProgram = false;
  /// What held at the first point of the block at hand that may throw.
  std::map<const clang::CXXTryStmt *, State> AtFirstThrow;
  /// The places written since the states of handlers were joined with this one.
  llvm::SmallVector<PlaceId, 8> Written;
  /// The backward call of the statement at hand: the CFG may list it both by
  /// itself and within that statement.
  const clang::Expr *JustWalked = nullptr;
  /// Results of calls in the block at hand: each is evaluated once.
  llvm::DenseMap<const clang::Expr *, Value> Evaluated;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_INTERPRETER_H
