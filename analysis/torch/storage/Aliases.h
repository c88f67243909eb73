//===- Aliases.h - What else leads to a variable's memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_ALIASES_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_ALIASES_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SetVector.h"

namespace libtorch_tidy::torch {

/// Does \p E give \p D, a part or copied handle of it, a view, or what refers
/// to it: a reference, pointer, iterator, or an object made of one? A value
/// that is computed anew and a number do not.
bool refersTo(const clang::Expr *E, const clang::ValueDecl *D);

/// The variables and fields that a function gives what refers to another one.
struct Aliases {
  llvm::SetVector<const clang::ValueDecl *> Names;
  bool Unknown = false; ///< Something else is given it, too.
};

/// Of \p D in \p Body, by syntax, one step: an alias may have its own. Those
/// that the compiler adds are among them (a range-for has iterators), and the
/// object of a user's method that is given a pointer to the memory of \p D, as
/// it may use it when it is called again.
Aliases aliasesOf(const clang::ValueDecl *D, const clang::Stmt *Body);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_ALIASES_H
