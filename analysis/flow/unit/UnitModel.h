//===- UnitModel.h - The flow model of a translation unit -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// All functions of the user in one unit: facts of their calls and modules that
/// need no data flow, their flows (made on demand, callees first), and the
/// questions that need more than one of them. Shared by the checks of a unit.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITMODEL_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITMODEL_H

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Errors.h"
#include "analysis/flow/Fixpoint.h"
#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/flow/program/Program.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace libtorch_tidy::flow {

//===----------------------------------------------------------------------===//
// Facts that need no data flow
//===----------------------------------------------------------------------===//

/// Evidence from the calls in a unit's functions.
///
/// A forward pass whose result is returned, stored or sent does not show its
/// purpose. Other uses of the module do: a module that is put in evaluation
/// mode or loaded from a file, where nothing trains, is there to predict.
struct UnitCalls {
  /// Something needs gradients: a backward pass, an optimizer, a module in
  /// training mode, a tensor that is made to require them, a name that suggests
  /// that a TorchScript module differentiates (see namesDerivatives()).
  bool Trains = false;
  /// A function returns a loss, which its callers may back-propagate.
  bool ReturnsLoss = false;
  /// A backward pass may ask for gradients of gradients.
  bool CreatesGraphs = false;
  /// Some tensor is, or may be, made to require no gradients any more.
  bool FreezesLeaves = false;
  /// Tensors that are set as members of an object other than `*this`.
  llvm::SmallPtrSet<const clang::FieldDecl *, 4> SetFields;
  /// The first torch::jit::load() of the unit; null when there is none.
  const clang::CallExpr *ScriptLoad = nullptr;
  /// The eval() of each variable or field that is put in evaluation mode, in
  /// any function of the unit and by any name that it has there.
  llvm::DenseMap<const clang::ValueDecl *, const clang::CallExpr *> Evals;
};

struct UnitScan {
  explicit UnitScan(clang::ASTContext &Context);

  /// Functions of user code with a body: methods, lambdas and instantiations
  /// of templates included, templates themselves not. In source order.
  std::vector<const clang::FunctionDecl *> Functions;
  std::vector<const clang::VarDecl *> Globals; ///< Outside functions.
  /// For methods, those of user code that override them; of each its first
  /// declaration.
  llvm::DenseMap<const clang::CXXMethodDecl *,
                 llvm::SmallSetVector<const clang::CXXMethodDecl *, 2>>
      Overriders;
  const clang::FunctionDecl *Main = nullptr; ///< Null: the unit has none.
  /// Some code, templates included, puts a module in evaluation mode.
  bool CallsEval = false;
  /// Errors of the compiler. Functions with errors count as unseen code.
  std::optional<cpp::Errors> Broken;

  const UnitCalls &calls();

private:
  std::optional<UnitCalls> Said; ///< When it was asked for.
};

/// Calls \p Visit for each field that \p F sets to nothing, clears, resets
/// or moves away: `field = nullptr`, `field.reset()`, `std::move(field)`. Also
/// for one that holds functions and gets another value than a lambda or what a
/// setter was called with, which may keep its object, too. Call \p Except is
/// left out.
void forEachReleased(const clang::FunctionDecl *F,
                     llvm::function_ref<void(const clang::FieldDecl *)> Visit,
                     const clang::CallExpr *Except = nullptr);

/// The uses of a member by methods that run on a copy of their object.
/// Seeded: a generator gets a new state. Indexed: data[index], data.at(index),
/// one entry for each example. Strided: data[index * n], data.data() + index *
/// n, a row of each in one container. Emptied: elements are taken out again.
/// The places, as file:line, are in other units.
struct CopyUse : FunctionFacts::CopyUse {
  const clang::Expr *First = nullptr;  ///< Null: in another unit.
  const clang::Expr *Filled = nullptr; ///< Adds an element.

  bool isFilled() const { return Filled || !FilledAt.empty(); }
};

/// The uses of all members in one method and in what it calls.
class CopyUses {
public:
  explicit CopyUses(const clang::SourceManager &SM) : SM(SM) {}

  void add(const clang::FunctionDecl *F);

  llvm::DenseMap<const clang::FieldDecl *, CopyUse> Of;

private:
  void look(const clang::Expr *E);

  const clang::SourceManager &SM;
  llvm::SmallPtrSet<const clang::FunctionDecl *, 8> Seen;
};

