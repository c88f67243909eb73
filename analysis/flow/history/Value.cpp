//===- Value.cpp - What a tensor value may carry --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/history/Value.h"
#include "llvm/ADT/STLExtras.h"

namespace libtorch_tidy::flow {

LabelSet Value::allLabels() const {
  LabelSet All = Labels;
  for (const auto &[S, V] : Parts)
    All |= V.allLabels();
  return All;
}

bool Value::anyUnknown() const {
  return Unknown || llvm::any_of(Parts, [](const auto &Part) {
           return Part.second.anyUnknown();
         });
}

Value Value::flat() const {
  Value V;
  V.Labels = allLabels();
  V.Unknown = anyUnknown();
  return V;
}

Value Value::part(Selector S) const {
  for (const auto &[Own, V] : Parts)
    if (Own == S)
      return V;
  Value Whole;
  Whole.Labels = Labels;
  Whole.Unknown = Unknown;
  return Whole;
}

void Value::setPart(Selector S, Value V) {
  auto It = llvm::lower_bound(Parts, S, [](const auto &Part, Selector Key) {
    return Part.first < Key;
  });
  if (It != Parts.end() && It->first == S)
    It->second = std::move(V);
  else
    Parts.insert(It, {S, std::move(V)});
}

bool Value::join(const Value &Other) {
  bool Grew = Labels |= Other.Labels;
  if (Other.Unknown && !Unknown)
    Grew = Unknown = true;
  if (Parts.empty() && Other.Parts.empty())
    return Grew;
  // A part that only one side lists is, on the other, what its whole carries.
  for (auto &[S, V] : Parts)
    Grew |= V.join(Other.part(S));
  for (const auto &[S, V] : Other.Parts) {
    if (llvm::any_of(Parts, [S = S](const auto &P) { return P.first == S; }))
      continue;
    Value Joined = part(S);
    Joined.join(V);
    setPart(S, std::move(Joined));
    Grew = true;
  }
  return Grew;
}

} // namespace libtorch_tidy::flow
