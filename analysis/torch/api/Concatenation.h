//===- Concatenation.h - Operators that join tensors ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_CONCATENATION_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_CONCATENATION_H

#include "clang/AST/ExprCXX.h"
#include <optional>

namespace libtorch_tidy::torch {

/// cat, stack and similar operators: a new tensor that holds a copy of every
/// element of a list.
struct Concatenation {
  const clang::Expr *List;
  /// The dimension, where it is written.
  const clang::Expr *Dim;
  /// Joining the result with more tensors is the same as joining all at once:
  /// not for stack, which adds a dimension each time.
  bool Associative;
};

std::optional<Concatenation> asConcatenation(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_CONCATENATION_H
