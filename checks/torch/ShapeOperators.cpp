//===- ShapeOperators.cpp - Views, joining, picking, making ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <numeric>

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::torch {

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
  if (std::optional<std::vector<int64_t>> Strides = stridesOfView(T, To)) {
    const TensorPtr View = view(T, To, *Strides);
    record({View}, {{T, Kind}});
    return one(View);
  }
  if (Name.starts_with("view"))
    throws("a tensor whose elements do not lie in order is viewed as " +
           shown(To) + "; reshape() copies it");
  const TensorPtr Copy = make(To, T);
  scratch(bytesToTranspose(T));
  record({Copy}, {{T, Kind}});
  return one(Copy);
}

OperatorResult Operator::permute(ArrayRef<size_t> Order) {
  const TensorPtr T = self();
  const Sizes From = T->sizes();
  Sizes To;
  std::vector<int64_t> Strides;
  for (const size_t D : Order) {
    if (D >= From.size())
      return one(T); // Without dimensions, or said already.
    To.push_back(From[D]);
    Strides.push_back(T->Strides[D]);
  }
  const TensorPtr View = view(T, To, Strides);
  record({View}, {{T, GradientKind::View}});
  return one(View);
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

/// The elements from \p Start to \p End in steps, as Python counts them.
static int64_t lengthOf(int64_t Size, int64_t Start, int64_t End,
                        int64_t Step) {
  auto Place = [&](int64_t At) {
    return std::clamp<int64_t>(At < 0 ? At + Size : At, 0, Size);
  };
  const int64_t From = Place(Start), To = std::max(Place(End), From);
  return Step > 0 ? (To - From + Step - 1) / Step : 0;
}

/// slice(dim, start, end, step), narrow(dim, start, length), select(dim, i).
OperatorResult Operator::slice() {
  const TensorPtr T = self();
  const Sizes From = T->sizes();
  const size_t D = dimension(integer({"dim"}, 0), From.size());
  if (D >= From.size())
    return throws("'" + Name + "' is given a tensor without dimensions");
  TensorPtr View;
  if (Name == "select") {
    View = narrow(T, D, 1);
    Sizes To = View->sizes();
    const int64_t Which = integer({"index"}, 0);
    if (Which >= From[D] || Which < -From[D])
      throws("'select' is given index " + Twine(Which) + " of " +
             Twine(From[D]));
    To.erase(To.begin() + D);
    std::vector<int64_t> Strides = View->Strides;
    Strides.erase(Strides.begin() + D);
    View = view(T, To, Strides);
  } else if (Name == "narrow") {
    const int64_t Start = integer({"start"}, 0),
                  Length = integer({"length"}, 0);
    if (Length < 0 || Start < -From[D] || Start > From[D] ||
        Length > From[D] - std::max<int64_t>(Start, 0))
      throws("'narrow' goes beyond the " + Twine(From[D]) +
             " elements of its dimension");
    View = narrow(T, D, Length);
  } else {
    const int64_t Step =
        std::clamp<int64_t>(integer({"step"}, 1), 0, MostOfDimension);
    View = narrow(T, D,
                  lengthOf(From[D], integer({"start"}, 0),
                           integer({"end"}, INT64_MAX), Step),
                  Step);
  }
  record({View}, {{T}});
  return one(View);
}

/// index({Slice(), 0, None, "...", tensor}).
OperatorResult Operator::index() {
  const TensorPtr T = self();
  const Argument *All = find({"indices", "index"});
  if (!All)
    return OperatorResult{};
  std::vector<Argument> Parts =
      All->Parts.empty() ? std::vector{*All} : All->Parts;
  // The constant of that name, and Ellipsis, come with their names.
  for (Argument &P : Parts)
    if (P.What == Argument::Name && P.Text == "None")
      P.What = Argument::None;
  const Sizes From = T->sizes();
  size_t Consumed = 0;
  for (const Argument &P : Parts) {
    const bool IsMask = P.What == Argument::Tensor &&
                        P.Handles.front()->Shape.Type &&
                        P.Handles.front()->Shape.Type->Name == "bool";
    if (P.What == Argument::Unknown || IsMask)
      return notFollowed("how much an index picks depends on values");
    Consumed += P.What == Argument::Integer || P.What == Argument::Slice ||
                P.What == Argument::Tensor;
  }
  if (Consumed > From.size())
    return throws("a tensor of " + shown(From) +
                  " has fewer dimensions than its index");
  // A view for each number and slice, each with a node of its own, and then
  // what tensors pick.
  TensorPtr View = T;
  auto Becomes = [&](Sizes To, std::vector<int64_t> Strides,
                     GradientKind Kind) {
    const TensorPtr Next = view(View, std::move(To), std::move(Strides));
    record({Next}, {{View, Kind}});
    View = Next;
  };
  std::optional<Sizes> Picked; ///< The sizes of the tensors among the indices.
  std::vector<BlockPtr> Kept;
  llvm::SmallVector<size_t, 4> Places; ///< Of these, dimensions of View.
  size_t D = 0;
  for (const Argument &P : Parts) {
    Sizes To = View->sizes();
    std::vector<int64_t> Strides = View->Strides;
    switch (P.What) {
    case Argument::Name: // Ellipsis.
      D += From.size() - Consumed;
      break;
    case Argument::None:
      To.insert(To.begin() + D, 1);
      Strides.insert(Strides.begin() + D, 0);
      Becomes(To, Strides, GradientKind::View);
      ++D;
      break;
    case Argument::Integer:
      if (P.Number >= To[D] || P.Number < -To[D])
        return throws("index " + Twine(P.Number) + " of a dimension of " +
                      Twine(To[D]));
      To.erase(To.begin() + D);
      Strides.erase(Strides.begin() + D);
      Becomes(To, Strides, GradientKind::Fresh);
      break;
    case Argument::Slice: {
      auto Bound = [&](size_t I, int64_t Default) {
        return I < P.Parts.size() && P.Parts[I].What == Argument::Integer
                   ? P.Parts[I].Number
                   : Default;
      };
      const int64_t Step = std::clamp<int64_t>(Bound(2, 1), 0, MostOfDimension);
      To[D] = lengthOf(To[D], Bound(0, 0), Bound(1, INT64_MAX), Step);
      Strides[D] *= Step;
      Becomes(To, Strides, GradientKind::Fresh);
      ++D;
      break;
    }
    case Argument::Tensor:
      if (const std::optional<Sizes> Both =
              broadcast(Picked.value_or(Sizes()), P.Handles.front()->sizes()))
        Picked = Both;
      Kept.push_back(P.Handles.front()->Memory);
      Places.push_back(D++);
      break;
    default:
      return notFollowed("an index is not known");
    }
  }
  if (!Picked) {
    if (View == T)
      Becomes(From, T->Strides, GradientKind::Alias);
    return one(View);
  }
  Sizes To = View->sizes();
  for (const size_t Place : llvm::reverse(Places))
    To.erase(To.begin() + Place);
  // Those with something between them come first.
  const bool AreNeighbours = Places.back() - Places.front() < Places.size();
  To.insert(To.begin() + (AreNeighbours ? Places.front() : 0), Picked->begin(),
            Picked->end());
  const TensorPtr Out = make(To, T);
  record({Out}, {{View}}, Kept);
  return one(Out);
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
    if (Name == "unbind") {
      Sizes To = View->sizes();
      std::vector<int64_t> Strides = View->Strides;
      To.erase(To.begin() + D);
      Strides.erase(Strides.begin() + D);
      View = view(T, To, Strides);
    }
    Results.push_back(std::move(View));
  }
  if (Start != From[D])
    throws("'" + Name + "' of a dimension of " + Twine(From[D]) +
           " into parts of " + Twine(Start) + " together");
  record(Results, {{T}});
  return several(std::move(Results));
}

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