/// The way to the first call that \p IsGoal accepts among those that running
/// \p S runs outside the try statements in it, so that what the call throws
/// comes out of \p S. A call of \p S, one in the body of the function that it
/// calls, and so on to the goal; empty when there is none.
llvm::SmallVector<const clang::CallExpr *, 2>
wayToFreeCall(const clang::Stmt *S,
              llvm::function_ref<bool(const clang::CallExpr *)> IsGoal);

/// Does \p S run a call that \p IsGoal accepts, by itself or through functions
/// of the unit, also in try statements? The first such call, in \p S or in one
/// of the functions; null when there is none.
const clang::CallExpr *
findRunCall(const clang::Stmt *S,
            llvm::function_ref<bool(const clang::CallExpr *)> IsGoal);

/// Tensor work of one unit, through the functions whose bodies it has.
class TensorWork {
public:
  using Throws = llvm::SmallVector<const clang::CXXThrowExpr *, 2>;

  /// The work of \p Call itself, and of all that its callee's body runs.
  torch::Work of(const clang::CallExpr *Call);
  /// The work of all calls that \p S runs.
  torch::Work of(const clang::Stmt *S);

  /// The throw expressions whose exception owns tensors that come out of
  /// \p S, outside the try statements in it.
  Throws ownersThrownBy(const clang::Stmt *S);

private:
  struct Summary {
    torch::Work Amount = torch::Work::None;
    Throws Thrown;
  };
  /// By value: later summaries move the table.
  Summary of(const clang::FunctionDecl *F);

  llvm::DenseMap<const clang::FunctionDecl *, Summary> Known;
};

/// Whose parameters do not train, in one unit. Each function is read once.
class FrozenModules {
public:
  using Modules = llvm::SmallPtrSet<const clang::ValueDecl *, 4>;

  /// Does \p F let some tensor require gradients?
  static bool letsTrain(const clang::FunctionDecl *F);

  /// The variables and fields whose module brings no history in function \p F:
  /// its parameters are all switched off there, or by a function that it calls,
  /// and none on again.
  Modules in(const clang::FunctionDecl *F);

  /// The fields of class \p R whose modules its constructors leave frozen, for
  /// its other methods.
  const Modules &byConstructors(const clang::CXXRecordDecl *R);

  /// Does a constructor of \p R, or what it calls, switch gradient mode off for
  /// the rest of its thread, and none on again?
  bool constructorsEndGradients(const clang::CXXRecordDecl *R);

  /// Does a constructor, another method or the initialiser of the class set
  /// \p Field to a module that LibTorch has frozen (see torch::isFreezeCall()),
  /// also through functions of this unit? Null is allowed.
  bool isSetFrozen(const clang::FieldDecl *Field);

  /// As torch::parametersOf(), but knows constructors in other units, too.
  static torch::Parameters parametersOf(clang::QualType T);

  /// All parameters of a module are switched off; or they, or some, on.
  struct Switch {
    const clang::ValueDecl *Module;
    bool Off;
    bool Perhaps = false; ///< On some paths only, of those that run it.
  };
  /// By the statement at which it is done: a call, or what a loop over the
  /// parameters evaluates before its first round.
  using Switches =
      llvm::DenseMap<const clang::Stmt *, llvm::SmallVector<Switch, 1>>;
  const Switches &switchesOf(const clang::FunctionDecl *F);
  /// The modules of which \p F lets parameters train.
  const Modules &thawedIn(const clang::FunctionDecl *F);

private:
  /// Modules whose parameters a function switches off, and on again.
  struct Switched {
    Modules Off, On;
    Switches At;
    /// By the value of its parameter of that number.
    llvm::SmallVector<std::pair<const clang::ValueDecl *, unsigned>, 1> Asked;
    /// It lets tensors train of which it is not seen whose they are.
    bool OnOthers = false;

    void note(const clang::Stmt *By, const clang::ValueDecl *Module,
              bool IsOff);
  };
  /// \p Depth: how far the functions that \p F calls are followed.
  const Switched &switchedIn(const clang::FunctionDecl *F, unsigned Depth);
  void addHelper(const clang::CallExpr *Call, const clang::FunctionDecl *F,
                 unsigned Depth, Switched &To);
  void addSetter(const clang::CallExpr *Call, const clang::Expr *Tensor,
                 torch::Flag Set, const clang::Expr *Value, const cpp::Body &In,
                 Switched &To);
  void addTensorHelper(const clang::CallExpr *Call, const cpp::Body &In,
                       Switched &To);
  void addFreeze(const clang::CallExpr *Call, const cpp::Body &In,
                 unsigned Depth, Switched &To);
  void addEach(const clang::CallExpr *Call, unsigned Depth, Switched &To);
  void addPattern(const clang::CallExpr *Call, const clang::ValueDecl *Owner,
                  const clang::FunctionDecl *Pattern, Switched &To);
  static void noteSet(const clang::Stmt *By, const clang::ValueDecl *Module,
                      const clang::Expr *Value, Switched &To);
  bool returnsFrozen(const clang::CallExpr *Call, unsigned Depth);

