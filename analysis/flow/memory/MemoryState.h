//===- MemoryState.h - Who refers to whose memory at a point ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The state of the memory domain. It says what *may* be: a place may refer to
/// this or to that, and an owner may be gone. What owners have alone is what
/// they have on all ways.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYSTATE_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYSTATE_H

#include "analysis/flow/memory/Memory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace libtorch_tidy::flow {

/// The variable that \p E names, without implicit nodes; null for others.
const clang::VarDecl *namedBy(const clang::Expr *E);

/// What can hold a borrow: a variable, a field of `*this`, a field of a
/// variable, or what a pointer variable points to.
struct Keeper {
  const clang::ValueDecl *Root = nullptr;
  const clang::FieldDecl *Field = nullptr;
  bool Pointee = false;

  bool operator==(const Keeper &O) const {
    return Root == O.Root && Field == O.Field && Pointee == O.Pointee;
  }
  /// Of which object \p E is the name; nullopt for elements and results.
  static std::optional<Keeper> of(const clang::Expr *E);
  clang::QualType type() const;
  /// As the user would write it.
  std::string name() const;
  /// Is it there when the function is over?
  bool outlives() const;
};

/// A variable that dies with its scope and is not an alias.
bool isOwn(const clang::VarDecl *Var);

/// A borrow and who has it.
struct Held {
  Keeper By;
  Borrow What;
  clang::SourceLocation KeptAt;
  const clang::Stmt *Statement = nullptr;
  bool Alive = true;                  ///< The owner may be there.
  std::optional<Dangling::How> Ended; ///< The owner may be gone.
  clang::SourceLocation EndsAt;

  /// Does \p O hold the same memory in the same place? A call may lend the
  /// memory of several arguments.
  bool isSame(const Held &O) const {
    return By == O.By && What.Source == O.What.Source &&
           What.Owner == O.What.Owner && What.Temporary == O.What.Temporary;
  }
};

/// Memory that a pointer points to.
struct Buffer {
  const clang::VarDecl *Owner = nullptr;
  const clang::Expr *Temporary = nullptr;
  bool Heap = false, AtStart = true;
  torch::Fresh Sure = torch::Fresh::Yes;
  std::string Through;

  /// What \p Source refers to when it takes the pointer.
  Borrow lent(Borrow::Kind What, const clang::Expr *Source) const;
};

/// How sure is it that a tensor's memory, and the tensor object, are alone?
struct Alone {
  torch::Fresh Memory = torch::Fresh::No;
  torch::Fresh Handle = torch::Fresh::No;
  bool OnDevice = false; ///< Its elements surely lie in memory of a device.
};

struct MemoryState {
  /// In the order in which they were kept, so that reports do not depend on
  /// addresses. Beyond MaxHeld no more are followed.
  std::vector<Held> Env;
  static constexpr size_t MaxHeld = 200;
  /// The tensors among the local variables and parameters.
  llvm::DenseMap<const clang::VarDecl *, Alone> Tensors;
  llvm::DenseMap<const clang::VarDecl *, Buffer> Pointers;
  /// Images of OpenCV that may share their pixels with another.
  llvm::DenseSet<const clang::VarDecl *> SharedMats;
  /// Parameters whose memory is freed on all ways here.
  llvm::DenseSet<const clang::VarDecl *> Freed;

  /// Returns whether this state changed.
  bool join(const MemoryState &Other);

  void keep(Held H);
  bool holds(const Keeper &K) const;
  void forget(const clang::ValueDecl *Root);
  void forget(const Keeper &K);
  /// \p Owner may be gone at \p At, for those whose borrow \p Dies.
  void end(const clang::VarDecl *Owner, Dangling::How How,
           clang::SourceLocation At, llvm::function_ref<bool(Borrow &)> Dies);
  /// What was borrowed from \p Owner is no longer what it has.
  void disown(const clang::VarDecl *Owner);
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYSTATE_H
