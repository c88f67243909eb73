//===- PureOps.h - Operators that matter by their result --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Tensor operators that change nothing but return something: to call one and
/// drop its result is to do nothing. Only cheap ones are listed: matrix
/// products and convolutions are also run for the time they take.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_PUREOPS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_PUREOPS_H

#include "analysis/torch/api/OpFacts.h"
#include "clang/AST/ExprCXX.h"
#include <optional>

namespace libtorch_tidy::torch {

struct PureOp {
  PureKind Kind;
  llvm::StringRef Name;
  /// The tensor that stays as it is: the object of a method, the first
  /// argument of a function.
  const clang::Expr *Tensor;
};

/// nullopt when \p Call (may be null) is another call: also for
/// in-place and out= variants, functions of torch::nn::functional whose options
/// may say inplace, and methods of other classes, such as Module::to.
std::optional<PureOp> asPureOp(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_PUREOPS_H
