//===- Work.h - How much tensor work a call is ------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_WORK_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_WORK_H

#include "clang/AST/Expr.h"

namespace libtorch_tidy::torch {

/// How much a call may allocate by itself, its callee's body aside.
enum class Work {
  None,  ///< No tensor memory: views, accessors, anything else.
  Some,  ///< A tensor.
  Heavy, ///< A module's forward, backward, matrix products and the like.
};
Work workOf(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_WORK_H