std::optional<OperatorResult> Operator::runShape() {
  auto Whole = [&](const TensorPtr &T, Sizes To, std::vector<int64_t> Strides,
                   GradientKind Kind = GradientKind::View) {
    const TensorPtr View = view(T, std::move(To), std::move(Strides));
    record({View}, {{T, Kind}});
    return one(View);
  };
  // In place, the tensor itself is seen so.
  auto Seen = [&](const TensorPtr &T, Sizes To, std::vector<int64_t> Strides) {
    if (!Name.ends_with("_"))
      return Whole(T, std::move(To), std::move(Strides));
    T->Shape.Sizes = std::vector<Size>(To.begin(), To.end());
    T->Strides = std::move(Strides);
    return one(T);
  };
  StringRef Base = Name;
  Base.consume_back("_");
  if (Base == "view" || Base == "reshape") {
    if (type() && Base == "view")
      return OperatorResult();
    return reshape(self(), maybeIntegers({"size", "shape"}).value_or(Sizes()));
  }
  if (Base == "view_as" || Base == "reshape_as")
    return reshape(self(), tensor({"other"})->sizes());
  if (Base == "flatten") {
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
  if (Base == "unflatten") {
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
  if (Base == "permute" || Base == "transpose" || Base == "t" ||
      Base == "swapaxes" || Base == "swapdims" || Base == "numpy_T") {
    const size_t Count = self()->sizes().size();
    std::vector<size_t> Order(Count);
    std::iota(Order.begin(), Order.end(), 0);
    if (Base == "permute") {
      const Sizes Dims = maybeIntegers({"dims"}).value_or(Sizes());
      if (Dims.size() != Count)
        throws("'permute' names " + Twine(Dims.size()) + " of " + Twine(Count) +
               " dimensions");
      Order.clear();
      for (const int64_t D : Dims)
        Order.push_back(dimension(D, Count));
    } else if (Base == "t" || Base == "numpy_T") {
      std::reverse(Order.begin(), Order.end());
    } else {
      const size_t A = dimension(integer({"dim0", "axis0"}, 0), Count),
                   B = dimension(integer({"dim1", "axis1"}, 1), Count);
      if (A < Count && B < Count)
        std::swap(Order[A], Order[B]);
    }
    return permute(Order);
  }
  if (Base == "unsqueeze") {
    const TensorPtr T = self();
    Sizes To = T->sizes();
    std::vector<int64_t> Strides = T->Strides;
    const size_t D = dimension(integer({"dim"}, 0), To.size() + 1);
    const int64_t Stride = D < To.size() ? To[D] * Strides[D] : 1;
    To.insert(To.begin() + D, 1);
    Strides.insert(Strides.begin() + D, Stride);
    return Seen(T, To, Strides);
  }
  if (Base == "squeeze") {
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
    return Seen(T, To, Strides);
  }
  if (Base == "expand" || Base == "expand_as" || Base == "broadcast_to") {
    const TensorPtr T = self();
    const Sizes From = T->sizes();
    Sizes To = Base == "expand_as" ? tensor({"other"})->sizes()
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
    return Whole(T, To, Strides, GradientKind::Fresh);
  }
  if (Base == "repeat" || Base == "tile" || Base == "repeat_interleave") {
    const TensorPtr T = self();
    Sizes To = T->sizes();
    const std::optional<Sizes> Times = maybeIntegers({"repeats", "dims"});
    if (!Times)
      return OperatorResult();
    if (Base == "repeat_interleave") {
      const size_t D = dimension(integer({"dim"}, 0), To.size());
      if (Times->size() != 1 || D >= To.size() || !find({"dim"}))
        return OperatorResult();
      To[D] = productOf({To[D], Times->front()});
    } else {
      while (To.size() < Times->size())
        To.insert(To.begin(), 1);
      for (size_t I = 0; I < Times->size(); ++I)
        To[To.size() - Times->size() + I] =
            productOf({To[To.size() - Times->size() + I], (*Times)[I]});
    }
    std::vector<BlockPtr> Kept;
    // Which one each is a copy of.
    if (Base == "repeat_interleave")
      Kept.push_back(
          S.make({To[dimension(integer({"dim"}, 0), To.size())]}, Int64)
              ->Memory);
    const TensorPtr Out = make(To, T);
    record({Out}, {{T}}, Kept);
    return one(Out);
  }
  if (Base == "slice" || Base == "narrow" || Base == "select")
    return slice();
  if (Base == "index")
    return index();
  if (Base == "index_select" || Base == "gather" || Base == "take") {
    const TensorPtr T = self(), Indices = tensor({"index"});
    Sizes To = Indices->sizes();
    if (Base == "index_select") {
      const int64_t Count = productOf(To);
      To = T->sizes();
      const size_t D = dimension(integer({"dim"}, 0), To.size());
      if (D < To.size())
        To[D] = Count;
    }
    const TensorPtr Out = make(To, T);
    std::vector<BlockPtr> Kept = {Indices->Memory};
    if (Base != "index_select")
      Kept.push_back(T->Memory);
    record({Out}, {{T}}, Kept);
    return one(Out);
  }
  if (Base == "index_put" || Base == "scatter" || Base == "scatter_add" ||
      Base == "index_add" || Base == "index_copy" || Base == "index_fill" ||
      Base == "masked_scatter") {
    const TensorPtr T = self();
    const TensorPtr Out = Name.ends_with("_") ? T : makeLike(T);
    std::vector<BlockPtr> Kept;
    if (const Argument *Index = find({"index", "mask"});
        Index && Index->What == Argument::Tensor)
      Kept.push_back(Index->Handles.front()->Memory);
    const Argument *Values = find({"src", "source", "values", "value"});
    if ((Base == "index_copy" || Base == "index_add") && Values &&
        Values->What == Argument::Tensor &&
        Values->Handles.front()->needsGradient())
      Kept.push_back(Values->Handles.front()->Memory);
    const bool Adds = Base == "index_add" || Base == "scatter_add";
    record(
        {Out},
        {{T, Adds ? GradientKind::Alias : GradientKind::Fresh},
         {Values && Values->What == Argument::Tensor ? Values->Handles.front()
                                                     : nullptr}},
        Kept);
    return one(Out);
  }
  if (Base == "chunk" || Base == "split" || Base == "split_with_sizes" ||
      Base == "unbind" || Base == "tensor_split")
    return split();
  if (Base == "cat" || Base == "concat" || Base == "stack" ||
      Base == "hstack" || Base == "vstack")
    return cat();
  if (Base == "contiguous")
    return one(contiguous(self()));
  if (Base == "detach" || Base == "data" || Base == "tensor_data" ||
      Base == "variable_data") {
    const TensorPtr T = self();
    return one(view(T, T->sizes(), T->Strides));
  }
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
  if (llvm::StringSwitch<bool>(Base)
          .Cases("to", "type", "toType", "type_as", "to_type", true)
          .Default(false)) {
    const TensorPtr T = self();
    std::optional<ElementType> To = type();
    if (const Argument *Other = find({"other"});
        Other && Other->What == Argument::Tensor)
      To = Other->Handles.front()->Shape.Type;
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
  if (Base.ends_with("_like") || Base.starts_with("new_") || Base == "one_hot")
    return makeNew();
  if (Base == "diff" || Base == "diag" || Base == "nonzero" || Base == "unique")
    return OperatorResult();
  return std::nullopt;
}

} // namespace libtorch_tidy::torch
