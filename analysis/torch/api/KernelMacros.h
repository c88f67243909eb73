//===- KernelMacros.h - What LibTorch's code says of kernels ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_KERNELMACROS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_KERNELMACROS_H

#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// Macros that LibTorch has for CUDA's own compiler only, and that stand in the
/// declarations of kernels.
inline constexpr llvm::StringLiteral KernelMacros =
    "#define C10_LAUNCH_BOUNDS_0\n"
    "#define C10_LAUNCH_BOUNDS_1(...)\n"
    "#define C10_LAUNCH_BOUNDS_2(...)\n";

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_KERNELMACROS_H
