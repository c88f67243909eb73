//===- ReductionOperators.cpp - Over dimensions ---------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/OperatorRules.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// The sizes of \p T without the dimensions that are reduced, or with ones.
Sizes Operator::reducedSizes(const TensorPtr &T, StringRef DimName) {
  const Sizes From = T->sizes();
  const std::optional<Sizes> Asked = maybeIntegers({DimName});
  const bool Keeps = flag("keepdim", false);
  std::vector<bool> Reduced(From.size(), !Asked || Asked->empty());
  if (Asked)
    for (const int64_t D : *Asked)
      if (const size_t Which = dimension(D, From.size());
          Which < Reduced.size())
        Reduced[Which] = true;
  Sizes To;
  for (size_t I = 0; I < From.size(); ++I)
    if (!Reduced[I])
      To.push_back(From[I]);
    else if (Keeps && Asked)
      To.push_back(1);
  return To;
}

OperatorResult Operator::reduce() {
  const TensorPtr T = self();
  const ElementType Own = typeOf(T);
  ElementType Type = type().value_or(Own);
  if (!type() && !isFloating(Own))
    Type = Name == "any" || Name == "all"                        ? Bool
           : Name == "mean" || Name == "std" || Name == "var"    ? Float32
           : Name == "sum" || Name == "prod" || Name == "argmax" ? Int64
                                                                 : Own;
  if (Name == "argmax" || Name == "argmin" || Name == "count_nonzero")
    Type = Int64;
  const TensorPtr Out = make(reducedSizes(T, "dim"), Type);
  const uint64_t Size = bytesOf(T);
  if (Name == "sum") {
    record({Out}, {{T, Out->sizes().empty() ? GradientKind::Constant
                                            : GradientKind::Strided}});
  } else if (Name == "mean") {
    // Over dimensions it keeps what it reads, whatever for.
    record({Out}, {{T}},
           find({"dim"}) ? ArrayRef(T->Memory) : ArrayRef<BlockPtr>());
  } else if ((Name == "max" || Name == "min" || Name == "median") &&
             Out->sizes().empty()) {
    if (Name == "median" || !T->isContiguous())
      scratch(Size);
    record({Out}, {{T}}, {T->Memory, Out->Memory}, Size * 9 / 4);
  } else if (Name == "logsumexp") {
    scratch(Size + bytesOf(Out));
    record({Out}, {{T}}, {T->Memory, Out->Memory}, 2 * Size);
  } else if (Name == "amax" || Name == "amin") {
    // The places of the largest are counted, in eight bytes.
    record({Out}, {{T}}, {T->Memory, Out->Memory},
           Size * 5 / 4 + 3 * bytesOf(Out));
  } else if (Name == "prod" && find({"dim"})) {
    record({Out}, {{T}}, {T->Memory, Out->Memory},
           Size * 5 / 4 + 2 * bytesOf(Out));
  } else if (Name == "std") {
    record({Out}, {{T}}, {T->Memory, Out->Memory}, Size + 3 * bytesOf(Out));
  } else if (Name == "norm" || Name == "prod" || Name == "max" ||
             Name == "min") {
    record({Out}, {{T}}, {T->Memory, Out->Memory}, Size);
  } else if (Name == "var") {
    record({Out}, {{T}}, {T->Memory}, Size + 2 * bytesOf(Out));
  }
  return one(Out);
}

/// max(dim), min(dim), topk, sort, median, mode: values and indices.
OperatorResult Operator::reduceWithIndices() {
  const TensorPtr T = self();
  Sizes To = T->sizes();
  if (Name == "topk") {
    const size_t D = dimension(integer({"dim"}, -1), To.size());
    if (D < To.size())
      To[D] = integer({"k"}, 1);
  } else if (Name != "sort" && !Name.starts_with("cum")) {
    To = reducedSizes(T, "dim");
  }
  const TensorPtr Values = make(To, T), Indices = make(To, Int64);
  if (Name == "kthvalue") // A copy, and its places.
    scratch(bytesOf(T) + elementsOf(productOf(T->sizes()), 8));
  // A copy, unless what it goes over lies in order.
  if (const size_t D = dimension(integer({"dim"}, -1), T->sizes().size());
      Name == "median" && D < T->Strides.size() && T->Strides[D] != 1)
    scratch(bytesOf(T));
  record({Values, Indices}, {{T}},
         {Indices->Memory, Name.starts_with("cum") ? T->Memory : nullptr});
  return several({Values, Indices});
}

OperatorResult Operator::softmax() {
  TensorPtr T = self();
  // Of another type it is of a copy.
  if (type() && type()->Name != typeOf(T).Name)
    T = part("to", Given);
  const BlockPtr Ordered = copyInOrder(T);
  const TensorPtr Out = make(T->sizes(), T);
  record({Out}, {{T}}, {Out->Memory}, 0, bytesOf(Out));
  return one(Out);
}

/// Half of a dimension, through the gate of the other half.
OperatorResult Operator::glu() {
  const TensorPtr T = self();
  Sizes To = T->sizes();
  const size_t D = dimension(integer({"dim"}, -1), To.size());
  if (D < To.size())
    To[D] /= 2;
  const TensorPtr Out = make(To, T);
  record({Out}, {{T}}, {T->Memory});
  return one(Out);
}

std::optional<OperatorResult> Operator::runReduction() {
  const StringRef Base = base();
  // Nothing that comes from here on goes over a dimension that is not known.
  const bool HasDimension = find({"dim"}) != nullptr;
  if (Base == "kthvalue" && !HasDimension) {
    Arguments With = Given;
    With["dim"] = argument(-1);
    return several(parts(Name, With));
  }
  if (Base == "softmin") {
    Arguments With = Given;
    With.erase("self");
    With["input"] = argument(part("neg", Given));
    return one(part("softmax", With));
  }
  const Rule WithIndices = &Operator::reduceWithIndices,
             Alone = &Operator::reduce,
             OfTwo = HasDimension ? WithIndices : Alone;
  return runRule(
      llvm::StringSwitch<Rule>(Base)
          .Cases("max", "min", "median", OfTwo)
          .Case("mode", HasDimension ? WithIndices : nullptr)
          .Cases("topk", "sort", "kthvalue", "cummax", "cummin", WithIndices)
          .Cases("sum", "mean", "std", "var", "norm", "prod", Alone)
          .Cases("logsumexp", "amax", "amin", "argmax", "argmin", Alone)
          .Cases("any", "all", "count_nonzero", Alone)
          .Cases("softmax", "log_softmax", &Operator::softmax)
          .Case("glu", &Operator::glu)
          .Default(nullptr));
}

} // namespace libtorch_tidy::torch
