//===- Liveness.h - Is a value needed later? --------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_LIVENESS_H
#define LIBTORCH_TIDY_CHECKS_FLOW_LIVENESS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace libtorch_tidy::flow {

/// May what \p D holds when control comes to the start of statement \p From of
/// \p In be read before it is overwritten or released? \p D is a variable or a
/// field of `*this`; one that outlives \p In is read by whoever comes after,
/// unless \p In is called again first. Exceptions that \p From throws are not
/// followed. True also when it cannot be told.
bool isReadFrom(const clang::ValueDecl *D, const clang::Stmt *From,
                const clang::FunctionDecl *In, clang::ASTContext &Context);

/// The innermost statement whose end ends the life of local variable \p Var;
/// null for parameters and when it cannot be told.
const clang::Stmt *scopeOf(const clang::VarDecl *Var,
                           clang::ASTContext &Context);

/// Is \p Inner \p Outer or a part of it?
bool contains(const clang::Stmt *Outer, const clang::Stmt *Inner);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_LIVENESS_H
