//===- Kept.h - What a value keeps alive ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a value owns: a lambda, a std::bind or a container owns what it was
/// given by value. By syntax, for variables that keep their value.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_KEPT_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_KEPT_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy::torch {

/// The expressions whose values a copy of \p E keeps, seen through lambdas
/// (what they capture by value), std::function, std::bind, tuples, lists,
/// containers, IValues and user classes that store what they are made of. \p E
/// itself when it is something else.
llvm::SmallVector<const clang::Expr *, 4> keptBy(const clang::Expr *E,
                                                 const clang::Stmt *Body);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_KEPT_H
