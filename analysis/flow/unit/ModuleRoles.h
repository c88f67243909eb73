//===- ModuleRoles.h - What a unit has its modules for ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The result of a forward pass that is returned, stored or sent says nothing
/// of what it is for. What else the program does with its modules does: what
/// is put in evaluation mode or loaded from a file, where nothing trains, is
/// there to predict.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_MODULEROLES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_MODULEROLES_H

#include "analysis/flow/program/Program.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"

namespace libtorch_tidy::flow {

class ModuleRoles {
public:
  /// \p Functions are those of the unit; \p Whole is what is known of the
  /// other units of its program, or null.
  explicit ModuleRoles(llvm::ArrayRef<const clang::FunctionDecl *> Functions,
                       const ProgramFacts *Whole = nullptr);

  /// Does anything in the unit need gradients: a backward pass, an optimizer,
  /// a module in training mode, a tensor that is made to require them, a name
  /// that says that a TorchScript module differentiates (see ScriptCalls.h)?
  /// Also, where its program is not known, a loss that a function returns: its
  /// callers may back-propagate it.
  bool trains() const {
    return Trains || (Whole ? Whole->Trains : ReturnsLoss);
  }
  /// Does this unit alone?
  bool trainsHere() const { return Trains; }
  /// The eval() of the variable or field \p Module, in any function of the unit
  /// and by any name that it has there. Null when there is none.
  const clang::CallExpr *evalOf(const clang::ValueDecl *Module) const {
    return Evals.lookup(Module);
  }
  /// Where another unit puts the field \p Module in evaluation mode, as
  /// file:line. Empty where none does.
  std::string evalElsewhere(const clang::ValueDecl *Module) const;
  /// All eval() calls of this unit, by variable or field.
  const llvm::DenseMap<const clang::ValueDecl *, const clang::CallExpr *> &
  evals() const {
    return Evals;
  }
  /// The first torch::jit::load() of the unit; null when there is none.
  const clang::CallExpr *scriptLoad() const { return ScriptLoad; }

private:
  void read(const clang::FunctionDecl *F);
  void handOn(const clang::FunctionDecl *F);
  void note(const clang::ValueDecl *Module, const clang::CallExpr *Eval);

  const ProgramFacts *Whole;
  bool Trains = false;
  bool ReturnsLoss = false;
  const clang::CallExpr *ScriptLoad = nullptr;
  llvm::DenseMap<const clang::ValueDecl *, const clang::CallExpr *> Evals;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_MODULEROLES_H
