//===- TrainedModules.h - Whose parameters may be trained -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which modules of a unit nobody trains: a target network, a teacher. Their
/// parameters are read, copied, saved and loaded, and no more.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_TRAINEDMODULES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_TRAINEDMODULES_H

#include "analysis/flow/unit/UnitModel.h"

namespace libtorch_tidy::flow {

class TrainedModules {
public:
  explicit TrainedModules(UnitModel &Unit) : Unit(Unit) {}

  /// May something train the parameters of \p Module, the variable or field
  /// that names a module: an optimizer that gets them, code that reads their
  /// gradients, or code that is not in sight and gets the module? False only
  /// where all uses are seen.
  bool mayTrain(const clang::ValueDecl *Module);

private:
  bool isTrained(const clang::VarDecl *Var);
  bool isTrained(const clang::FieldDecl *Field);
  /// May what uses \p Var, in \p In, train what it is: a module, its
  /// parameters or one of them?
  bool anyUseTrains(const clang::VarDecl *Var, const cpp::Body &In);
  /// The same of the use at \p E.
  bool isTrainedAt(const clang::Expr *E, const cpp::Body &In);
  bool isTrainedByCall(const clang::CallExpr *Call, const clang::Expr *E,
                       const cpp::Body &In);
  /// \p C is made on \p E.
  bool isTrainedByMethod(const cpp::Call &C, const clang::Expr *E,
                         const cpp::Body &In);
  /// May \p Method train the module that it is called on?
  bool methodTrains(const clang::FunctionDecl *Method);

  UnitModel &Unit;
  /// What mayTrain() and methodTrains() say; true while they are asked, which
  /// ends recursion.
  llvm::DenseMap<const clang::Decl *, bool> Known;
  /// What anyUseTrains() says; false while it is asked.
  llvm::DenseMap<const clang::VarDecl *, bool> ByUses;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_TRAINEDMODULES_H
