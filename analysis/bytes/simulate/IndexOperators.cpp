//===- IndexOperators.cpp - Picking, putting, joining, copying ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"

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

/// slice(dim, start, end, step), narrow(dim, start, length), select(dim,
/// i).
static OperatorResult slice(OperatorCall &Op) {
  const Tensor T = Op.self();
  const Sizes From = T->sizes();
  const size_t D = Op.dimension(Op.integer("dim"), From.size());
  if (D >= From.size())
    return Op.throws("'" + Op.Name + "' is given a tensor without dimensions");
  Tensor View;
  if (Op.Name == "select") {
    View = Op.withoutDimension(Op.part(T, D, 1), D);
    const int64_t Which = Op.integer("index");
    if (Which >= From[D] || Which < -From[D])
      Op.throws("'select' is given index " + Twine(Which) + " of " +
                Twine(From[D]));
  } else if (Op.Name == "narrow") {
    const int64_t Start = Op.integer("start"), Length = Op.integer("length");
    if (Length < 0 || Start < -From[D] || Start > From[D] ||
        Length > From[D] - std::max<int64_t>(Start, 0))
      Op.throws("'narrow' goes beyond the " + Twine(From[D]) +
                " elements of its dimension");
    View = Op.part(T, D, Length);
  } else {
    const int64_t Step =
        std::clamp<int64_t>(Op.integer("step", 1), 0, MostOfDimension);
    View = Op.part(T, D,
                   lengthOf(From[D], Op.integer("start"),
                            Op.integer("end", INT64_MAX), Step),
                   Step);
  }
  return Op.record({View}, {{T}});
}

//===----------------------------------------------------------------------===//
// index()
//===----------------------------------------------------------------------===//

namespace {

/// What is left of a tensor while it is indexed.
struct Indexed {
  Tensor View;
  size_t D = 0;                ///< Its dimension that comes next.
  std::optional<Sizes> Picked; ///< The sizes of the tensors among the indices.
  std::vector<KeptMemory> Kept;
  llvm::SmallVector<size_t, 4> Places; ///< Of these, dimensions of View.
};

} // namespace

/// Applies one index, where an ellipsis takes \p Left dimensions: a number and
/// a slice make a view with a node of its own. \p IsAlone: there is no other.
/// False, and trouble, where that cannot be.
static bool indexBy(OperatorCall &Op, Indexed &Of, const Value &P, size_t Left,
                    bool IsAlone) {
  Sizes To = Of.View->sizes();
  std::vector<int64_t> Strides = Of.View->Strides;
  size_t &D = Of.D;
  GradientKind Kind = GradientKind::Fresh;
  std::vector<int> Axes;
  switch (P.What) {
  case Value::Text:
  case Value::Other:
    // The constants None and Ellipsis come with their names.
    if (P.Name != "None") {
      D += Left;
      return true;
    }
    [[fallthrough]];
  case Value::Null:
    To.insert(To.begin() + D, 1);
    Strides.insert(Strides.begin() + D, 0);
    Kind = GradientKind::View;
    Axes = axesWithout(To.size(), D);
    ++D;
    break;
  case Value::Integer:
    if (P.Number >= To[D] || P.Number < -To[D]) {
      Op.throws("index " + Twine(P.Number) + " of a dimension of " +
                Twine(To[D]));
      return false;
    }
    To.erase(To.begin() + D);
    Strides.erase(Strides.begin() + D);
    Op.estimatePart(Of.View);
    break;
  case Value::Slice: {
    auto Bound = [&](size_t I, int64_t Default) {
      return I < P.Elements.size() && P.Elements[I]->What == Value::Integer
                 ? P.Elements[I]->Number
                 : Default;
    };
    const int64_t Step = std::clamp<int64_t>(Bound(2, 1), 0, MostOfDimension);
    const int64_t End = Bound(1, INT64_MAX);
    // One of several that takes all makes no view: as applySlice() of
    // ATen/TensorIndexing.h has it, which sees one that goes beyond since 2.14.
    if (!IsAlone && Bound(0, 0) == 0 && Step == 1 &&
        (Op.isSince(2, 14) ? End >= To[D] : End == To[D])) {
      ++D;
      return true;
    }
    To[D] = lengthOf(To[D], Bound(0, 0), End, Step);
    Strides[D] *= Step;
    ++D;
    Op.estimatePart(Of.View);
    break;
  }
  case Value::Tensor:
    if (const std::optional<Sizes> Both =
            broadcast(Of.Picked.value_or(Sizes()), P.Handle->sizes()))
      Of.Picked = Both;
    Of.Kept.push_back(P.Handle);
    Of.Places.push_back(D++);
    return true;
  default:
    Op.notFollowed("an index is not known");
    return false;
  }
  const Tensor Next = Op.view(Of.View, To, Strides);
  Op.record({Next}, {{Of.View, Kind, 0, Axes}});
  Of.View = Next;
  return true;
}

