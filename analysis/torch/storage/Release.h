//===- Release.h - Memory that is given back by hand ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Functions of C, CUDA and HIP that release memory or a device, by their
/// names: their headers need not be there. None of them is meant for memory
/// that LibTorch owns.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_RELEASE_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_RELEASE_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// The pointer whose memory \p Call releases: the argument of free(),
/// cudaFree(), hipFree(), CUDACachingAllocator::raw_delete() and the like, the
/// first of realloc(). Null for other calls, and for functions of the user that
/// have such a name.
const clang::Expr *releasedBy(const clang::CallExpr *Call);

/// cudaDeviceReset(), hipDeviceReset(), cuDevicePrimaryCtxReset(): destroys the
/// context of a device, with all that was allocated in it. Null is allowed.
bool resetsDevice(const clang::CallExpr *Call);

/// The names of both, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> ReleaseFunctions;

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_RELEASE_H
