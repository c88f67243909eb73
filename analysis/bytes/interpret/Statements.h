//===- Statements.h - What follows statements -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_STATEMENTS_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_STATEMENTS_H

#include "analysis/bytes/interpret/Interpreter.h"

namespace libtorch_tidy::bytes {

/// What follows a statement.
enum class Flow { Next, Break, Continue, Return, Halt };

Flow exec(Interpreter &VM, const clang::Stmt *S);

/// One of two branches, which depends on values: what takes more counts, where
/// later code cannot tell them apart but by values. nullopt where it can.
std::optional<Flow> execEither(Interpreter &VM, const clang::Stmt *Then,
                               const clang::Stmt *Else,
                               clang::SourceLocation At, const Cell &Unknown);
/// Does \p S assign to a tensor? Of other branches of a program, what they
/// change is unknown after them.
bool setsTensor(const clang::Stmt *S);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_STATEMENTS_H
