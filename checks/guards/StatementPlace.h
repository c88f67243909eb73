//===- StatementPlace.h - Where a statement stands --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_GUARDS_STATEMENTPLACE_H
#define LIBTORCH_TIDY_CHECKS_GUARDS_STATEMENTPLACE_H

#include "clang/AST/ASTTypeTraits.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

namespace libtorch_tidy {

/// A whole statement, and the block or branch it is.
struct StatementPlace {
  const clang::Stmt *Statement = nullptr;
  clang::DynTypedNode Parent;
  /// The block, if it is in one; null for the branch of an `if` and the like.
  const clang::CompoundStmt *Block = nullptr;

  /// Is it the last thing its block does?
  bool isLast() const { return !Block || Block->body_back() == Statement; }
  /// What its block does after it.
  auto rest() const {
    return llvm::make_range(std::next(llvm::find(Block->body(), Statement)),
                            Block->body_end());
  }
};

/// A template's pattern and instantiations may share what does not depend on
/// them. Each parent is the same place then.
const clang::Stmt *parentOf(const clang::Stmt *S, clang::ASTContext &Context);

/// Where \p S stands as a statement of its own; nullopt where it does not.
std::optional<StatementPlace> placeOf(const clang::Stmt *S,
                                      clang::ASTContext &Context);
/// The same for the statement that declares \p D.
std::optional<StatementPlace> placeOf(const clang::Decl *D,
                                      clang::ASTContext &Context);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_GUARDS_STATEMENTPLACE_H
