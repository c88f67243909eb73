//===- HandlerOwners.h - Tensors alive inside a handler ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_OOM_HANDLEROWNERS_H
#define LIBTORCH_TIDY_CHECKS_OOM_HANDLEROWNERS_H

#include "analysis/flow/unit/TensorWork.h"
#include "clang/AST/StmtCXX.h"

namespace libtorch_tidy {

/// A variable declared outside a try statement, or a member, that owns tensors
/// when a handler runs.
struct HandlerOwner {
  const clang::ValueDecl *D;
  /// The assignment in the try block that made it own them; null when it did
  /// so before.
  const clang::Expr *AssignedInTry = nullptr;
  /// The assignment in an earlier round of a loop that did.
  const clang::Expr *AssignedEarlier = nullptr;
};

/// One statement of a handler, and what surrounds it.
struct HandlerPoint {
  const clang::FunctionDecl *In; ///< The innermost function.
  const clang::CXXTryStmt *Try;
  const clang::CXXCatchStmt *Handler;
  const clang::Stmt *Statement; ///< A child of the handler's block.
  const clang::Expr *At;        ///< An expression of that statement.
};

/// What owns tensors when \p Point.At runs although nothing reads them from
/// \p Point.Statement on: letting go of it would free memory. Silent about
/// what it cannot tell. In order of declaration.
llvm::SmallVector<HandlerOwner, 2> needlessOwners(const HandlerPoint &Point,
                                                  flow::TensorWork &Work,
                                                  clang::ASTContext &Context);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_OOM_HANDLEROWNERS_H
