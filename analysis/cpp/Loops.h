//===- Loops.h - What the shape of a loop shows -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_LOOPS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_LOOPS_H

#include "clang/AST/Expr.h"
#include <optional>

namespace clang {
class ASTContext;
class ForStmt;
} // namespace clang

namespace libtorch_tidy::cpp {

class Body;

/// True for the loops of C++: for, range-for, while, do.
bool isLoop(const clang::Stmt *S);

/// What \p Loop repeats; null when it is not a loop.
const clang::Stmt *bodyOf(const clang::Stmt *Loop);
/// The same of what Body::loopAround() says: the body of a lambda is all.
const clang::Stmt *roundsOf(const clang::Stmt *Loop);

/// Does \p Part, a child of \p Loop, run once, before the first round: the
/// first part of a for statement, the range of a range-for?
bool runsOnce(const clang::Stmt *Loop, const clang::Stmt *Part);

/// Does \p Condition tell the first round of a loop from the others:
/// `!h.defined()`, `first`, `i == 0`?
bool tellsFirstRound(const clang::Expr *Condition);

/// Does \p Condition, in the body of \p Loop, hold in one round at most:
/// `i == n - 1`, where i counts the rounds?
bool holdsInOneRound(const clang::Expr *Condition, const clang::Stmt *Loop);

/// Does \p Loop (may be null) run a small constant number of times, four at
/// most? Then it is over the parts of one thing, not over a run. Also over a
/// vector that is only ever given short braced lists, as far as can be seen.
bool runsFewTimes(const clang::Stmt *Loop, const clang::ASTContext &Context);

/// Has \p Range four elements at most: an array, or a vector as above?
bool hasFewElements(const clang::Expr *Range, const clang::ASTContext &Context);

/// The for statement whose rounds \p Var counts, one up in each, where nothing
/// else writes it and no condition in the body asks which round it is: what the
/// body does, it does in all of them. Null for others.
const clang::ForStmt *loopCountedBy(const clang::VarDecl *Var);

/// The length of an array, a std::array or a braced list; nullopt for others.
std::optional<int64_t> constantLength(const clang::Expr *Range,
                                      const clang::ASTContext &Context);

/// Has \p Key, an index or key in \p In, one of a few values, however often it
/// is computed: a constant, an enumerator or truth value, `i % n`, a string of
/// such? With \p Loop, also what does not change over its rounds.
bool hasFewValues(const clang::Expr *Key, Body &In, const clang::Stmt *Loop);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_LOOPS_H
