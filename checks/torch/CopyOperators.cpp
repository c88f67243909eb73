//===- CopyOperators.cpp - Joining, repeating, converting, making ---------===//
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

/// cat(tensors, dim), stack(tensors, dim), hstack(), vstack().
OperatorResult Operator::cat() {
  const std::vector<TensorPtr> All = tensors({"tensors", "self"});
  if (Trouble || All.empty())
    return notFollowed("what '" + Name + "' joins is not known");
  const bool Stacks = Name == "stack";
  Sizes To = All.front()->sizes();
  const size_t D = dimension(Name == "hstack"   ? (To.size() > 1)
                             : Name == "vstack" ? 0
                                                : integer({"dim", "axis"}, 0),
                             To.size() + Stacks);
  if (Trouble)
    return *Trouble;
  std::vector<Differentiated> Inputs;
  ElementType Type = typeOf(All.front());
  int64_t Sum = 0;
  for (const TensorPtr &T : All) {
    Sizes Own = T->sizes();
    Type = T->Shape.Type && T->Shape.Type->Bytes > Type.Bytes ? *T->Shape.Type
                                                              : Type;
    // Parts of what comes; in order only where nothing is outside of them.
    const bool IsWhole =
        productOf(ArrayRef(Own).take_front(std::min(D, Own.size()))) == 1;
    Inputs.push_back({T, IsWhole ? GradientKind::View : GradientKind::Strided});
    if (!Stacks && Own == Sizes{0})
      continue; // An empty list that grows.
    if (To == Sizes{0})
      To = Own;
    Sizes Without = Own, Expected = To;
    if (!Stacks && D < Own.size() && D < To.size()) {
      Sum += Own[D];
      Without.erase(Without.begin() + D);
      Expected.erase(Expected.begin() + D);
    }
    if (Without != Expected)
      throws("'" + Name + "' joins sizes " + shown(To) + " and " + shown(Own));
  }
  if (Stacks)
    To.insert(To.begin() + D, static_cast<int64_t>(All.size()));
  else if (D < To.size())
    To[D] = Sum;
  if (Trouble)
    return *Trouble;
  const TensorPtr Out = make(To, Type);
  record({Out}, Inputs);
  return one(Out);
}

/// repeat(repeats), tile(dims), repeat_interleave(repeats, dim).
OperatorResult Operator::repeat() {
  const bool Interleaves = base() == "repeat_interleave";
  const TensorPtr T = self();
  Sizes To = T->sizes();
  const std::optional<Sizes> Times = maybeIntegers({"repeats", "dims"});
  if (!Times)
    return OperatorResult();
  std::vector<BlockPtr> Kept;
  if (Interleaves) {
    const size_t D = dimension(integer({"dim"}, 0), To.size());
    if (Times->size() != 1 || D >= To.size() || !find({"dim"}))
      return OperatorResult();
    To[D] = productOf({To[D], Times->front()});
    Kept.push_back(S.make({To[D]}, Int64)->Memory); // Which one each copies.
  } else {
    while (To.size() < Times->size())
      To.insert(To.begin(), 1);
    for (size_t I = 0; I < Times->size(); ++I)
      To[To.size() - Times->size() + I] =
          productOf({To[To.size() - Times->size() + I], (*Times)[I]});
  }
  const TensorPtr Out = make(To, T);
  record({Out}, {{T}}, Kept);
  return one(Out);
}

/// to(dtype), type_as(other): a copy, where it is of another type.
OperatorResult Operator::convert() {
  const TensorPtr T = self();
  std::optional<ElementType> To = type();
  if (const TensorPtr Other = tensorIn(find({"other"})))
    To = Other->Shape.Type;
  for (const auto &[Which, A] : Given)
    if (!To && A.What == Argument::Unknown && Which != "device" &&
        Which != "non_blocking" && Which != "copy")
      notFollowed("the type that '" + Name + "' converts to is not known");
  if (!To || To->Name == typeOf(T).Name)
    return one(T);
  const TensorPtr Copy = makeLike(T, *To);
  record({Copy}, {{T}});
  return one(Copy);
}

/// zeros, randn, arange and the like; zeros_like, new_zeros.
OperatorResult Operator::makeNew() {
  if (Name.ends_with("_like"))
    return one(makeLike(self(), type()));
  if (Name.starts_with("new_")) {
    const TensorPtr T = self();
    return one(make(maybeIntegers({"size"}).value_or(Sizes()),
                    type().value_or(typeOf(T))));
  }
  if (Name == "one_hot") {
    const TensorPtr T = self();
    Sizes To = T->sizes();
    const int64_t Classes = integer({"num_classes"}, -1);
    if (Classes < 0)
      notFollowed("the number of classes of 'one_hot' depends on values");
    To.push_back(Classes);
    return one(make(To, Int64));
  }
  return OperatorResult();
}

std::optional<OperatorResult> Operator::runCopying() {
  const StringRef Base = base();
  if (Base == "contiguous")
    return one(contiguous(self()));
  if (Base == "clone") {
    const TensorPtr T = self(), Copy = makeLike(T);
    record({Copy}, {{T, GradientKind::Alias}});
    return one(Copy);
  }
  // Devices are all one here.
  if (llvm::StringSwitch<bool>(Base)
          .Cases("cuda", "cpu", "alias", "requires_grad", true)
          .Cases("set_requires_grad", "pin_memory", "retain_grad", true)
          .Case("identity", true)
          .Default(false)) {
    const TensorPtr T = self();
    if (Base.ends_with("requires_grad"))
      T->RequiresGrad = flag("requires_grad", true);
    return one(T);
  }
  if (Base.ends_with("_like") || Base.starts_with("new_") || Base == "one_hot")
    return makeNew();
  return runRule(
      llvm::StringSwitch<Rule>(Base)
          .Cases("cat", "concat", "stack", "hstack", "vstack", &Operator::cat)
          .Cases("repeat", "tile", "repeat_interleave", &Operator::repeat)
          .Cases("to", "type", "toType", "type_as", &Operator::convert)
          .Case("to_type", &Operator::convert)
          .Default(nullptr));
}

} // namespace libtorch_tidy::torch
