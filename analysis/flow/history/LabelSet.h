//===- LabelSet.h - A set of labels -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Copies of a set share its elements until one of them changes: most values of
/// a function carry what others carry, at each of its points.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_LABELSET_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_LABELSET_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/iterator.h"
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

  /// In the order of their numbers. That of llvm::BitVector is for loops only
  /// before LLVM 19.
  class iterator
      : public llvm::iterator_facade_base<iterator, std::forward_iterator_tag,
                                          const LabelId, std::ptrdiff_t,
                                          const LabelId *, LabelId> {
  public:
    iterator(const llvm::BitVector &In, int At) : In(&In), At(At) {}
    LabelId operator*() const { return At; }
    iterator &operator++() {
      At = In->find_next(At);
      return *this;
    }
    bool operator==(const iterator &Other) const { return At == Other.At; }

  private:
    const llvm::BitVector *In;
    int At; ///< -1 at the end.
  };
  iterator begin() const { return {bits(), bits().find_first()}; }
  iterator end() const { return {bits(), -1}; }

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
