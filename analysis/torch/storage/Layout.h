//===- Layout.h - How the elements of a tensor lie in memory ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// In which order the elements of a tensor lie in memory, and with which gaps,
/// as far as calls of LibTorch tell: permute() moves no bytes, mul() keeps the
/// order of its operand, contiguous() packs. Measured on LibTorch 1.13.1
/// (test/torch/layouts.test).

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUT_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUT_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::torch {

/// The layout of a tensor. Memory is seen as levels, the outermost first, of
/// which each lies within the one before. A packed tensor has a dimension for
/// each level, in this order. A tensor of which nothing is known counts as
/// packed, but not surely.
struct Layout {
  enum Kind : unsigned char {
    Packed,   ///< Row by row in one piece.
    Permuted, ///< In one piece, in another order.
    Columns,  ///< The same: the matrices that LAPACK returns.
    Sliced,   ///< With gaps.
    Expanded, ///< Some elements are the same in memory.
    Unknown,  ///< Nothing can be said, not even that it is likely packed.
  };
  struct Dim {
    /// Where it lies; Unit for one that has no place, Repeated for expanded
    /// ones, whose stride is 0.
    int Level;
    std::optional<int64_t> Size;
    bool Cut = false;     ///< It shows a part of its level.
    bool Stepped = false; ///< It leaves out elements between others.
    /// Of Cut: the numbers are not known, it may be none.
    bool MayBeWhole = false;
    /// What is left of others, which may be one element.
    bool MayBeOne = false;
    bool operator==(const Dim &O) const {
      return Level == O.Level && Size == O.Size && Cut == O.Cut &&
             Stepped == O.Stepped && MayBeWhole == O.MayBeWhole &&
             MayBeOne == O.MayBeOne;
    }
  };
  static constexpr int Unit = -1, Repeated = -2;

  llvm::SmallVector<Dim, 4> Dims;
  /// Levels that have no dimension or did not have one, and may have more than
  /// one element, count as gaps. Units are not counted.
  int Levels = 0;
  /// After Dims more may follow, which lie within them, in order.
  bool Open = true;
  /// Not described by Dims, for want of numbers; else Packed.
  Kind Coarse = Packed;
  /// It is what a tensor has that is surely packed, changed by known calls.
  bool Sure = false;
  /// A dimension that Dims do not have may be known to have one element: what
  /// moves it changes nothing.
  bool SomeUnit = false;
  /// The call that made it other than packed.
  const clang::CallExpr *By = nullptr;

  bool operator==(const Layout &O) const {
    return Dims == O.Dims && Levels == O.Levels && Open == O.Open &&
           Coarse == O.Coarse && Sure == O.Sure && SomeUnit == O.SomeUnit &&
           By == O.By;
  }

  /// What cuts do of which not all is known: they leave a part of several
  /// elements; none, or else one; one, or else all.
  enum Cuts { Part, AllOrOne, OneOrAll };
  /// What Dims say, or Coarse. A size that is not known counts as \p Unsaid.
  Kind kind(unsigned Unsaid = 2, Cuts Take = Part) const;
  /// Is it strided, but packed, or in one piece at least, where cuts take all
  /// or leave one element?
  bool hangsOnCuts(unsigned Unsaid = 2, bool AnyOrder = false) const {
    auto IsRight = [&](Kind K) {
      return K == Packed || (AnyOrder && K == Permuted);
    };
    return Coarse == Packed && !isPacked() &&
           (IsRight(kind(Unsaid, AllOrOne)) || IsRight(kind(Unsaid, OneOrAll)));
  }
  /// Is it other than packed, whatever the sizes are that are not known?
  bool isSurelyStrided() const {
    return Coarse == Packed && kind(1) != Packed && !hangsOnCuts(1);
  }
  /// Has it a dimension that is known to have one element, or may have?
  bool hasUnit() const;
  bool isPacked() const { return kind() == Packed; }
  /// Is it known, and not packed?
  bool isStrided() const { return kind() != Packed && kind() != Unknown; }
  /// Do its elements, in another order, lie in one piece?
  bool isDense() const { return kind() == Permuted || kind() == Columns; }
  /// Nullopt for a tensor of unknown rank.
  std::optional<unsigned> rank() const {
    return Open || Coarse != Packed ? std::nullopt
                                    : std::optional<unsigned>(Dims.size());
  }
  /// How many elements it has, where that is known and a number.
  std::optional<int64_t> numel() const;
  /// Do the elements of the last dimension lie next to each other?
  bool rowsLieTogether() const;
  /// What mul(), clone() and similar operators make of it: no gaps.
  Layout compacted() const;
  /// A packed one of the same sizes.
  Layout packed() const;
  /// One of kind \p K, of which only the units are remembered.
  Layout unlike(Kind K) const;

  static Layout of(Kind K, const clang::CallExpr *By, bool Sure);
  static Layout unknown() { return of(Unknown, nullptr, false); }
};

/// The layout of the result of \p Call, of LibTorch (may be null); for a call
/// that returns several tensors that of each. \p Operand is asked once for each
/// operand.
/// \p Result: which of several results. An operator of which nothing is known
/// gives a layout that is packed, but not surely.
Layout layoutOf(const clang::CallExpr *Call, unsigned Result,
                llvm::function_ref<Layout(const clang::Expr *)> Operand,
                const clang::ASTContext &Context);

/// transpose_(), resize_(): does \p Call give its tensor another layout? That
/// is then what layoutOf() says.
bool changesLayout(const clang::CallExpr *Call);

/// Is \p Call asked of a tensor for its layout: is_contiguous(), stride()? Also
/// accessors, which know the strides. The tensor as written; else null.
const clang::Expr *askedForLayout(const clang::CallExpr *Call);

/// Is the result of \p Call the tensor that it is called on, in the order that
/// it has: add_(), detach()?
bool keepsTensor(const clang::CallExpr *Call);

/// The tensor of which \p Call, numel() or nbytes(), counts all elements; null
/// for others.
const clang::Expr *countedWhole(const clang::CallExpr *Call);

/// The tensor that \p Call, size() or sizes(), is asked of; null for others.
const clang::Expr *askedForSizes(const clang::CallExpr *Call);

/// The tensor that \p Call, contiguous() without another format, packs; else
/// null.
const clang::Expr *packedBy(const clang::CallExpr *Call);

/// The dimensions that \p Call, permute() by numbers, gives in this order;
/// empty for others.
llvm::SmallVector<unsigned, 4> permutation(const clang::CallExpr *Call,
                                           const clang::ASTContext &Context);

/// The tensor of \p Call, a data_ptr() in any spelling, also of the storage's
/// elements from its first on; null for others, and for accessors.
const clang::Expr *dataOf(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUT_H
