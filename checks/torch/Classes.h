//===- Classes.h - Bases and pointees of classes ----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Walks over types that always end: a class can be a pointer to itself, and
/// the ways to a virtual base double with every diamond below it.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_CLASSES_H
#define LIBTORCH_TIDY_CHECKS_TORCH_CLASSES_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::torch {

/// Is \p Matches true of one of the classes that \p R derives from, directly or
/// not? Each is asked once, those without a definition, too.
bool anyBase(const clang::CXXRecordDecl *R,
             llvm::function_ref<bool(const clang::CXXRecordDecl *)> Matches);

/// What \p T points to in the end, through pointers to pointers: \p T itself
/// when it is no pointer (see pointeeOf). Null for a class that is a pointer to
/// itself, as `struct P : std::shared_ptr<P> {};` is.
clang::QualType finalPointee(clang::QualType T);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_CLASSES_H