  std::map<std::pair<const clang::FunctionDecl *, unsigned>, Switched> Known;
  std::map<const clang::CXXRecordDecl *, Modules> OfClasses;
  std::map<const clang::CXXRecordDecl *, bool> EndGradients;
};

//===----------------------------------------------------------------------===//
// Calls of TorchScript
//===----------------------------------------------------------------------===//

// The code of a TorchScript module is not in the program. The purpose of a call
// shows in its inputs and in the use of its result.

/// Does \p M only ask a TorchScript module something: no tensor goes in, and
/// what comes out is read as a number, a text or a list, or not at all, or the
/// method is called get_... or set_...? Such a method returns an attribute:
/// module.run_method("get_cutoff").toDouble().
bool isQuery(const torch::ModuleCall &M, const cpp::Body &In);

/// Do names in function \p In suggest that its TorchScript modules
/// differentiate inside: "forward_lower", an output called "forces", dvirial?
/// Such a module throws under a guard.
bool namesDerivatives(const cpp::Body &In);

/// Does the name of a part of \p M's result suggest that a module, whose body
/// is in another file, differentiates: auto [energy, forces] = net->forward(x)?
bool handsOutDerivative(const torch::ModuleCall &M, const cpp::Body &In);

class UnitModel {
public:
  /// The model of \p Context's unit, which all checks share.
  static UnitModel &of(clang::ASTContext &Context);

  explicit UnitModel(clang::ASTContext &Context);

  clang::ASTContext &context() const { return Context; }
  /// The functions of the unit and the facts that need no data flow.
  UnitScan &scan() { return Scan; }
  llvm::ArrayRef<const clang::FunctionDecl *> functions() const {
    return Scan.Functions;
  }
  const cpp::Errors &errors() const { return *Scan.Broken; }
  /// Which code of the unit runs tensor work.
  TensorWork &work() { return Work; }
  /// Whose parameters do not train.
  FrozenModules &frozenModules() { return Frozen; }
  /// Do the constructors of its class leave the module in \p Field frozen, and
  /// does no function of the unit let it train?
  bool staysFrozen(const clang::FieldDecl *Field);
  /// The facts of the whole program; null when the unit is on its own.
  const ProgramFacts *program() const { return Whole; }
  /// Does this unit, or another of the program, ask for gradients of gradients?
  bool createsGraphs() {
    return Scan.calls().CreatesGraphs || (Whole && Whole->Does.CreatesGraphs);
  }
  /// Does this unit, or another of the program, train? Where the program is not
  /// known, callers elsewhere may back-propagate a loss that is returned.
  bool trains() {
    return Scan.calls().Trains ||
           (Whole ? Whole->Does.Trains : Scan.calls().ReturnsLoss);
  }
  /// Fields of which isFieldConsumed() is true because of this unit.
  const llvm::SmallPtrSetImpl<const clang::FieldDecl *> &consumedFields() {
    collectCallers();
    return ConsumedFields;
  }
  /// Uses of memory that is gone, in all functions and in the initialisers of
  /// variables outside them.
  llvm::ArrayRef<Dangling> dangling();
  /// Memory of tensors that functions read as one piece, whatever order its
  /// elements have, in the order of functions().
  std::vector<const StridedRead *> stridedReads();
  /// The effects of \p F on memory of its caller; null when they are unknown.
  const MemorySummary *memoryOf(const clang::FunctionDecl *F);
  /// The flow of \p F; null when \p F has no body here. While it is being made
  /// (recursion), what is known so far, beginning with nothing: the functions
  /// of a cycle are made again until that changes no more, at most MaxRounds
  /// times.
  const FunctionFlow *flowOf(const clang::FunctionDecl *F);
  /// What a call may run.
  struct Targets {
    llvm::SmallVector<const FunctionFlow *, 2> Seen; ///< All are available().
    bool AreAll = true;
  };
  /// The flows of what \p C may run: of a virtual method, of all that override
  /// it in this unit, and in the rest of a program that is known.
  Targets targetsOf(const cpp::Call &C);
  /// Calls \p Do for each function that flowOf() can tell about, in the order
  /// of functions().
  void forEachFlow(llvm::function_ref<void(const FunctionFlow &)> Do);

