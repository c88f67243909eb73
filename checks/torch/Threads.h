//===- Threads.h - LibTorch's own threads -----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_THREADS_H
#define LIBTORCH_TIDY_CHECKS_TORCH_THREADS_H

#include "clang/AST/Expr.h"

namespace libtorch_tidy::torch {

/// at::parallel_for: runs parts of a range on several threads. Unlike
/// at::launch it does not hand them the caller's gradient mode.
bool isParallelFor(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_THREADS_H
