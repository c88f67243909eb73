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

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_UNITMODEL_H
#define LIBTORCH_TIDY_CHECKS_FLOW_UNITMODEL_H

#include "checks/flow/Borrows.h"
#include "checks/flow/FunctionFlow.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace libtorch_tidy::flow {

class UnitModel {
public:
  /// The model of \p Context's unit. It lives as long as somebody holds it;
  /// everybody in a thread who asks meanwhile gets the same one.
  static std::shared_ptr<UnitModel> of(clang::ASTContext &Context);

  explicit UnitModel(clang::ASTContext &Context);
  ~UnitModel();

  clang::ASTContext &context() const { return Context; }
  /// Functions of user code with a body: methods, lambdas and instantiations
  /// of templates included, templates themselves not. In source order.
  llvm::ArrayRef<const clang::FunctionDecl *> functions() const {
    return Functions;
  }
  /// What is used when its memory is gone, in all functions and in the
  /// initialisers of variables outside them.
  llvm::ArrayRef<Dangling> dangling();
  /// The flow of \p F; null when \p F has no body here, or while it is being
  /// made (recursion).
  const FunctionFlow *flowOf(const clang::FunctionDecl *F);

  /// Is every call of \p F in this unit (and there is one) made with gradient
  /// mode off?
  bool isCalledOnlyGuarded(const clang::FunctionDecl *F);
  /// Does any function of this unit use what field \p Field held on entry so
  /// that history matters (backward, return, escape)?
  bool isFieldConsumed(const clang::FieldDecl *Field);
  /// The consumers of a label of \p Flow, where being stored in fields whose
  /// history nobody uses in this unit, and nobody can use elsewhere, is none.
  unsigned consumersOf(const Label &L, const FunctionFlow &Flow);
  /// Is every use of \p Field in this unit, as far as one can tell: its class
  /// is defined in the main file, or it is not public and all methods of the
  /// class are defined here?
  bool seesAllUses(const clang::FieldDecl *Field);

private:
  struct CallerOf {
    const FunctionFlow *Caller;
    GradMode Mode;
  };
  void collectCallers();

  clang::ASTContext &Context;
  std::vector<const clang::FunctionDecl *> Functions;
  std::vector<const clang::VarDecl *> Globals;
  std::optional<std::vector<Dangling>> Danglings;
  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<FunctionFlow>>
      Flows;
  llvm::SmallPtrSet<const clang::FunctionDecl *, 8> InProgress;
  llvm::SmallPtrSet<const clang::FunctionDecl *, 8> Asking;
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<CallerOf>> Callers;
  bool HasCallers = false;
  llvm::SmallPtrSet<const clang::FieldDecl *, 8> ConsumedFields;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_UNITMODEL_H