  /// Is every call of \p F in this unit (and there is one) made with gradient
  /// mode off? With \p OnAnyway: even where \p F switches it on, as under an
  /// InferenceMode?
  bool isCalledOnlyGuarded(const clang::FunctionDecl *F, bool OnAnyway = false);
  /// Does any function of this unit use what field \p Field held on entry so
  /// that history matters (backward, return, escape)?
  bool isFieldConsumed(const clang::FieldDecl *Field);
  /// The same of the field or the variable outside functions that \p P of
  /// \p Flow is, or is a part of.
  bool isConsumed(PlaceId P, const FunctionFlow &Flow);
  /// The consumers of a label of \p Flow, where being stored in fields, and in
  /// variables outside functions, whose history nobody uses in this unit, and
  /// nobody can use elsewhere, does not count, and where being returned is what
  /// the callers in this unit do with it.
  unsigned consumersOf(const Label &L, const FunctionFlow &Flow);
  /// As consumersOf(), where being stored in a field of what a parameter names
  /// does not count either when this unit does not use the field's history.
  /// Another unit may: what is reported because of it is advice.
  unsigned consumersHere(const Label &L, const FunctionFlow &Flow);
  /// By each statement in which history is needed, the first that needs it.
  using Needs = llvm::DenseMap<const clang::Stmt *, const clang::Expr *>;
  /// Those of \p Flow, as needsHistory() wants them.
  const Needs &historyNeeds(const FunctionFlow &Flow, bool OnlySeen);
  /// A call of a function of this unit whose result carries what the function
  /// accumulated.
  struct RelayedTo {
    const FunctionFlow *Caller;
    const Label *Relay; ///< Its consumers and what was handed in.
  };
  /// The calls that hand in what label \p Carry of \p F was assigned from.
  llvm::ArrayRef<RelayedTo> relaysOf(const clang::FunctionDecl *F,
                                     LabelId Carry);
  /// Is a module of this unit surely in training mode: it is a whole program,
  /// as far as modules go, that never calls eval()?
  bool neverEvaluates() const {
    return Whole && Whole->Closed ? !Whole->Does.CallsEval
                                  : Scan.Main && !Scan.CallsEval;
  }
  /// Can \p F, or what it calls in this unit, have to do with tensors or
  /// gradient mode?
  bool concernsTensors(const clang::FunctionDecl *F);
  /// Is every use of \p Field in this unit, as far as one can tell: its class
  /// is defined in the main file, or it is not public and all methods of the
  /// class are defined here? Or in the rest of a program that is known, unless
  /// \p Alone: facts of other units do not tell who reads.
  bool seesAllUses(const clang::FieldDecl *Field, bool Alone = false);
  /// Is \p Var a variable outside functions that nothing but functions of this
  /// unit can name?
  bool seesAllUses(const clang::VarDecl *Var);

  /// What \p Field is given in this unit; Complete where nothing else can give
  /// it a value.
  const cpp::Values &valuesOf(const clang::FieldDecl *Field);

  /// What makes \p Field a tensor that requires gradients as long as its object
  /// lives; null where it need not, and for fields of modules and those that
  /// other files can set.
  const clang::Expr *leafOf(const clang::FieldDecl *Field);

  struct CallerOf {
    const FunctionFlow *Caller;
    GradMode Mode;                 ///< The gradient mode at the call.
    bool OnAnyway, UnderInference; ///< As CallSite says.
  };
  /// The calls of \p F in this unit.
  llvm::ArrayRef<CallerOf> callersOf(const clang::FunctionDecl *F);

private:
  void collectCallers();
  void noteConsumed(PlaceId P, const FunctionFlow &Flow);
  /// Is \p P in a variable of the function around \p Flow's, a lambda that an
  /// algorithm runs there, which nobody uses the history of?
  bool isLeftInCaller(PlaceId P, const FunctionFlow &Flow);
  /// The body of \p F in user code; null when there is none here.
  const clang::FunctionDecl *definitionOf(const clang::FunctionDecl *F) const;

  const FunctionFlow *flowAbroad(const clang::FunctionDecl *F);
  void addOverriders(const clang::CXXMethodDecl *Method, Targets &To);

