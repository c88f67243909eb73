//===- Value.h - What a tensor value may carry ------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The abstract values of the flow model. A value is the set of *labels* whose
/// autograd history it may carry: the forward call, leaf or entry value it was
/// computed from. An empty set is a value without history. Values of tuples
/// and structs know their elements apart.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_VALUE_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_VALUE_H

#include "clang/AST/Decl.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/SparseBitVector.h"
#include <vector>

namespace libtorch_tidy::flow {

using LabelId = unsigned;
using LabelSet = llvm::SparseBitVector<64>;

/// Which part of an aggregate: a field, or an element of a tuple or pair.
class Selector {
public:
  static Selector field(const clang::FieldDecl *F) {
    return Selector(reinterpret_cast<uintptr_t>(F));
  }
  static Selector element(unsigned Index) {
    return Selector((uintptr_t(Index) << 1) | 1);
  }
  const clang::FieldDecl *asField() const {
    return Raw & 1 ? nullptr : reinterpret_cast<const clang::FieldDecl *>(Raw);
  }
  unsigned asElement() const { return static_cast<unsigned>(Raw >> 1); }
  bool operator==(Selector O) const { return Raw == O.Raw; }
  bool operator<(Selector O) const { return Raw < O.Raw; }

private:
  explicit Selector(uintptr_t Raw) : Raw(Raw) {}
  uintptr_t Raw;
};

/// What a value may carry. Joins only grow it.
struct Value {
  LabelSet Labels;
  /// It may carry history from where the model cannot see.
  bool Unknown = false;
  /// Parts known apart from the whole, ordered by selector. What the whole
  /// carries (Labels, Unknown) counts for every part that is not listed.
  std::vector<std::pair<Selector, Value>> Parts;

  static Value unknown() {
    Value V;
    V.Unknown = true;
    return V;
  }
  static Value of(LabelId L) {
    Value V;
    V.Labels.set(L);
    return V;
  }

  bool carriesNothing() const { return !Unknown && allLabels().empty(); }
  /// The labels of the whole and of all its parts.
  LabelSet allLabels() const;
  bool anyUnknown() const;
  /// All parts merged into the whole.
  Value flat() const;
  Value part(Selector S) const;
  void setPart(Selector S, Value V);
  /// Returns true when this value grew.
  bool join(const Value &Other);
  bool operator==(const Value &O) const {
    return Unknown == O.Unknown && Labels == O.Labels && Parts == O.Parts;
  }
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_VALUE_H
