//===- HeldMemory.h - Memory that is held though dead -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One question: is memory held at a heavy point although no path from there
/// reads it again? The owners are those of MemoryNames.h; which of them hold
/// what an expression made is known at each point. A heavy point runs a
/// module or much else, and a graph that keeps the memory anyway is no reason
/// to let go of it.

#ifndef LIBTORCH_TIDY_CHECKS_HISTORY_HELDMEMORY_H
#define LIBTORCH_TIDY_CHECKS_HISTORY_HELDMEMORY_H

#include "checks/history/MemoryNames.h"

namespace libtorch_tidy {

struct HeldMemory {
  /// Those that hold it at the heavy point, in source order.
  llvm::SmallVector<const clang::VarDecl *, 2> Vars;
  Amount Size = Amount::None;
  /// What else may hold it.
  MemoryNames::Holder Else = MemoryNames::Holder::None;
  /// Code that cannot be seen got it, and gave nothing back.
  bool Unseen = false;
  /// What the first of Vars was given, of several the last; may be null.
  const clang::Expr *Value = nullptr;
  /// All that reads the first of Vars: mentions, and where lambdas run that
  /// capture it.
  llvm::SmallVector<const clang::Expr *, 4> Reads;
  /// The last mention that reads it; null when nothing does.
  const clang::Expr *LastRead = nullptr;
  const clang::CallExpr *Heavy = nullptr;
  /// The outermost loop around Heavy that does not mention it: it is held in
  /// each round.
  const clang::Stmt *Loop = nullptr;
  /// It is what an earlier round of a loop left.
  bool OfLastRound = false;
  /// Only its size or another property is read later.
  bool OnlyNumber = false;
  /// Something else holds it on some paths, or one part of it, since KeptBy.
  bool SomePaths = false, OfPart = false;
  const clang::Expr *KeptBy = nullptr;
  /// Heavy runs a module, itself or in what it calls.
  bool RunsModule = false;
  /// Heavy takes the variable by value, and gives its own copy up.
  const clang::Expr *Moved = nullptr;
};

/// One for each memory, in the order of its first variable. What something else
/// holds is among them only \p WithHolders.
std::vector<HeldMemory> heldThoughDead(const clang::FunctionDecl *F,
                                       flow::UnitModel &Unit,
                                       MemoryNamesOf &Known, bool WithHolders);

/// The last statement that mentions the first variable of \p Held, of those in
/// the block that declares it, where the heavy point stands in a later one;
/// null otherwise.
const clang::Stmt *lastUseBefore(const HeldMemory &Held,
                                 const clang::FunctionDecl *F);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_HISTORY_HELDMEMORY_H
