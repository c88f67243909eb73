//===- CudaMemory.h - Devices' caching allocators ---------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_CUDAMEMORY_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_CUDAMEMORY_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// Gives the free blocks of a device's allocator back to the device:
/// c10::cuda::CUDACachingAllocator::emptyCache() and the same for other
/// devices; of 2.x, at::accelerator::emptyCache() and
/// getDeviceAllocator(device)->emptyCache(). Null is allowed.
bool isEmptyCache(const clang::CallExpr *Call);

/// Gives the free blocks of the allocator of pinned memory of the host back to
/// the system: at::accelerator::emptyHostCache(),
/// getHostAllocator(device)->empty_cache(), CachingHostAllocator_emptyCache().
/// Null is allowed.
bool isEmptyHostCache(const clang::CallExpr *Call);

/// The names of both, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> EmptyCacheFunctions;

/// A condition that is about where the program runs and not about what it
/// does: torch::cuda::is_available(), device.is_cuda(), x.is_cuda(),
/// device.type() == torch::kCUDA.
bool asksForDevice(const clang::Expr *Condition);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_CUDAMEMORY_H
