//===- MemoryValues.h - The memory that expressions refer to ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The state of the memory domain, and what expressions mean in it: whose
/// memory a value refers to, given what variables hold. The state tells what
/// *may* be: a place may refer to this or to that, and an owner may be gone.
/// What owners have alone is what they have on all ways.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYVALUES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYVALUES_H

#include "analysis/cpp/Call.h"
#include "analysis/flow/memory/MemoryBody.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::flow {

/// The variable that \p E names, without implicit nodes; null for others.
const clang::VarDecl *namedBy(const clang::Expr *E);

/// An object that can hold a borrow: a variable, a field of `*this`, a field of
/// a variable, or the target of a pointer variable.
struct Keeper {
  const clang::ValueDecl *Root = nullptr;
  const clang::FieldDecl *Field = nullptr;
  bool Pointee = false;

  bool operator==(const Keeper &O) const {
    return Root == O.Root && Field == O.Field && Pointee == O.Pointee;
  }
  /// The object that \p E names; nullopt for elements and results.
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
  std::string Through = {};

  /// The borrow of \p Source when it takes the pointer.
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
  /// Borrows from \p Owner no longer refer to its current value.
  void disown(const clang::VarDecl *Owner);
};

/// Owns its elements; a copy has its own.
bool isOwningContainer(clang::QualType T);
/// A class that is made from a pointer and does not own what it points to.
bool isViewClass(clang::QualType T);
/// The image whose pixels the result of \p Call (may be null) shows, too:
/// image.reshape(1), image(rect). Null for others.
const clang::Expr *imageShownBy(const clang::CallExpr *Call);
/// An own variable, or a container of the caller's that stands for itself.
bool isOwner(const clang::VarDecl *Var);

/// The borrows that a value may hold.
using Borrows = llvm::SmallVector<Borrow, 1>;

class MemoryValues {
public:
  /// \p Shared: of the function at hand.
  MemoryValues(const clang::ASTContext &Context, MemorySummaries Callees,
               const Sharing &Shared)
      : Context(Context), Callees(Callees), Shared(Shared) {}

  /// The borrows of \p E in \p At; none if it refers to no foreign memory.
  Borrows read(const clang::Expr *E, const MemoryState &At) const;
  /// Who owns what pointer \p E points to.
  std::optional<Buffer> bufferOf(const clang::Expr *E,
                                 const MemoryState &At) const;
  /// Does the memory of \p B die with its owner? Lowers B.Sure.
  bool ownerDies(Borrow &B, const MemoryState &At) const;
  /// Can a value of \p T hold the borrow, rather than a copy of the data?
  static bool carries(clang::QualType T, const Borrow &B);

  /// How sure is it that the value of \p E is alone? What living variables
  /// hold is theirs, but for \p Self, which is about to be overwritten.
  Alone aloneIn(const clang::Expr *E, const MemoryState &At,
                const clang::VarDecl *Self = nullptr) const;
  /// Is \p E an image of OpenCV that is made here?
  static bool makesMat(const clang::Expr *E);
  const Sharing &sharing() const { return Shared; }

  /// The summary of the function that \p C calls, when it is surely the one
  /// that runs; null when there is none.
  const MemorySummary *summaryOf(const cpp::Call &C) const;
  /// The borrow of \p C because its callee lends \p L.
  std::optional<Borrow> lent(const MemorySummary::Lent &L, const cpp::Call &C,
                             const MemoryState &At) const;

private:
  Alone stateOf(const clang::VarDecl *Var, const MemoryState &At) const;
  std::optional<Buffer> partOf(const clang::Expr *E) const;
  std::optional<Buffer> pixelsOf(const clang::Expr *Image) const;
  std::optional<Buffer> bufferOfCall(const clang::CallExpr *Call,
                                     const MemoryState &At) const;
  std::optional<Borrow> readAccess(const torch::Access &A,
                                   const MemoryState &At) const;
  std::optional<Borrow> intoObject(Borrow::Kind What, const clang::Expr *Object,
                                   const clang::Expr *Source,
                                   const MemoryState &At) const;
  Borrows readList(const clang::CXXConstructExpr *E,
                   const MemoryState &At) const;
  Borrows readConstruct(const clang::CXXConstructExpr *E,
                        const MemoryState &At) const;
  Borrows readLent(const cpp::Call &C, unsigned To,
                   const MemoryState &At) const;
  // The table of calls, and what its rows are made of.
  Borrows readCall(const clang::CallExpr *Call, const MemoryState &At) const;
  std::optional<torch::BlobCall> asBlob(const cpp::Call &C) const;
  Borrows readBlob(const cpp::Call &C, const torch::BlobCall &Blob,
                   const MemoryState &At) const;
  Borrows readPart(const cpp::Call &C, const torch::Access &A,
                   const MemoryState &At) const;
  Borrows readSame(const cpp::Call &C, const clang::Expr *Object,
                   const MemoryState &At) const;
  Borrows readTuple(const cpp::Call &C, const MemoryState &At) const;
  std::optional<torch::StorageUse> asOperator(const cpp::Call &C) const;
  Borrows readOperator(const cpp::Call &C, const torch::StorageUse &Of,
                       const MemoryState &At) const;
  Borrows readResult(const cpp::Call &C, const MemoryState &At) const;
  template <typename Range>
  Borrows readBlobs(Range Values, const MemoryState &At) const;
  llvm::StringRef decidingOperator(const clang::Expr *E) const;
  bool isOwnMat(const clang::VarDecl *Var, const MemoryState &At) const;
  bool isZero(const clang::Expr *E) const;

  const clang::ASTContext &Context;
  MemorySummaries Callees;
  const Sharing &Shared;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYVALUES_H