/// index({Slice(), 0, None, "...", tensor}).
static OperatorResult index(OperatorCall &Op) {
  const Tensor T = Op.self();
  const Cell All = Op.find("indices index");
  if (!All)
    return OperatorResult{};
  const ArrayRef<Cell> Parts =
      All->Elements.empty() ? ArrayRef(All) : ArrayRef(All->Elements);
  const Sizes From = T->sizes();
  size_t Consumed = 0, Ellipses = 0;
  for (const Cell &P : Parts) {
    Ellipses += (P->What == Value::Text || P->What == Value::Other) &&
                P->Name != "None";
    // It would move past the last dimension.
    if (Ellipses > 1)
      return Op.notFollowed("an index has two ellipses");
    const bool IsMask = P->What == Value::Tensor && P->Handle->Shape.Type &&
                        P->Handle->Shape.Type->Name == "bool";
    if (P->What == Value::Unknown || IsMask)
      return Op.notFollowed("how much an index picks depends on values");
    Consumed += P->What == Value::Integer || P->What == Value::Slice ||
                P->What == Value::Tensor;
  }
  if (Consumed > From.size())
    return Op.throws("a tensor of " + shown(From) +
                     " has fewer dimensions than its index");
  Indexed Of;
  Of.View = T;
  for (const Cell &P : Parts)
    if (!indexBy(Op, Of, *P, From.size() - Consumed, Parts.size() == 1))
      return {};
  if (!Of.Picked && Of.View != T)
    return Of.View;
  if (!Of.Picked)
    return Op.record({Op.view(T, From, T->Strides)},
                     {{T, GradientKind::Alias}});
  // Then what tensors pick.
  Sizes To = Of.View->sizes();
  for (const size_t Place : llvm::reverse(Of.Places))
    To.erase(To.begin() + Place);
  // Those with something between them come first.
  const bool AreNeighbours =
      Of.Places.back() - Of.Places.front() < Of.Places.size();
  To.insert(To.begin() + (AreNeighbours ? Of.Places.front() : 0),
            Of.Picked->begin(), Of.Picked->end());
  return Op.record({Op.make(To, T)}, {{Of.View}}, Of.Kept);
}

//===----------------------------------------------------------------------===//
// By one tensor
//===----------------------------------------------------------------------===//

/// index_select(dim, index), gather(dim, index), take(index).
static OperatorResult pick(OperatorCall &Op) {
  const Tensor T = Op.self(), Indices = Op.tensor("index");
  const bool Selects = Op.Base == "index_select";
  Sizes To = Indices->sizes();
  if (Selects) {
    const int64_t Count = productOf(To);
    To = T->sizes();
    const size_t D = Op.dimension(Op.integer("dim"), To.size());
    if (D < To.size())
      To[D] = Count;
  }
  return Op.record({Op.make(To, T)}, {{T}}, {Indices, Selects ? nullptr : T});
}

