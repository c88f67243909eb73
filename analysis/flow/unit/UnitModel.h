//===- UnitModel.h - The flow model of a translation unit -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// All functions of the user in one unit, their flows (made on demand, callees
/// first) and the questions that need more than one of them. Shared by the
/// checks of a unit.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITMODEL_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITMODEL_H

#include "analysis/flow/Cost.h"
#include "analysis/flow/Summaries.h"
#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/flow/memory/Memory.h"
#include "analysis/flow/program/Program.h"
#include "analysis/flow/unit/ModuleUse.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/flow/unit/UnitScan.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace libtorch_tidy::flow {

class UnitModel {
public:
  /// The model of \p Context's unit, which all checks share.
  static UnitModel &of(clang::ASTContext &Context);

  explicit UnitModel(clang::ASTContext &Context);

  clang::ASTContext &context() const { return Context; }
  /// The functions of the unit and the facts that need no data flow.
  UnitScan &scan() { return Scan; }
  llvm::ArrayRef<const clang::FunctionDecl *> functions() const {
    return Scan.functions();
  }
  const cpp::Errors &errors() const { return Scan.errors(); }
  /// Which code of the unit runs tensor work.
  TensorWork &work() { return Work; }
  /// Whose parameters do not train.
  FrozenModules &frozenModules() { return Frozen; }
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
  /// The effects of \p F on memory of its caller; null when they are unknown.
  const MemorySummary *memoryOf(const clang::FunctionDecl *F);
  /// The flow of \p F; null when \p F has no body here. While it is being made
  /// (recursion), what is known so far, beginning with nothing: the functions
  /// of a cycle are made again until that changes no more, at most MaxRounds
  /// times.
  const FunctionFlow *flowOf(const clang::FunctionDecl *F);
  /// Calls \p Do for each function that flowOf() can tell about, in the order
  /// of functions().
  void forEachFlow(llvm::function_ref<void(const FunctionFlow &)> Do);

  /// Is every call of \p F in this unit (and there is one) made with gradient
  /// mode off?
  bool isCalledOnlyGuarded(const clang::FunctionDecl *F);
  /// Does any function of this unit use what field \p Field held on entry so
  /// that history matters (backward, return, escape)?
  bool isFieldConsumed(const clang::FieldDecl *Field);
  /// The consumers of a label of \p Flow, where being stored in fields whose
  /// history nobody uses in this unit, and nobody can use elsewhere, does not
  /// count, and where being returned is what the callers in this unit do with
  /// it.
  unsigned consumersOf(const Label &L, const FunctionFlow &Flow);
  /// As consumersOf(), where being stored in a field of what a parameter names
  /// does not count either when this unit does not use the field's history.
  /// Another unit may: what is reported because of it is advice.
  unsigned consumersHere(const Label &L, const FunctionFlow &Flow);
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
                                  : Scan.main() && !Scan.callsEval();
  }
  /// Can \p F, or what it calls in this unit, have to do with tensors or
  /// gradient mode?
  bool concernsTensors(const clang::FunctionDecl *F);
  /// Is every use of \p Field in this unit, as far as one can tell: its class
  /// is defined in the main file, or it is not public and all methods of the
  /// class are defined here? Or in the rest of a program that is known, unless
  /// \p Alone: facts of other units do not tell who reads.
  bool seesAllUses(const clang::FieldDecl *Field, bool Alone = false);

  struct CallerOf {
    const FunctionFlow *Caller;
    GradMode Mode; ///< The gradient mode at the call.
  };
  /// The calls of \p F in this unit.
  llvm::ArrayRef<CallerOf> callersOf(const clang::FunctionDecl *F);

private:
  void collectCallers();
  /// The body of \p F in user code; null when there is none here.
  const clang::FunctionDecl *definitionOf(const clang::FunctionDecl *F) const;

  const FunctionFlow *flowAbroad(const clang::FunctionDecl *F);

  clang::ASTContext &Context;
  const ProgramFacts *const Whole;
  UnitScan Scan;
  TensorWork Work;
  FrozenModules Frozen;
  Summaries<FunctionFlow> Flows;
  llvm::DenseMap<const clang::FunctionDecl *, bool> Concerned;
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<CallerOf>> Callers;
  std::map<std::pair<const clang::FunctionDecl *, LabelId>,
           std::vector<RelayedTo>>
      Relays;
  bool HasCallers = false;
  llvm::SmallPtrSet<const clang::FieldDecl *, 8> ConsumedFields;
  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<FunctionFlow>>
      Abroad;
  std::optional<std::vector<Dangling>> Danglings;
  Summaries<MemorySummary> Memories;
  /// The dangling uses in each function, found with its summary.
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<Dangling>> DanglingIn;
};

/// Would a guard over \p S change what is computed: does it train, or is
/// the history that arises in it needed?
bool needsHistory(const clang::Stmt *S, const FunctionFlow &Flow,
                  UnitModel &Unit);

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
