//===- IndexOperators.cpp - Picking, putting, joining, copying ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

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
    View = withoutDimension(narrow(T, D, 1), D);
    const int64_t Which = integer({"index"}, 0);
    if (Which >= From[D] || Which < -From[D])
      throws("'select' is given index " + Twine(Which) + " of " +
             Twine(From[D]));
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

//===----------------------------------------------------------------------===//
// index()
//===----------------------------------------------------------------------===//

/// What is left of a tensor while it is indexed.
struct Operator::Indexed {
  TensorPtr View;
  size_t D = 0;                ///< Its dimension that comes next.
  std::optional<Sizes> Picked; ///< The sizes of the tensors among the indices.
  std::vector<BlockPtr> Kept;
  llvm::SmallVector<size_t, 4> Places; ///< Of these, dimensions of View.
};

/// A view for each number and slice, with a node of its own.
void Operator::becomes(Indexed &Of, Sizes To, std::vector<int64_t> Strides,
                       GradientKind Kind) {
  const TensorPtr Next = view(Of.View, std::move(To), std::move(Strides));
  record({Next}, {{Of.View, Kind}});
  Of.View = Next;
}

/// Applies one index, where an ellipsis stands for \p Left dimensions. False,
/// and trouble, where that cannot be.
bool Operator::indexBy(Indexed &Of, const Argument &P, size_t Left) {
  Sizes To = Of.View->sizes();
  std::vector<int64_t> Strides = Of.View->Strides;
  size_t &D = Of.D;
  switch (P.What) {
  case Argument::Name: // Ellipsis.
    D += Left;
    return true;
  case Argument::None:
    To.insert(To.begin() + D, 1);
    Strides.insert(Strides.begin() + D, 0);
    becomes(Of, To, Strides, GradientKind::View);
    ++D;
    return true;
  case Argument::Integer:
    if (P.Number >= To[D] || P.Number < -To[D]) {
      throws("index " + Twine(P.Number) + " of a dimension of " + Twine(To[D]));
      return false;
    }
    To.erase(To.begin() + D);
    Strides.erase(Strides.begin() + D);
    becomes(Of, To, Strides, GradientKind::Fresh);
    return true;
  case Argument::Slice: {
    auto Bound = [&](size_t I, int64_t Default) {
      return I < P.Parts.size() && P.Parts[I].What == Argument::Integer
                 ? P.Parts[I].Number
                 : Default;
    };
    const int64_t Step = std::clamp<int64_t>(Bound(2, 1), 0, MostOfDimension);
    To[D] = lengthOf(To[D], Bound(0, 0), Bound(1, INT64_MAX), Step);
    Strides[D] *= Step;
    becomes(Of, To, Strides, GradientKind::Fresh);
    ++D;
    return true;
  }
  case Argument::Tensor:
    if (const std::optional<Sizes> Both =
            broadcast(Of.Picked.value_or(Sizes()), P.Handles.front()->sizes()))
      Of.Picked = Both;
    Of.Kept.push_back(P.Handles.front()->Memory);
    Of.Places.push_back(D++);
    return true;
  default:
    notFollowed("an index is not known");
    return false;
  }
}

/// How many dimensions of \p From all \p Parts of an index take. nullopt, and
/// trouble, where that depends on values, or they are too many.
std::optional<size_t> Operator::consumedBy(ArrayRef<Argument> Parts,
                                           const Sizes &From) {
  size_t Consumed = 0;
  for (const Argument &P : Parts) {
    const bool IsMask = P.What == Argument::Tensor &&
                        P.Handles.front()->Shape.Type &&
                        P.Handles.front()->Shape.Type->Name == "bool";
    if (P.What == Argument::Unknown || IsMask) {
      notFollowed("how much an index picks depends on values");
      return std::nullopt;
    }
    Consumed += P.What == Argument::Integer || P.What == Argument::Slice ||
                P.What == Argument::Tensor;
  }
  if (Consumed <= From.size())
    return Consumed;
  throws("a tensor of " + shown(From) + " has fewer dimensions than its index");
  return std::nullopt;
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
  const std::optional<size_t> Consumed = consumedBy(Parts, From);
  if (!Consumed)
    return *Trouble;
  Indexed Of;
  Of.View = T;
  for (const Argument &P : Parts)
    if (!indexBy(Of, P, From.size() - *Consumed))
      return *Trouble;
  if (!Of.Picked) {
    if (Of.View == T)
      becomes(Of, From, T->Strides, GradientKind::Alias);
    return one(Of.View);
  }
  // Then what tensors pick.
  Sizes To = Of.View->sizes();
  for (const size_t Place : llvm::reverse(Of.Places))
    To.erase(To.begin() + Place);
  // Those with something between them come first.
  const bool AreNeighbours =
      Of.Places.back() - Of.Places.front() < Of.Places.size();
  To.insert(To.begin() + (AreNeighbours ? Of.Places.front() : 0),
            Of.Picked->begin(), Of.Picked->end());
  const TensorPtr Out = make(To, T);
  record({Out}, {{Of.View}}, Of.Kept);
  return one(Out);
}

//===----------------------------------------------------------------------===//
// By one tensor
//===----------------------------------------------------------------------===//

/// index_select(dim, index), gather(dim, index), take(index).
OperatorResult Operator::pick() {
  const TensorPtr T = self(), Indices = tensor({"index"});
  const bool Selects = base() == "index_select";
  Sizes To = Indices->sizes();
  if (Selects) {
    const int64_t Count = productOf(To);
    To = T->sizes();
    const size_t D = dimension(integer({"dim"}, 0), To.size());
    if (D < To.size())
      To[D] = Count;
  }
  const TensorPtr Out = make(To, T);
  std::vector<BlockPtr> Kept = {Indices->Memory};
  if (!Selects)
    Kept.push_back(T->Memory);
  record({Out}, {{T}}, Kept);
  return one(Out);
}

/// index_put, scatter, index_copy and the like.
OperatorResult Operator::put() {
  const TensorPtr T = self();
  const TensorPtr Out = isInPlace() ? T : makeLike(T);
  std::vector<BlockPtr> Kept;
  if (const TensorPtr Index = tensorIn(find({"index", "mask"})))
    Kept.push_back(Index->Memory);
  const TensorPtr Values = tensorIn(find({"src", "source", "values", "value"}));
  const StringRef Base = base();
  if ((Base == "index_copy" || Base == "index_add") && Values &&
      Values->needsGradient())
    Kept.push_back(Values->Memory);
  const bool Adds = Base == "index_add" || Base == "scatter_add";
  record({Out},
         {{T, Adds ? GradientKind::Alias : GradientKind::Fresh}, {Values}},
         Kept);
  return one(Out);
}

std::optional<OperatorResult> Operator::runIndexing() {
  return runRule(
      llvm::StringSwitch<Rule>(base())
          .Cases("slice", "narrow", "select", &Operator::slice)
          .Case("index", &Operator::index)
          .Cases("index_select", "gather", "take", &Operator::pick)
          .Cases("index_put", "scatter", "scatter_add", &Operator::put)
          .Cases("index_add", "index_copy", "index_fill", &Operator::put)
          .Case("masked_scatter", &Operator::put)
          .Default(nullptr));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

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

} // namespace libtorch_tidy::bytes
