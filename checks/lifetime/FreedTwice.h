//===- FreedTwice.h - Deleters of memory that others free -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_LIFETIME_FREEDTWICE_H
#define LIBTORCH_TIDY_CHECKS_LIFETIME_FREEDTWICE_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy {

/// Memory that the deleter of a tensor frees, and something else, too.
struct FreedTwice {
  const clang::VarDecl *Of;   ///< The pointer, or what owns the memory.
  const clang::Expr *Deleter; ///< As written.
  const clang::Expr *Free;    ///< By hand; null: Of frees it at its end.
  bool OnSomeWays = false;    ///< The tensor may not be there yet.
};

/// The other places that free the memory of \p Blob, if that is a from_blob
/// whose deleter frees it.
llvm::SmallVector<FreedTwice, 1> freedTwice(const clang::CallExpr *Blob,
                                            clang::ASTContext &Context);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LIFETIME_FREEDTWICE_H
