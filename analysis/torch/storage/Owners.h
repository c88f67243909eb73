//===- Owners.h - What owns tensors and modules -----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_OWNERS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_OWNERS_H

#include "clang/AST/Expr.h"
#include "clang/AST/Type.h"

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

/// Leads to tensors and owns none: weak_intrusive_ptr, ArrayRef,
/// OptionalTensorRef.
bool isReferenceClass(clang::QualType T);

/// c10::make_intrusive<T>(...)
bool isMakeIntrusive(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_OWNERS_H
