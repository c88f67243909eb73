//===- UnitScan.h - The functions of a translation unit ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The facts of a unit that need no data flow: its functions, and what their
/// calls tell about modules and gradients. They are facts of this unit alone;
/// UnitModel adds what is known of the rest of its program.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITSCAN_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITSCAN_H

#include "analysis/cpp/Errors.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace libtorch_tidy::flow {

/// Evidence from the calls in a unit's functions.
///
/// A forward pass whose result is returned, stored or sent does not show its
/// purpose. Other uses of the module do: a module that is put in evaluation
/// mode or loaded from a file, where nothing trains, is there to predict.
struct UnitCalls {
  /// Something needs gradients: a backward pass, an optimizer, a module in
  /// training mode, a tensor that is made to require them, a name that suggests
  /// that a TorchScript module differentiates (see ModuleUse.h).
  bool Trains = false;
  /// A function returns a loss, which its callers may back-propagate.
  bool ReturnsLoss = false;
  /// A backward pass may ask for gradients of gradients.
  bool CreatesGraphs = false;
  /// The first torch::jit::load() of the unit; null when there is none.
  const clang::CallExpr *ScriptLoad = nullptr;
  /// The eval() of each variable or field that is put in evaluation mode, in
  /// any function of the unit and by any name that it has there.
  llvm::DenseMap<const clang::ValueDecl *, const clang::CallExpr *> Evals;
};

class UnitScan {
public:
  explicit UnitScan(clang::ASTContext &Context);

  /// Functions of user code with a body: methods, lambdas and instantiations
  /// of templates included, templates themselves not. In source order.
  llvm::ArrayRef<const clang::FunctionDecl *> functions() const {
    return Functions;
  }
  /// Variables outside functions.
  llvm::ArrayRef<const clang::VarDecl *> globals() const { return Globals; }
  /// Null when the unit has none.
  const clang::FunctionDecl *main() const { return Main; }
  /// Does some code, templates included, put a module in evaluation mode?
  bool callsEval() const { return CallsEval; }
  /// Errors of the compiler. Functions with errors count as unseen code.
  const cpp::Errors &errors() const { return *Broken; }

  const UnitCalls &calls();

private:
  class Collector;

  void read(const clang::FunctionDecl *F);
  void handOn(const clang::FunctionDecl *F);
  void noteEval(const clang::ValueDecl *Module, const clang::CallExpr *Eval);

  std::vector<const clang::FunctionDecl *> Functions;
  std::vector<const clang::VarDecl *> Globals;
  const clang::FunctionDecl *Main = nullptr;
  bool CallsEval = false;
  std::optional<cpp::Errors> Broken;
  std::optional<UnitCalls> Said; ///< When it was asked for.
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_UNITSCAN_H
