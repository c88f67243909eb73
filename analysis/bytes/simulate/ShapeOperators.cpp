//===- ShapeOperators.cpp - Views -----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/StringSwitch.h"
#include <numeric>

using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

OperatorResult Operator::viewed(const TensorPtr &T, Sizes To,
                                std::vector<int64_t> Strides,
                                GradientKind Kind) {
  const TensorPtr View = view(T, std::move(To), std::move(Strides));
  record({View}, {{T, Kind}});
  return one(View);
}

/// In place, the tensor itself is seen so.
OperatorResult Operator::seen(const TensorPtr &T, Sizes To,
                              std::vector<int64_t> Strides) {
  if (!isInPlace())
    return viewed(T, std::move(To), std::move(Strides));
  T->Shape.Sizes = std::vector<Size>(To.begin(), To.end());
  T->Strides = std::move(Strides);
  return one(T);
}

/// A part of \p T, without a record.
TensorPtr Operator::narrow(const TensorPtr &T, size_t D, int64_t Length,
                           int64_t Step) {
  Sizes To = T->sizes();
  std::vector<int64_t> Strides = T->Strides;
  if (D < To.size()) {
    To[D] = Length;
    Strides[D] *= Step;
  }
  return view(T, To, Strides);
}

TensorPtr Operator::withoutDimension(const TensorPtr &T, size_t D) {
  Sizes To = T->sizes();
  std::vector<int64_t> Strides = T->Strides;
  To.erase(To.begin() + D);
  Strides.erase(Strides.begin() + D);
  return view(T, To, Strides);
}

//===----------------------------------------------------------------------===//
// Of other sizes
//===----------------------------------------------------------------------===//

/// As at::detail::computeStride: the strides with which \p T is seen as of
/// sizes \p To; nullopt when it has to be copied.
std::optional<std::vector<int64_t>> Operator::stridesOfView(const TensorPtr &T,
                                                            const Sizes &To) {
  const Sizes From = T->sizes();
  std::vector<int64_t> Result(To.size(), 1);
  if (productOf(From) == 0 || From.empty()) {
    int64_t Stride = 1;
    for (size_t I = To.size(); I-- > 0;) {
      Result[I] = Stride;
      Stride *= std::max<int64_t>(To[I], 1);
    }
    return Result;
  }
  auto Next = static_cast<int64_t>(To.size()) - 1;
  int64_t Base = T->Strides.back(), Elements = 1, Viewed = 1;
  for (size_t I = From.size(); I-- > 0;) {
    Elements *= From[I];
    if (I != 0 && (From[I - 1] == 1 || T->Strides[I - 1] == Elements * Base))
      continue;
    while (Next >= 0 && (Viewed < Elements || To[Next] == 1)) {
      Result[Next] = Viewed * Base;
      Viewed *= To[Next];
      --Next;
    }
    if (Viewed != Elements)
      return std::nullopt;
    if (I > 0) {
      Base = T->Strides[I - 1];
      Elements = Viewed = 1;
    }
  }
  if (Next != -1)
    return std::nullopt;
  return Result;
}

OperatorResult Operator::reshape(const TensorPtr &T, Sizes To) {
  const int64_t All = productOf(T->sizes());
  int64_t Known = 1;
  std::optional<size_t> Open;
  for (size_t I = 0; I < To.size(); ++I) {
    if (To[I] == -1 && !Open)
      Open = I;
    else if (To[I] < 0 || __builtin_mul_overflow(Known, To[I], &Known))
      Known = -1;
    if (Known < 0)
      break;
  }
  if (Open && Known > 0 && All % Known == 0)
    To[*Open] = All / Known;
  else if (Known < 0 || Open || Known != All)
    throws("a tensor of " + shown(T->sizes()) + " is viewed as " + shown(To));
  if (Trouble)
    return *Trouble;
  // Where no two dimensions of the gradient have to become one, backward() can
  // view it, however it lies.
  const TensorPtr Apart = view(T, To, std::vector<int64_t>(To.size(), 1));
  const GradientKind Kind = stridesOfView(Apart, T->sizes())
                                ? GradientKind::View
                                : GradientKind::Merged;
  if (std::optional<std::vector<int64_t>> Strides = stridesOfView(T, To))
    return viewed(T, To, *Strides, Kind);
  if (Name.starts_with("view"))
    throws("a tensor whose elements do not lie in order is viewed as " +
           shown(To) + "; reshape() copies it");
  const TensorPtr Copy = make(To, T);
  scratch(bytesToTranspose(T));
  record({Copy}, {{T, Kind}});
  return one(Copy);
}

