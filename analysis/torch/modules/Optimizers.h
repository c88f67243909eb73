//===- Optimizers.h - Parameters and state of optimizers --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_OPTIMIZERS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_OPTIMIZERS_H

#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// The list of parameters that the optimizer works on: group.params() of a
/// parameter group, optimizer.parameters(). The list is the optimizer's own,
/// and a write to it replaces parameters.
struct ParameterList {
  const clang::CXXMemberCallExpr *Call = nullptr;
  /// The group or the optimizer it is asked of, as written.
  const clang::Expr *Object = nullptr;
  bool OfGroup = false;
};
ParameterList asParameterList(const clang::CallExpr *Call);

/// optimizer.param_groups(): the optimizer; null for anything else.
const clang::Expr *optimizerOfGroups(const clang::Expr *E);

/// optimizer.add_param_group(...), optimizer.add_parameters(...).
bool addsParameters(const clang::CallExpr *Call);

/// The names of parameter lists and of what adds to them, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> ParameterMethods;

/// optimizer.state(): what is kept for each parameter, under the address of its
/// tensor (a string in 1.13, a pointer in 2.x).
bool isOptimizerState(const clang::CallExpr *Call);

/// Optimizers that keep nothing for a parameter as a rule: SGD without
/// momentum.
bool keepsNoState(clang::QualType Optimizer);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_OPTIMIZERS_H