/// index_put, scatter, index_copy and the like.
static OperatorResult put(OperatorCall &Op) {
  const Tensor T = Op.self();
  const StringRef Base = Op.Base;
  // Some write into a copy that lies as the tensor does, others into one in
  // order.
  const bool KeepsOrder =
      Base == "index_put" || Base == "index_fill" || Base == "masked_scatter";
  const Tensor Out = Op.isInPlace() ? T
                     : KeepsOrder   ? Op.makeLike(T)
                                    : Op.make(T->sizes(), T);
  const Tensor Index = Op.tensorIn(Op.find("index mask")),
               Values = Op.tensorIn(Op.find("src source values value"));
  const bool KeepsValues = (Base == "index_copy" || Base == "index_add") &&
                           Values && Values->needsGradient();
  const bool Adds = Base == "index_add" || Base == "scatter_add";
  return Op.record(
      {Out}, {{T, Adds ? GradientKind::Alias : GradientKind::Fresh}, {Values}},
      {Index, KeepsValues ? Values : nullptr});
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::vector<int64_t> channelsLastStrides(ArrayRef<int64_t> Of) {
  return orderOf(Of.vec(), {{4, 1, 3, 2}});
}

/// cat(tensors, dim), stack(tensors, dim), hstack(), vstack().
static OperatorResult cat(OperatorCall &Op) {
  const std::vector<Tensor> All = Op.tensors("tensors self");
  if (Op.Trouble || All.empty())
    return Op.notFollowed("what '" + Op.Name + "' joins is not known");
  const bool Stacks = Op.Name == "stack";
  Sizes To = All.front()->sizes();
  const size_t D = Op.dimension(Op.Name == "hstack"   ? (To.size() > 1)
                                : Op.Name == "vstack" ? 0
                                                      : Op.integer("dim axis"),
                                To.size() + Stacks);
  if (Op.Trouble)
    return {};
  std::vector<Differentiated> Inputs;
  TensorInstance Both = *All.front();
  int64_t Sum = 0;
  for (const Tensor &T : All) {
    Sizes Own = T->sizes();
    Both.Shape.Type = promoted(Both, *T);
    // Parts of what comes.
    Inputs.push_back(
        {T, GradientKind::View, 0,
         axesWithout(Own.size() + Stacks, Stacks ? D : Own.size())});
    if (!Stacks && Own == Sizes{0})
      continue; // An empty list that grows.
    if (Stacks)
      Op.estimateChannelsLast(T, "a 'stack' of images whose channels are last");
    if (To == Sizes{0})
      To = Own;
    Sizes Without = Own, Expected = To;
    if (!Stacks && D < Own.size() && D < To.size()) {
      Sum += Own[D];
      Without.erase(Without.begin() + D);
      Expected.erase(Expected.begin() + D);
    }
    if (Without != Expected)
      Op.throws("'" + Op.Name + "' joins sizes " + shown(To) + " and " +
                shown(Own));
  }
  if (Stacks)
    To.insert(To.begin() + D, static_cast<int64_t>(All.size()));
  else if (D < To.size())
    To[D] = Sum;
  if (Op.Trouble)
    return {};
  const ElementType Type = *Both.Shape.Type;
  const Tensor Out = Op.make(To, Type);
  // Images that all have their channels last are joined so.
  if (!Stacks &&
      llvm::all_of(All, [](const Tensor &T) { return T->isChannelsLast(); }))
    Out->Strides = channelsLastStrides(To);
  for (const Tensor &T : All) // A copy of another type is laid out meanwhile.
    Op.scratch(convertedBytes(T, Type) ? bytesOf(T) : 0);
  return Op.record({Out}, Inputs);
}

/// repeat(repeats), tile(dims), repeat_interleave(repeats, dim).
static OperatorResult repeat(OperatorCall &Op) {
  const bool Interleaves = Op.Base == "repeat_interleave";
  const Tensor T = Op.self();
  Sizes To = T->sizes();
  const std::optional<Sizes> Times = Op.maybeIntegers("repeats dims");
  if (!Times)
    return OperatorResult();
  BlockPtr Sources; // Which one each copies.
  if (Interleaves) {
    const size_t D = Op.dimension(Op.integer("dim"), To.size());
    if (Times->size() != 1 || D >= To.size() || !Op.find("dim"))
      return OperatorResult();
    To[D] = productOf({To[D], Times->front()});
    if (!Op.isSince(2, 0)) // Expanded since then, and copied.
      Sources = Op.make({To[D]}, Int64)->Memory;
  } else {
    while (To.size() < Times->size())
      To.insert(To.begin(), 1);
    for (size_t I = 0; I < Times->size(); ++I)
      To[To.size() - Times->size() + I] =
          productOf({To[To.size() - Times->size() + I], (*Times)[I]});
  }
  const bool IsCopy = !Interleaves && To == T->sizes();
  // backward() sees each dimension as the repetitions of what is repeated.
  Sizes Apart;
  std::vector<int> Axes;
  const Sizes From = T->sizes();
  for (size_t I = 0; I < To.size() && !Interleaves; ++I) {
    const size_t More = To.size() - From.size();
    const int64_t Own = I < More ? 1 : std::max<int64_t>(From[I - More], 1);
    Apart.insert(Apart.end(), {To[I] / Own, Own});
    Axes.insert(Axes.end(), {-1, 0});
  }
  return Op.record(
      {Op.make(To, T)},
      {{T, IsCopy ? GradientKind::Alias : GradientKind::Fresh}}, {Sources},
      Op.widenedToSum(typeOf(T), Apart, contiguousStrides(Apart), Axes),
      /*CopyScratch=*/0);
}

/// Are the channels to be last of an image that is copied?
static bool putsChannelsLast(OperatorCall &Op, const Tensor &T) {
  const int64_t Format = Op.integer("memory_format", Preserved);
  if (Format == ChannelsLast3d)
    Op.notFollowed("the order of 'ChannelsLast3d' is not followed");
  if (Format == ChannelsLast && T->sizes().size() != 4)
    Op.throws("'" + Op.Name + "' puts channels last of " + shown(T->sizes()));
  return Format == ChannelsLast && !Op.Trouble;
}

/// to(dtype), type_as(other): a copy, where it is of another type.
static OperatorResult convert(OperatorCall &Op) {
  const Tensor T = Op.self();
  std::optional<ElementType> To = Op.type();
  if (const Tensor Other = Op.tensorIn(Op.find("other")))
    To = Other->Shape.Type;
  for (const auto &[Which, A] : Op.Given)
    if (!To && A->What == Value::Unknown && Which != "device" &&
        Which != "non_blocking" && Which != "copy")
      Op.notFollowed("the type that '" + Op.Name +
                     "' converts to is not known");
  const bool Last = putsChannelsLast(Op, T);
  if ((!To || To->Name == typeOf(T).Name) && (!Last || T->hasChannelsLast()))
    return T;
  const Tensor Copy = Op.makeLike(T, To);
  if (Last)
    Copy->Strides = channelsLastStrides(T->sizes());
  return Op.record({Copy}, {{T}});
}

/// zeros, randn, arange and the like; zeros_like, new_zeros.
static OperatorResult makeNew(OperatorCall &Op) {
  if (Op.Name.ends_with("_like")) {
    const Tensor Out = Op.makeLike(Op.self(), Op.type());
    if (putsChannelsLast(Op, Out))
      Out->Strides = channelsLastStrides(Out->sizes());
    else if (Op.integer("memory_format", Preserved) == InOrder)
      Out->Strides = contiguousStrides(Out->sizes());
    return Out;
  }
  if (Op.Name.starts_with("new_")) {
    const Tensor T = Op.self();
    return Op.make(Op.integers("size"), Op.type().value_or(typeOf(T)));
  }
  if (Op.Name == "one_hot") {
    const Tensor T = Op.self();
    Sizes To = T->sizes();
    const int64_t Classes = Op.integer("num_classes", -1);
    if (Classes < 0)
      Op.notFollowed("the number of classes of 'one_hot' depends on values");
    To.push_back(Classes);
    return Op.make(To, Int64);
  }
  return OperatorResult();
}

static OperatorResult makeContiguous(OperatorCall &Op) {
  const Tensor T = Op.self();
  const bool Last = putsChannelsLast(Op, T);
  if (Last ? T->hasChannelsLast() : T->isContiguous())
    return T;
  const Tensor Copy = Op.make(T->sizes(), T);
  if (Last)
    Copy->Strides = channelsLastStrides(T->sizes());
  Op.scratch(bytesToTranspose(T));
  return Op.record({Copy}, {{T, GradientKind::Alias}});
}

static OperatorResult clone(OperatorCall &Op) {
  const Tensor T = Op.self();
  if (Op.integer("memory_format", Preserved) == InOrder && !T->isContiguous())
    return makeContiguous(Op);
  const Tensor Copy = Op.makeLike(T);
  if (putsChannelsLast(Op, T))
    Copy->Strides = channelsLastStrides(T->sizes());
  return Op.record({Copy}, {{T, GradientKind::Alias}});
}

/// The tensor itself: devices are all one here.
static OperatorResult itself(OperatorCall &Op) {
  const Tensor T = Op.self();
  if (Op.Base.ends_with("requires_grad"))
    T->RequiresGrad = Op.flag("requires_grad", true);
  return T;
}

/// nonzero(): the places of all elements, as many as there may be.
static OperatorResult places(OperatorCall &Op) {
  const Tensor X = Op.tensor("condition self input");
  const Sizes Of = X->sizes();
  const auto Dimensions = static_cast<int64_t>(Of.size());
  const Tensor Out = Op.make({productOf(Of), Dimensions}, Int64);
  Out->Strides = {1, std::max<int64_t>(productOf(Of), 1)};
  Op.S.atMost("all elements count as true, since how many are is not known");
  return Out;
}

/// masked_select().
static OperatorResult selected(OperatorCall &Op) {
  const Tensor X = Op.self(), Mask = Op.tensor("mask");
  const std::optional<Sizes> All = Op.fitted({X, Mask});
  if (!All)
    return {};
  const Tensor Out = Op.make({productOf(*All)}, X);
  Op.S.atMost("all elements count as true, since how many are is not known");
  return Op.record({Out}, {{X}}, {X, Mask});
}

static constexpr OperatorRule IndexRows[] = {
    {"slice narrow select", slice},
    {"index", index},
    {"index_select gather take", pick},
    {"index_put scatter scatter_add index_add index_copy index_fill "
     "masked_scatter",
     put},
    {"nonzero", places},
    {"masked_select", selected},
    {"contiguous", makeContiguous},
    {"clone", clone},
    {"cuda cpu alias requires_grad set_requires_grad pin_memory "
     "retain_grad identity",
     itself},
    {"zeros_like ones_like full_like empty_like rand_like randn_like "
     "randint_like new_zeros new_ones new_full new_empty new_tensor "
     "one_hot",
     makeNew},
    {"cat concat stack hstack vstack", cat},
    {"repeat tile repeat_interleave", repeat},
    {"to type toType type_as to_type", convert},
};
const RuleTable IndexRules = {IndexRows, /*InPlace=*/true};

static Tensor joined(StringRef How, const std::vector<Tensor> &All,
                     int64_t Dim) {
  return All.front().Op->run(How, {{"tensors", All}, {"dim", Dim}});
}

Tensor cat(const std::vector<Tensor> &All, int64_t Dim) {
  return joined("cat", All, Dim);
}

Tensor stack(const std::vector<Tensor> &All) { return joined("stack", All, 0); }

} // namespace libtorch_tidy::bytes