OperatorResult Operator::flatten() {
  const TensorPtr T = self();
  const Sizes From = T->sizes();
  const size_t First = dimension(integer({"start_dim"}, 0), From.size()),
               Last = dimension(integer({"end_dim"}, -1), From.size());
  if (From.empty())
    return reshape(T, {1});
  if (First > Last)
    throws("'flatten' ends before it starts");
  if (Trouble)
    return *Trouble;
  Sizes To(From.begin(), From.begin() + First);
  To.push_back(productOf(ArrayRef(From).slice(First, Last - First + 1)));
  To.insert(To.end(), From.begin() + Last + 1, From.end());
  return From == To ? one(T) : reshape(T, To);
}

OperatorResult Operator::unflatten() {
  const TensorPtr T = self();
  Sizes To = T->sizes();
  const size_t D = dimension(integer({"dim"}, 0), To.size());
  const Sizes Parts =
      maybeIntegers({"sizes", "unflattened_size"}).value_or(Sizes());
  if (D < To.size()) {
    To.erase(To.begin() + D);
    To.insert(To.begin() + D, Parts.begin(), Parts.end());
  }
  return reshape(T, To);
}

OperatorResult Operator::unsqueeze() {
  const TensorPtr T = self();
  Sizes To = T->sizes();
  std::vector<int64_t> Strides = T->Strides;
  const size_t D = dimension(integer({"dim"}, 0), To.size() + 1);
  const int64_t Stride = D < To.size() ? To[D] * Strides[D] : 1;
  To.insert(To.begin() + D, 1);
  Strides.insert(Strides.begin() + D, Stride);
  return seen(T, To, Strides);
}

OperatorResult Operator::squeeze() {
  const TensorPtr T = self();
  const Sizes From = T->sizes();
  const std::optional<int64_t> Only = maybeInteger({"dim"});
  Sizes To;
  std::vector<int64_t> Strides;
  for (size_t I = 0; I < From.size(); ++I)
    if (From[I] != 1 || (Only && dimension(*Only, From.size()) != I)) {
      To.push_back(From[I]);
      Strides.push_back(T->Strides[I]);
    }
  return seen(T, To, Strides);
}

/// expand(size), broadcast_to(size), expand_as(other).
OperatorResult Operator::expand() {
  const TensorPtr T = self();
  const Sizes From = T->sizes();
  Sizes To = base() == "expand_as" ? tensor({"other"})->sizes()
                                   : maybeIntegers({"size"}).value_or(Sizes());
  if (To.size() < From.size())
    throws("'expand' to fewer dimensions");
  if (Trouble)
    return *Trouble;
  std::vector<int64_t> Strides(To.size(), 0);
  for (size_t I = 0; I < From.size(); ++I) {
    const size_t At = To.size() - From.size() + I;
    if (To[At] == -1)
      To[At] = From[I];
    if (From[I] == To[At])
      Strides[At] = T->Strides[I];
    else if (From[I] != 1)
      throws("a tensor of " + shown(From) + " is expanded to " + shown(To));
  }
  return viewed(T, To, Strides, GradientKind::Fresh);
}

//===----------------------------------------------------------------------===//
// In another order, and in parts
//===----------------------------------------------------------------------===//

