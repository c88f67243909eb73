//===- LayoutReader.h - Views and sizes, step by step -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What LayoutSteps.cpp and LayoutSizes.cpp share: the layout of the result of
/// a call, made of its operand's by steps. Others ask LayoutSteps.h.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUTREADER_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUTREADER_H

#include "analysis/torch/storage/LayoutSteps.h"
#include <utility>

namespace libtorch_tidy::torch {

using Number = std::optional<int64_t>;

/// c10::nullopt, or std's.
bool isNone(const clang::Expr *E);

class LayoutReader {
public:
  using Exprs = llvm::ArrayRef<const clang::Expr *>;
  LayoutReader(Layout Start, Exprs Args, LayoutOfOperand Operand,
               const clang::ASTContext &Context)
      : L(std::move(Start)), Args(Args), Operand(Operand), Context(Context) {}

  /// Does what operator \p Name does to the dimensions; false for others.
  bool rearrange(llvm::StringRef Name);
  /// The same for results that are packed.
  bool resize(llvm::StringRef Name);
  /// \p Sizes as a list in braces; else nothing is known but the order.
  void sized(const clang::Expr *Sizes);
  /// A dimension more, of \p Count tensors; or the elements of as many in it.
  void join(Number D, unsigned Count, bool IsNew);

  Layout L;

private:
  /// An argument that may not be there, and may not be a constant.
  struct Bound {
    bool Given = false;
    Number Value;
  };

  /// A constant, or a size that is known.
  Number numberOf(const clang::Expr *E) const;
  Number number(unsigned I, Number Default = std::nullopt) const {
    return I < Args.size() ? numberOf(Args[I]) : Default;
  }
  Bound bound(unsigned I) const {
    if (I >= Args.size() || isNone(Args[I]))
      return {};
    return {true, number(I)};
  }
  void giveUp() { L = L.unlike(Layout::Unknown); }
  /// The same, of what may have one element left in a dimension.
  void giveUpPart() {
    giveUp();
    L.SomeUnit = true;
  }
  /// A dimension within all others.
  void add(Number Size);
  /// The place of dimension \p D in Dims; nullopt when it is not known. A new
  /// dimension may stand one further on: \p More.
  std::optional<unsigned> place(Number D, unsigned More = 0);

  // Views.
  void permute() {
    reorder(Args.empty() ? llvm::SmallVector<unsigned, 4>()
                         : orderOf(Args[0], Context));
  }
  void reorder(llvm::ArrayRef<unsigned> Order);
  void permutedSomehow();
  void swap(Number A, Number B);
  void transpose() { swap(number(0), number(1)); }
  void transposeLast() { swap(-1, -2); }
  void transposeMatrix();
  void reverse();
  void move();
  void take(Number D);
  /// Also x[i] and unbind(), whose first dimension is the default.
  void select() { take(Args.size() == 2 || !IsSelect ? number(0, 0) : 0); }
  void cut(Number D, Bound Start, Bound End, Bound Step);
  void slice() { cut(number(0, 0), bound(1), bound(2), bound(3)); }
  void narrow();
  void split();
  void squeeze();
  /// Dimensions of one element come or go, which ones is not known.
  void squeezedSomehow() {
    L = L.unlike(L.hangsOnCuts() ? Layout::Unknown : L.kind());
  }
  void unsqueeze();
  void expand();
  void index();

  // Other sizes.
  void view();
  void flatten();
  void choose();
  void repeat();
  void reduce();

  Exprs Args;
  LayoutOfOperand Operand;
  const clang::ASTContext &Context;

  bool IsSelect = false; ///< select(d, i) or x[i], not unbind(d).
  /// Of chunk(n) and split(size); nullopt for others.
  std::optional<bool> IsByCount;
};

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUTREADER_H
