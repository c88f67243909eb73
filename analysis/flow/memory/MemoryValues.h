//===- MemoryValues.h - What an expression refers to ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The expressions of the memory domain: whose memory a value refers to, given
/// what variables hold. Nothing here changes a state.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYVALUES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYVALUES_H

#include "analysis/cpp/Call.h"
#include "analysis/flow/memory/MemoryState.h"
#include "analysis/flow/memory/Sharing.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy::flow {

/// Owns its elements; a copy has its own.
bool isOwningContainer(clang::QualType T);
/// A class that is made from a pointer and does not own what it points to.
bool isViewClass(clang::QualType T);
/// The image whose pixels the result of \p Call (may be null) shows, too:
/// image.reshape(1), image(rect). Null for others.
const clang::Expr *imageShownBy(const clang::CallExpr *Call);
/// An own variable, or a container of the caller's that stands for itself.
bool isOwner(const clang::VarDecl *Var);

/// What a value may refer to.
using Borrows = llvm::SmallVector<Borrow, 1>;

class MemoryValues {
public:
  /// \p Shared: of the function at hand.
  MemoryValues(const clang::ASTContext &Context, MemorySummaries Callees,
               const Sharing &Shared)
      : Context(Context), Callees(Callees), Shared(Shared) {}

  /// What \p E refers to in \p At, if it refers to memory of something else.
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

  /// What is known of the function that \p C calls, when it is surely the
  /// one that runs; null when nothing is.
  const MemorySummary *summaryOf(const cpp::Call &C) const;
  /// What \p C refers to because its callee lends \p L.
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
  Borrows readMoved(const cpp::Call &C, const MemoryState &At) const;
  Borrows readTuple(const cpp::Call &C, const MemoryState &At) const;
  Borrows readPartOfList(const cpp::Call &C, const MemoryState &At) const;
  Borrows readImage(const cpp::Call &C, const clang::Expr *Image,
                    const MemoryState &At) const;
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