/// permute(dims), transpose(dim0, dim1), t().
OperatorResult Operator::permute() {
  const TensorPtr T = self();
  const Sizes From = T->sizes();
  const size_t Count = From.size();
  std::vector<size_t> Order(Count);
  std::iota(Order.begin(), Order.end(), 0);
  if (base() == "permute") {
    const Sizes Dims = maybeIntegers({"dims"}).value_or(Sizes());
    if (Dims.size() != Count)
      throws("'permute' names " + Twine(Dims.size()) + " of " + Twine(Count) +
             " dimensions");
    Order.clear();
    for (const int64_t D : Dims)
      Order.push_back(dimension(D, Count));
  } else if (base() == "t" || base() == "numpy_T") {
    std::reverse(Order.begin(), Order.end());
  } else {
    const size_t A = dimension(integer({"dim0", "axis0"}, 0), Count),
                 B = dimension(integer({"dim1", "axis1"}, 1), Count);
    if (A < Count && B < Count)
      std::swap(Order[A], Order[B]);
  }
  Sizes To;
  std::vector<int64_t> Strides;
  for (const size_t D : Order) {
    if (D >= Count)
      return one(T); // Without dimensions, or said already.
    To.push_back(From[D]);
    Strides.push_back(T->Strides[D]);
  }
  return viewed(T, To, Strides);
}

/// chunk(n, dim), split(size, dim), split(sizes, dim), unbind(dim).
OperatorResult Operator::split() {
  const TensorPtr T = self();
  const Sizes From = T->sizes();
  const size_t D = dimension(integer({"dim"}, 0), From.size());
  if (D >= From.size() || Trouble)
    return throws("'" + Name + "' is given a tensor without dimensions");
  std::vector<int64_t> Parts;
  if (Name == "unbind") {
    Parts.assign(std::min(From[D], MostTensors + 1), 1);
  } else if (std::optional<Sizes> Listed =
                 Name == "chunk" ? std::nullopt
                                 : maybeIntegers({"split_sizes", "split_size"});
             Listed && Listed->size() > 1) {
    Parts = *Listed;
  } else {
    const int64_t Chunks =
        std::clamp<int64_t>(integer({"chunks"}, 1), 1, MostTensors);
    int64_t Each = Listed && !Listed->empty() ? Listed->front()
                                              : (From[D] + Chunks - 1) / Chunks;
    Each = std::max<int64_t>(Each, 1);
    for (int64_t Left = From[D];
         Left > 0 && Parts.size() <= static_cast<size_t>(MostTensors);
         Left -= Each)
      Parts.push_back(std::min(Each, Left));
  }
  if (Parts.size() > static_cast<size_t>(MostTensors))
    return notFollowed("'" + Name + "' gives more than " + Twine(MostTensors) +
                       " tensors");
  std::vector<TensorPtr> Results;
  int64_t Start = 0;
  for (const int64_t Part : Parts) {
    TensorPtr View = narrow(T, D, Part);
    Start += Part;
    if (Name == "unbind")
      View = withoutDimension(View, D);
    Results.push_back(std::move(View));
  }
  if (Start != From[D])
    throws("'" + Name + "' of a dimension of " + Twine(From[D]) +
           " into parts of " + Twine(Start) + " together");
  record(Results, {{T}});
  return several(std::move(Results));
}

std::optional<OperatorResult> Operator::runShape() {
  const llvm::StringRef Base = base();
  if (Base == "view" || Base == "reshape") {
    if (type() && Base == "view")
      return OperatorResult();
    return reshape(self(), maybeIntegers({"size", "shape"}).value_or(Sizes()));
  }
  if (Base == "view_as" || Base == "reshape_as")
    return reshape(self(), tensor({"other"})->sizes());
  if (Base == "detach" || Base == "data" || Base == "tensor_data" ||
      Base == "variable_data") {
    const TensorPtr T = self();
    return one(view(T, T->sizes(), T->Strides));
  }
  return runRule(
      llvm::StringSwitch<Rule>(Base)
          .Case("flatten", &Operator::flatten)
          .Case("unflatten", &Operator::unflatten)
          .Cases("permute", "transpose", "t", "numpy_T", &Operator::permute)
          .Cases("swapaxes", "swapdims", &Operator::permute)
          .Case("unsqueeze", &Operator::unsqueeze)
          .Case("squeeze", &Operator::squeeze)
          .Cases("expand", "expand_as", "broadcast_to", &Operator::expand)
          .Cases("chunk", "split", "split_with_sizes", &Operator::split)
          .Cases("unbind", "tensor_split", &Operator::split)
          .Default(nullptr));
}

} // namespace libtorch_tidy::bytes
