//===- Writes.h - Where a variable changes ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Every place of a function body that changes, or may change, what a variable
/// or a member of `*this` holds, by syntax alone: no paths, no aliases beyond
/// the places that make one.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_WRITES_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_WRITES_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

namespace libtorch_tidy::cpp {

enum class WriteKind : unsigned char {
  Assigned, ///< `x = value`, and x as a target of `std::tie(...) = value`.
  Released, ///< `x.reset()`, `x.clear()`, `x = {}`, `x = T()`, `x = nullopt`,
            ///< a move out of x: afterwards x owns nothing.
  Changed,  ///< A part or the contents of x: `x.add_(1)`, `x[i] = y`,
            ///< `x.push_back(y)`, `x += y`.
  Escaped,  ///< Bound to a reference or pointer that may change it.
};

struct Write {
  WriteKind Kind;
  const clang::Expr *Where;           ///< The expression that writes.
  const clang::Expr *Value = nullptr; ///< What is assigned, when written.
  bool InLambda = false; ///< It happens when a lambda of the body is called.
  /// The mention of x that is wholly written and not read; null for a move out
  /// of x and for writes to a part of it.
  const clang::Expr *Overwritten = nullptr;
};

/// The writes to each variable, and to each field of `*this`, in source order.
using WritesByTarget =
    std::map<const clang::ValueDecl *, llvm::SmallVector<Write, 4>>;

/// All writes in \p Body, found at once.
WritesByTarget allWrites(const clang::Stmt *Body);

/// The writes to \p Target in \p Body, in source order. \p Target is a
/// variable, or a field: then that field of `*this`.
llvm::SmallVector<Write, 4> writesTo(const clang::ValueDecl *Target,
                                     const clang::Stmt *Body);

/// Is \p Var given another value, or may it be, in \p Body? True without a
/// body.
bool isReassigned(const clang::ValueDecl *Var, const clang::Stmt *Body);
/// The same of a variable whose writes are \p Writes.
bool anyReassigns(llvm::ArrayRef<Write> Writes);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_WRITES_H
