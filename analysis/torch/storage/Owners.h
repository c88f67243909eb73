//===- Owners.h - What owns tensors, what frees memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_OWNERS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_OWNERS_H

#include "clang/AST/Expr.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// Does a value of \p T own tensors: a tensor, IValue, PackedSequence, smart
/// pointer, container, optional or struct of them? References, pointers,
/// views (ArrayRef), closures and modules do not.
bool ownsTensors(clang::QualType T);

/// The member function without arguments that makes a variable of \p T let go
/// of its tensors: "reset" or "clear"; empty when there is none.
llvm::StringRef releaseMethod(clang::QualType T);

/// c10::intrusive_ptr, or a class derived from it.
bool isIntrusivePtr(clang::QualType T);

/// c10::IValue.
bool isIValue(clang::QualType T);

/// Copies of a \p T share what they own: tensors, ModuleHolder, AnyModule,
/// intrusive_ptr, and standard shared pointers to modules.
bool isSharedHandle(clang::QualType T);

/// The pointer whose memory \p Call releases: the argument of free(),
/// cudaFree(), hipFree(), CUDACachingAllocator::raw_delete() and the like, the
/// first of realloc(). Null for other calls, and for functions of the user that
/// have such a name.
const clang::Expr *releasedBy(const clang::CallExpr *Call);

/// The pointer that \p E frees: a delete expression, or a call of releasedBy().
/// Null for others.
const clang::Expr *freedBy(const clang::Stmt *E);

/// The object whose destructor surely frees what \p Pointer, a field of it or
/// what a method hands out of one, leads to: `loader` in loader.buffer and
/// loader.data(). As written; null for others, and for `this`.
const clang::Expr *freedWithObject(const clang::Expr *Pointer);

/// cudaDeviceReset(), hipDeviceReset(), cuDevicePrimaryCtxReset(): destroys the
/// context of a device, with all that was allocated in it. Null is allowed.
bool resetsDevice(const clang::CallExpr *Call);

/// The names of both, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> ReleaseFunctions;

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

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_OWNERS_H
