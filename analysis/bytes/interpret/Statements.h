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

/// An `if` of the program whose condition is not known: the branch that trains
/// counts as run, or the one with the call that is looked for. nullopt where it
/// does neither, or both branches do.
std::optional<Flow> execOpenIf(Interpreter &VM, const clang::Stmt *Then,
                               const clang::Stmt *Else,
                               clang::SourceLocation At);

/// A loop of the program whose end may depend on values: its rounds go on for
/// as long as is known, or for some time.
class OpenLoop {
public:
  OpenLoop(Interpreter &VM, const clang::Stmt *Loop);
  ~OpenLoop();
  OpenLoop(const OpenLoop &) = delete;
  OpenLoop &operator=(const OpenLoop &) = delete;

  /// Whether its condition holds depends on values. Is another round followed?
  bool goesOn();
  /// After a round: has it run for long enough?
  bool isOver();
  /// After a round: does it only collect, and did it not end in an earlier run?
  /// Then it counts as one round.
  bool isOneRound();

private:
  bool trains();
  bool collects();
  bool isEndless() const;
  void giveUp();

  Interpreter &VM;
  const clang::Stmt *const Loop;
  const bool Outer;
  std::optional<bool> Trains, Collects;
  bool IsOpen = false; ///< Its condition was not known.
  unsigned Rounds = 0;
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_STATEMENTS_H
