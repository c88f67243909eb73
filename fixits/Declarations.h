//===- Declarations.h - Edits that move declarations ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_FIXITS_DECLARATIONS_H
#define LIBTORCH_TIDY_FIXITS_DECLARATIONS_H

#include "fixits/FixIts.h"
#include "clang/AST/Stmt.h"

namespace libtorch_tidy::fixits {

/// Declares a variable where it is first assigned:
///   torch::Tensor out;       ->
///   for (...) {                  for (...) {
///     out = net(x);                torch::Tensor out = net(x);
/// \p Declaration holds the variable; with several variables in it, or an
/// initialiser, nothing is offered. \p Assignment is `out = ...` as a
/// statement of the block that holds all uses. Comments that are about the
/// declaration alone go above it: nothing is offered where other code stands
/// before \p Assignment on its line then.
Edits sinkDeclaration(const clang::DeclStmt *Declaration,
                      const clang::Expr *Assignment,
                      const clang::ASTContext &Context);

} // namespace libtorch_tidy::fixits

#endif // LIBTORCH_TIDY_FIXITS_DECLARATIONS_H
