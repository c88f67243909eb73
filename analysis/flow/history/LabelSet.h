//===- LabelSet.h - A set of labels -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Copies of a set share its elements until one of them changes: most values of
/// a function carry what others carry, at each of its points.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_LABELSET_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_LABELSET_H

#include "llvm/ADT/BitVector.h"
#include <memory>

namespace libtorch_tidy::flow {

using LabelId = unsigned;

class LabelSet {
public:
  bool empty() const { return bits().none(); }
  unsigned count() const { return bits().count(); }
  bool test(LabelId L) const { return L < bits().size() && bits().test(L); }
  bool intersects(const LabelSet &Other) const {
    return bits().anyCommon(Other.bits());
  }
  /// Are all labels of \p Other in it?
  bool contains(const LabelSet &Other) const {
    return Shared == Other.Shared || !Other.bits().test(bits());
  }
  bool operator==(const LabelSet &Other) const {
    return contains(Other) && Other.contains(*this);
  }

  void set(LabelId L) {
    if (test(L))
      return;
    llvm::BitVector &Own = own();
    if (L >= Own.size())
      Own.resize(L + 1);
    Own.set(L);
  }
  void reset(LabelId L) {
    if (test(L))
      own().reset(L);
  }
  /// Returns whether this grew.
  bool operator|=(const LabelSet &Other) {
    if (contains(Other))
      return false;
    if (Other.contains(*this))
      Shared = Other.Shared;
    else
      own() |= Other.bits();
    return true;
  }

  /// In the order of their numbers.
  auto begin() const { return bits().set_bits_begin(); }
  auto end() const { return bits().set_bits_end(); }

private:
  const llvm::BitVector &bits() const {
    static const llvm::BitVector None;
    return Shared ? *Shared : None;
  }
  llvm::BitVector &own() {
    if (!Shared || Shared.use_count() > 1)
      Shared = std::make_shared<llvm::BitVector>(bits());
    return *Shared;
  }

  std::shared_ptr<llvm::BitVector> Shared; ///< Null for the empty set.
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_LABELSET_H