  clang::ASTContext &Context;
  const ProgramFacts *const Whole;
  UnitScan Scan;
  TensorWork Work;
  FrozenModules Frozen;
  std::optional<FrozenModules::Modules> Thawed; ///< By any function.
  Summaries<FunctionFlow> Flows;
  /// Of methods of other units that override a method of this one, by that and
  /// by their names.
  std::map<std::pair<const clang::CXXMethodDecl *, llvm::StringRef>,
           std::unique_ptr<FunctionFlow>>
      OverridersAbroad;
  llvm::DenseMap<const clang::FunctionDecl *, bool> Concerned;
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<CallerOf>> Callers;
  std::map<std::pair<const clang::FunctionDecl *, LabelId>,
           std::vector<RelayedTo>>
      Relays;
  bool HasCallers = false;
  std::map<std::pair<const FunctionFlow *, bool>, Needs> NeedsOf;
  llvm::SmallPtrSet<const clang::FieldDecl *, 8> ConsumedFields;
  llvm::SmallPtrSet<const clang::VarDecl *, 8> ConsumedGlobals;
  /// Variables that initialisers of others outside functions name.
  llvm::SmallPtrSet<const clang::VarDecl *, 8> NamedByGlobals;
  llvm::DenseMap<const clang::FieldDecl *, const clang::Expr *> Leaves;
  /// Nodes stay where they are while others are added.
  std::map<const clang::FieldDecl *, cpp::Values> Given;
  std::optional<std::vector<Dangling>> Danglings;
  Summaries<MemoryOf> Memories;
};

/// What in \p S a guard over it would change: what trains, or makes history
/// that is needed; null for nothing. With \p OnlySeen calls of code that cannot
/// be seen do not count, nor does what is carried through \p S.
const clang::Expr *needsHistory(const clang::Stmt *S, const FunctionFlow &Flow,
                                UnitModel &Unit, bool OnlySeen = false);
/// Is \p Training, one of the trainingSites(), a call of code that cannot be
/// seen, which may train?
bool isUnseen(const clang::Expr *Training, UnitModel &Unit);

/// The outermost block around \p Site that a guard can own: it does not need
/// history, see needsHistory(). Null when there is none.
const clang::CompoundStmt *guardableBlock(const clang::Stmt *Site,
                                          const FunctionFlow &Flow,
                                          UnitModel &Unit,
                                          bool OnlySeen = false);

/// Does something in \p S visibly train, or is a value computed there
/// back-propagated? A value of unknown origin that is back-propagated after
/// \p S counts as one.
bool isSeenToTrain(const clang::Stmt *S, const FunctionFlow &Flow,
                   UnitModel &Unit);

/// The block around all that one reader would guard at once when \p Guardable
/// has a guard: blocks of a function with nothing between them that needs
/// history, and the lambdas that it runs; with \p UpToMain, what the unit's
/// main calls, too.
const clang::Stmt *neighbourhoodOf(const clang::CompoundStmt *Guardable,
                                   const FunctionFlow &Flow, UnitModel &Unit,
                                   bool UpToMain = false);

//===----------------------------------------------------------------------===//
// Who calls a function
//===----------------------------------------------------------------------===//

/// A call as it is written, also in code that does nothing with tensors. For
/// the data flow through calls, ask UnitModel::callersOf().
struct WrittenCall {
  const clang::CallExpr *Call;
  const clang::FunctionDecl *In;
};

/// The calls of \p Callee in the unit.
llvm::SmallVector<WrittenCall, 4> callsOf(const clang::FunctionDecl *Callee,
                                          const UnitModel &Unit);

/// The calls that \p F makes, constructors among them, with the gradient mode
/// at each; On in code that does nothing with tensors or is not followed.
std::vector<CallSite> callsIn(const clang::FunctionDecl *F, UnitModel &Unit);

/// Is there a call of \p F in this unit whose result \p IsIt accepts?
bool anyCallOf(
    const clang::FunctionDecl *F, UnitModel &Unit,
    llvm::function_ref<bool(const Label &, const FunctionFlow &Caller)> IsIt);

/// Does a caller of \p F in this unit back-propagate what \p F returns?
bool anyCallerTrains(const clang::FunctionDecl *F, UnitModel &Unit);

/// A forward pass, in this unit or in another.
struct UnguardedForward {
  const clang::Expr *Site = nullptr; ///< Null: in another unit.
  std::string At;                    ///< As file:line.
};

/// The first that \p Flow runs when it is called with gradient mode on, or that
/// a function does which it calls; \p Depth: of these calls.
std::optional<UnguardedForward>
unguardedForward(const FunctionFlow &Flow, UnitModel &Unit, unsigned Depth = 3);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITMODEL_H
