//===- Writes.h - Where a variable changes ----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Every place of a function body that changes, or may change, what a variable
/// or a member of `*this` holds, by syntax alone: no paths, no aliases beyond
/// the places that make one.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_WRITES_H
#define LIBTORCH_TIDY_CHECKS_FLOW_WRITES_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy::flow {

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

/// The writes to \p Target in \p Body, in source order. \p Target is a
/// variable, or a field: then that field of `*this`.
llvm::SmallVector<Write, 4> writesTo(const clang::ValueDecl *Target,
                                     const clang::Stmt *Body);

/// The variable, binding or field of `*this` that \p E names or is a part of:
/// x for `x`, `x.member`, `x[i]`, `std::get<0>(x)`; null for anything else.
const clang::ValueDecl *rootOf(const clang::Expr *E);

/// \p E without parentheses, implicit nodes, temporaries, copy and move
/// constructions and std::move.
const clang::Expr *valueOf(const clang::Expr *E);

/// Is \p E a default-constructed, null or nullopt value?
bool isEmptyValue(const clang::Expr *E);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_WRITES_H
