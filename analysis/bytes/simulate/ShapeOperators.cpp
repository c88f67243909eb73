//===- ShapeOperators.cpp - Views -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include <numeric>

using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

/// A view, of whose dimensions each one of \p T is the one that \p Axes say.
static OperatorResult viewed(OperatorCall &Op, const Tensor &T, Sizes To,
                             std::vector<int64_t> Strides,
                             std::vector<int> Axes) {
  const Tensor View = Op.view(T, std::move(To), std::move(Strides));
  return Op.record({View}, {{T, GradientKind::View, 0, std::move(Axes)}});
}

/// In place, the tensor itself is seen so.
static OperatorResult seen(OperatorCall &Op, const Tensor &T, Sizes To,
                           std::vector<int64_t> Strides,
                           std::vector<int> Axes) {
  if (!Op.isInPlace())
    return viewed(Op, T, std::move(To), std::move(Strides), std::move(Axes));
  T->Shape.Sizes = std::vector<Size>(To.begin(), To.end());
  T->Strides = std::move(Strides);
  return T;
}

//===----------------------------------------------------------------------===//
// Of other sizes
//===----------------------------------------------------------------------===//

std::optional<std::vector<int64_t>> stridesOfView(const TensorPtr &T,
                                                  const Sizes &To) {
  const Sizes From = T->sizes();
  if (productOf(From) == 0 || From.empty())
    return contiguousStrides(To);
  std::vector<int64_t> Result(To.size(), 1);
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

static OperatorResult reshape(OperatorCall &Op, const Tensor &T, Sizes To) {
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
    Op.throws("a tensor of " + shown(T->sizes()) + " is viewed as " +
              shown(To));
  if (Op.Trouble)
    return {};
  if (std::optional<std::vector<int64_t>> Strides = stridesOfView(T, To))
    return Op.record({Op.view(T, To, *Strides)}, {{T, GradientKind::Reshaped}});
  if (Op.Name.starts_with("view"))
    Op.throws("a tensor whose elements do not lie in order is viewed as " +
              shown(To) + "; reshape() copies it");
  const Tensor Copy = Op.make(To, T);
  Op.scratch(bytesToTranspose(T));
  return Op.record({Copy}, {{T, GradientKind::Reshaped}});
}

static OperatorResult flatten(OperatorCall &Op) {
  const Tensor T = Op.self();
  const Sizes From = T->sizes();
  const size_t First = Op.dimension(Op.integer("start_dim"), From.size()),
               Last = Op.dimension(Op.integer("end_dim", -1), From.size());
  if (From.empty())
    return reshape(Op, T, {1});
  if (First > Last)
    Op.throws("'flatten' ends before it starts");
  if (Op.Trouble)
    return {};
  Sizes To(From.begin(), From.begin() + First);
  To.push_back(productOf(ArrayRef(From).slice(First, Last - First + 1)));
  To.insert(To.end(), From.begin() + Last + 1, From.end());
  return From == To ? T : reshape(Op, T, To);
}

static OperatorResult unflatten(OperatorCall &Op) {
  const Tensor T = Op.self();
  Sizes To = T->sizes();
  const size_t D = Op.dimension(Op.integer("dim"), To.size());
  const Sizes Parts = Op.integers("sizes unflattened_size");
  if (D < To.size()) {
    To.erase(To.begin() + D);
    To.insert(To.begin() + D, Parts.begin(), Parts.end());
  }
  return reshape(Op, T, To);
}

static OperatorResult unsqueeze(OperatorCall &Op) {
  const Tensor T = Op.self();
  Sizes To = T->sizes();
  std::vector<int64_t> Strides = T->Strides;
  const size_t D = Op.dimension(Op.integer("dim"), To.size() + 1);
  const int64_t Stride = D < To.size() ? To[D] * Strides[D] : 1;
  To.insert(To.begin() + D, 1);
  Strides.insert(Strides.begin() + D, Stride);
  return seen(Op, T, To, Strides, axesWithout(To.size(), D));
}

static OperatorResult squeeze(OperatorCall &Op) {
  const Tensor T = Op.self();
  const Sizes From = T->sizes();
  const std::optional<int64_t> Only = Op.maybeInteger("dim");
  Sizes To;
  std::vector<int64_t> Strides;
  std::vector<int> Axes(From.size(), -1);
  for (size_t I = 0; I < From.size(); ++I)
    if (From[I] != 1 || (Only && Op.dimension(*Only, From.size()) != I)) {
      Axes[I] = To.size();
      To.push_back(From[I]);
      Strides.push_back(T->Strides[I]);
    }
  return seen(Op, T, To, Strides, Axes);
}

Sizes repeatedStrides(const TensorPtr &T, const Sizes &Of) {
  const Sizes From = T->sizes();
  Sizes Strides(Of.size(), 0);
  for (size_t I = 0; I < From.size() && I < Of.size(); ++I)
    if (const size_t At = Of.size() - 1 - I, Own = From.size() - 1 - I;
        From[Own] == Of[At])
      Strides[At] = T->Strides[Own];
  return Strides;
}

Tensor OperatorCall::makeOf(Sizes Of, ElementType Type,
                            ArrayRef<TensorPtr> From) {
  const Tensor T = make(Of, Type);
  if (Trouble)
    return T;
  const TensorPtr &First = From.front();
  std::vector<Sizes> All;
  for (const TensorPtr &Each : From)
    if (Each)
      All.push_back(repeatedStrides(Each, Of));
  T->Strides = First && First->sizes() == Of && First->isDense()
                   ? First->Strides
                   : orderOf(Of, All);
  return T;
}

/// expand(size), broadcast_to(size), expand_as(other).
static OperatorResult expand(OperatorCall &Op) {
  const Tensor T = Op.self();
  const Sizes From = T->sizes();
  Sizes To = Op.Base == "expand_as" ? Op.tensor("other")->sizes()
                                    : Op.integers("size");
  if (To.size() < From.size())
    Op.throws("'expand' to fewer dimensions");
  if (Op.Trouble)
    return {};
  for (size_t I = 0; I < From.size(); ++I) {
    const size_t At = To.size() - From.size() + I;
    if (To[At] == -1)
      To[At] = From[I];
    if (From[I] != To[At] && From[I] != 1)
      Op.throws("a tensor of " + shown(From) + " is expanded to " + shown(To));
  }
  return Op.record(
      {Op.view(T, To, repeatedStrides(T, To))},
      {{T, To == From ? GradientKind::Alias : kindOfRepeated(From, To)}}, {},
      [T = withoutMemory(T)](const OperatorCall &Op, const GradientNode &,
                             const TensorPtr &Come) {
        return Op.widenedToReduce(typeOf(Come), Come->sizes(), Come->Strides,
                                  T);
      });
}

//===----------------------------------------------------------------------===//
// In another order, and in parts
//===----------------------------------------------------------------------===//

/// permute(dims), transpose(dim0, dim1), t().
static OperatorResult permute(OperatorCall &Op) {
  const Tensor T = Op.self();
  const Sizes From = T->sizes();
  const size_t Count = From.size();
  std::vector<size_t> Order(Count);
  std::iota(Order.begin(), Order.end(), 0);
  if (Op.Base == "permute") {
    const Sizes Dims = Op.integers("dims");
    if (Dims.size() != Count)
      Op.throws("'permute' names " + Twine(Dims.size()) + " of " +
                Twine(Count) + " dimensions");
    Order.clear();
    for (const int64_t D : Dims)
      Order.push_back(Op.dimension(D, Count));
  } else if (Op.Base == "t" || Op.Base == "numpy_T") {
    std::reverse(Order.begin(), Order.end());
  } else {
    const size_t A = Op.dimension(Op.integer("dim0 axis0"), Count),
                 B = Op.dimension(Op.integer("dim1 axis1", 1), Count);
    if (A < Count && B < Count)
      std::swap(Order[A], Order[B]);
  }
  Sizes To;
  std::vector<int64_t> Strides;
  std::vector<int> Axes(Count);
  for (const size_t D : Order) {
    if (D >= Count)
      return T; // Without dimensions, or said already.
    Axes[D] = To.size();
    To.push_back(From[D]);
    Strides.push_back(T->Strides[D]);
  }
  return viewed(Op, T, To, Strides, Axes);
}

/// chunk(n, dim), split(size, dim), split(sizes, dim), unbind(dim).
static OperatorResult split(OperatorCall &Op) {
  const Tensor T = Op.self();
  const Sizes From = T->sizes();
  const size_t D = Op.dimension(Op.integer("dim"), From.size());
  if (D >= From.size() || Op.Trouble)
    return Op.throws("'" + Op.Name + "' is given a tensor without dimensions");
  std::vector<int64_t> Parts;
  if (Op.Name == "unbind") {
    Parts.assign(std::min(From[D], MostTensors + 1), 1);
  } else if (std::optional<Sizes> Listed =
                 Op.Name == "chunk"
                     ? std::nullopt
                     : Op.maybeIntegers("split_sizes split_size");
             Listed && Listed->size() > 1) {
    Parts = *Listed;
  } else {
    const int64_t Chunks =
        std::clamp<int64_t>(Op.integer("chunks", 1), 1, MostTensors);
    int64_t Each = Listed && !Listed->empty() ? Listed->front()
                                              : (From[D] + Chunks - 1) / Chunks;
    Each = std::max<int64_t>(Each, 1);
    for (int64_t Left = From[D];
         Left > 0 && Parts.size() <= static_cast<size_t>(MostTensors);
         Left -= Each)
      Parts.push_back(std::min(Each, Left));
  }
  if (Parts.size() > static_cast<size_t>(MostTensors))
    return Op.notFollowed("'" + Op.Name + "' gives more than " +
                          Twine(MostTensors) + " tensors");
  std::vector<TensorPtr> Results;
  int64_t Start = 0;
  for (const int64_t Part : Parts) {
    Tensor View = Op.part(T, D, Part);
    Start += Part;
    if (Op.Name == "unbind")
      View = Op.withoutDimension(View, D);
    Results.push_back(std::move(View));
  }
  if (Start != From[D])
    Op.throws("'" + Op.Name + "' of a dimension of " + Twine(From[D]) +
              " into parts of " + Twine(Start) + " together");
  Op.record(Results, {{T}});
  if (const NodePtr Node = Results.empty() ? nullptr : Results.front()->Maker;
      Node && Op.Name != "unbind") // That one expands a zero.
    for (const TensorPtr &Part : Results)
      Node->ResultShapes.push_back(Part->Shape);
  return Results;
}

/// view(size), reshape(shape); view(dtype) is not followed.
static OperatorResult reshapeTo(OperatorCall &Op) {
  if (Op.type() && Op.Base == "view")
    return {};
  return reshape(Op, Op.self(), Op.integers("size shape"));
}

static OperatorResult reshapeAs(OperatorCall &Op) {
  const Tensor T = Op.self();
  return reshape(Op, T, Op.tensor("other")->sizes());
}

static OperatorResult detach(OperatorCall &Op) {
  const Tensor T = Op.self();
  return Op.view(T, T->sizes(), T->Strides);
}

static constexpr OperatorRule ShapeRows[] = {
    {"view reshape", reshapeTo},
    {"view_as reshape_as", reshapeAs},
    {"detach data tensor_data variable_data", detach},
    {"flatten", flatten},
    {"unflatten", unflatten},
    {"permute transpose t numpy_T swapaxes swapdims", permute},
    {"unsqueeze", unsqueeze},
    {"squeeze", squeeze},
    {"expand expand_as broadcast_to", expand},
    {"chunk split split_with_sizes unbind tensor_split", split},
};
const RuleTable ShapeRules = {ShapeRows, /*InPlace=*/true};

} // namespace libtorch_tidy::bytes
