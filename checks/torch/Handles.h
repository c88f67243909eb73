//===- Handles.h - LibTorch's pointers --------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_HANDLES_H
#define LIBTORCH_TIDY_CHECKS_TORCH_HANDLES_H

#include "clang/AST/Type.h"

namespace libtorch_tidy::torch {

/// Tensor, ModuleHolder, AnyModule, c10::intrusive_ptr, and standard shared
/// pointers to modules: copies of a value own the same object.
bool isSharedHandle(clang::QualType T);

/// ArrayRef, OptionalTensorRef, c10::weak_intrusive_ptr: LibTorch's classes
/// that lead to objects and own none.
bool isNonOwningHandle(clang::QualType T);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_HANDLES_H
