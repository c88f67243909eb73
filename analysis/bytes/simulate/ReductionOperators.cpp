//===- ReductionOperators.cpp - Masks, reductions -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Where a mask, noise or a weight lets them through
//===----------------------------------------------------------------------===//

/// dropout, feature_dropout (dropout2d, dropout3d), alpha_dropout.
static OperatorResult dropout(OperatorCall &Op) {
  const Tensor T = Op.self();
  const bool Trains = Op.flag("train") || Op.flag("training");
  const bool InPlace = Op.isInPlace() || Op.flag("inplace");
  if (!Trains || Op.maybeReal("p").value_or(0.5) == 0)
    return T;
  if (!Op.isReal(T))
    return {};
  Sizes OfNoise = T->sizes();
  if (Op.Name.starts_with("feature") || Op.Name.contains("2d") ||
      Op.Name.contains("3d"))
    for (size_t I = 2; I < OfNoise.size(); ++I)
      OfNoise[I] = 1;
  if (OfNoise != T->sizes())
    Op.estimateChannelsLast(T,
                            "a gradient comes through a dropout of channels "
                            "that are last",
                            /*OfGradient=*/true);
  // CUDA's dropout keeps one byte for each element, as at::native_dropout does.
  const Tensor Noise = Op.isOnGpu() && Op.Name == "dropout"
                           ? Op.make(OfNoise, Bool)
                           : Op.make(OfNoise, T);
  const BlockPtr Second =
      Op.Name.contains("alpha") ? Op.allocate(bytesOf(Noise)) : nullptr;
  const Tensor Out = InPlace ? T : Op.makeLike(T);
  return Op.record({Out}, {{T}}, {Noise});
}

static OperatorResult where(OperatorCall &Op) {
  const Tensor Condition = Op.tensor("condition mask");
  // Of one argument: the places, a tensor for each dimension.
  if (Op.Name == "where" && !Op.Given.count("self") && !Op.Given.count("input"))
    return Condition.run("nonzero").runs("unbind", {{"dim", 1}});
  const bool Fills = Op.Name.starts_with("masked_fill");
  const Tensor A = Op.self();
  const Tensor B = Fills ? Op.maybeTensor("value") : Op.tensor("other");
  const std::optional<Sizes> All = Op.fitted({Condition, A, B});
  if (!All)
    return {};
  if (Op.isInPlace())
    return Op.record({A}, {{A}}, {Condition});
  const Tensor Other = Fills ? nullptr : B;
  const ElementType Type = Other ? promoted(*A, *Other) : typeOf(A);
  // What masked_fill() gives lies in order.
  const Tensor Out = Fills ? Op.make(*All, Type)
                           : Op.makeOf(*All, Type, {Condition, A, Other});
  if (Other)
    Op.scratch(convertedBytes(A, Type) + convertedBytes(Other, Type));
  const std::vector<TensorPtr> From =
      Fills ? std::vector<TensorPtr>()
            : std::vector<TensorPtr>{Condition, nullptr};
  return Op.record({Out}, {madeOf(A, From), madeOf(Other, From)}, {Condition},
                   [A = withoutMemory(A), Other = withoutMemory(Other)](
                       const OperatorCall &Op, const GradientNode &Node,
                       const TensorPtr &Come) {
                     InBackward Uses(Op, Node, Come);
                     for (const Tensor &T : {A, Other})
                       if (T && T->needsGradient())
                         Uses.make(0);
                     Uses.reduce(A);
                     Uses.reduce(Other);
                     return Uses.scratch();
                   });
}

static OperatorResult prelu(OperatorCall &Op) {
  const Tensor T = Op.self(), Weight = Op.tensor("weight");
  // The channels are dimension 1.
  Sizes Seen(std::max<size_t>(T->sizes().size(), 1), 1);
  Seen[Seen.size() > 1] = elementsIn(Weight);
  const Tensor Aligned = withoutMemory(Weight), Out = Op.makeLike(T);
  Aligned->Shape.Sizes = std::vector<Size>(Seen.begin(), Seen.end());
  Aligned->Strides = contiguousStrides(Seen);
  const std::vector<TensorPtr> From = {T, Aligned, nullptr};
  return Op.record({Out},
                   {madeOf(T, From), madeOf(Weight, From, GradientKind::Seen)},
                   {T, Weight},
                   [T = withoutMemory(T), Aligned](const OperatorCall &Op,
                                                   const GradientNode &Node,
                                                   const TensorPtr &Come) {
                     InBackward Uses(Op, Node, Come);
                     Uses.makeAll(2, 2 * bytesOf(Come));
                     Uses.reduce(T);
                     Uses.reduce(Aligned);
                     return Uses.scratch();
                   });
}

//===----------------------------------------------------------------------===//
// Over dimensions
//===----------------------------------------------------------------------===//

namespace {

struct Reduced {
  Sizes To;              ///< Without the dimensions, or with ones.
  std::vector<int> Axes; ///< Of each dimension of \p T, that of the result.
};

} // namespace

static Reduced overDimensions(OperatorCall &Op, const Tensor &T) {
  const Sizes From = T->sizes();
  const std::optional<Sizes> Asked = Op.maybeIntegers("dim");
  const bool Keeps = Asked && Op.flag("keepdim");
  Reduced Result;
  Result.Axes.resize(From.size(), !Asked || Asked->empty() ? -1 : 0);
  if (Asked)
    for (const int64_t D : *Asked)
      if (const size_t Which = Op.dimension(D, From.size());
          Which < From.size())
        Result.Axes[Which] = -1;
  for (size_t I = 0; I < From.size(); ++I) {
    if (Result.Axes[I] == 0)
      Result.Axes[I] = Result.To.size();
    else if (!Keeps)
      continue;
    Result.To.push_back(Result.Axes[I] < 0 ? 1 : From[I]);
  }
  return Result;
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

uint64_t OperatorCall::widened(int64_t Count, ElementType Type) const {
  return widens(Type) ? elementsOf(Count, Float32.Bytes) : 0;
}

/// As should_use_acc_buffer() of aten/src/ATen/native/ReduceOps.cpp: are there
/// two dimensions or more to add up that are not one in memory?
uint64_t OperatorCall::widenedToSum(ElementType Type, const Sizes &Of,
                                    const Sizes &Strides,
                                    ArrayRef<int> Axes) const {
  std::vector<std::pair<int64_t, int64_t>> Dimensions;
  int64_t Results = 1;
  for (size_t I = 0; I < Of.size(); ++I)
    if (Axes[I] >= 0)
      Results = productOf({Results, Of[I]});
    else if (Of[I] != 1)
      Dimensions.emplace_back(Strides[I], Of[I]);
  llvm::sort(Dimensions);
  unsigned Pieces = Dimensions.empty() ? 0 : 1;
  for (size_t I = 1; I < Dimensions.size(); ++I)
    Pieces += Dimensions[I].first !=
              Dimensions[I - 1].first * Dimensions[I - 1].second;
  return Pieces > 1 ? widened(productOf(Of) + Results, Type) : 0;
}

uint64_t OperatorCall::widenedToReduce(ElementType Type, const Sizes &From,
                                       const Sizes &Strides,
                                       const TensorPtr &T) const {
  const Sizes To = T->sizes();
  std::vector<int> Axes(From.size(), -1);
  for (size_t I = 0, More = From.size() - To.size(); I < To.size(); ++I)
    if (To[I] == From[More + I])
      Axes[More + I] = 0;
  return widenedToSum(Type, From, Strides, Axes);
}

void Simulation::addUp(ArrayRef<TensorPtr> Results) {
  const Arguments None;
  const OperatorCall Op(*this, "sum", None);
  for (const TensorPtr &T : Results)
    if (T->needsGradient() && T->Strides.size() == T->sizes().size())
      scratch(Op.widenedToSum(T, std::vector<int>(T->Strides.size(), -1)));
}

static OperatorResult reduce(OperatorCall &Op) {
  const Tensor T = Op.self();
  const ElementType Own = typeOf(T);
  ElementType Type = Op.type().value_or(Own);
  if (!Op.type() && !isFloating(Own))
    Type = llvm::StringSwitch<ElementType>(Op.Name)
               .Cases("any", "all", Bool)
               .Cases("sum", "prod", Int64)
               .Default(Own);
  if (!Op.type() &&
      llvm::StringSwitch<bool>(Op.Name)
          .Cases("mean", "std", "var", true)
          .Default(false) &&
      !Op.isReal(T))
    return {};
  if (Op.Name == "argmax" || Op.Name == "argmin" || Op.Name == "count_nonzero")
    Type = Int64;
  const auto [To, Axes] = overDimensions(Op, T);
  const Tensor Out = Op.make(To, Type);
  const uint64_t Size = bytesOf(T), OfOut = bytesOf(Out);
  if (Op.Name == "sum" || Op.Name == "prod" || Op.Name == "mean")
    Op.scratch(convertedBytes(T, Type));
  if (Op.Name == "sum") {
    Op.scratch(Op.widenedToSum(T, Axes));
    return Op.record(
        {Out}, {{T, To.empty() ? GradientKind::Constant : GradientKind::View, 0,
                 Axes}});
  }
  const uint64_t OfMean = Op.widened(elementsIn(T) + elementsIn(Out), Type);
  if (Op.Name == "mean") {
    Op.scratch(OfMean);
    // Over dimensions it kept what it reads before that, whatever for.
    return Op.record({Out}, {{T}},
                     {Op.find("dim") && !Op.isSince(2, 0) ? T : nullptr});
  }
  if (Op.Name == "var")
    return Op.record({Out}, {{T}}, {T},
                     std::max(2 * Size + OfOut, OfMean) - Size + OfOut);
  if (Op.Name == "median" ||
      ((Op.Name == "max" || Op.Name == "min") && !T->isContiguous()))
    Op.scratch(Size);
  if (Op.Name == "logsumexp")
    Op.scratch(Size + OfOut + Op.widenedToSum(T, Axes));
  // The elements that are like the result: a byte each, and, where they are
  // counted, eight more.
  const uint64_t Alike = elementsIn(T), Counted = 9 * Alike,
                 Counts = 8 * elementsIn(Out), Later = Alike + 2 * Size;
  const auto Scratch =
      llvm::StringSwitch<std::optional<uint64_t>>(Op.Name)
          .Cases("max", "min", "median", Counted)
          .Case("logsumexp", 2 * Size)
          .Cases("amax", "amin",
                 std::max(Counted, Later + OfOut) - Size + Counts)
          .Case("prod", Op.find("dim")
                            ? std::max(Counted, Later) - Size + Counts
                            : Size)
          .Case("std", std::max(2 * Size + OfOut, OfMean) - Size + 2 * OfOut)
          .Case("norm", Size)
          .Default(std::nullopt);
  if (!Scratch)
    return Out;
  return Op.record({Out}, {{T}}, {T, Out}, *Scratch);
}

/// max(dim), min(dim), topk, sort, median, mode: values and indices.
static OperatorResult reduceWithIndices(OperatorCall &Op) {
  const Tensor T = Op.self();
  Sizes To = T->sizes();
  if (Op.Name == "topk") {
    const size_t D = Op.dimension(Op.integer("dim", -1), To.size());
    if (D < To.size())
      To[D] = Op.integer("k", 1);
  } else if (Op.Name != "sort" && !Op.Name.starts_with("cum")) {
    To = overDimensions(Op, T).To;
  }
  const Tensor Values = Op.make(To, T), Indices = Op.make(To, Int64);
  if (Op.Name == "kthvalue") // A copy, and its places.
    Op.scratch(bytesOf(T) + elementsOf(productOf(T->sizes()), 8));
  // A copy, unless what it goes over lies in order.
  if (const size_t D = Op.dimension(Op.integer("dim", -1), T->sizes().size());
      Op.Name == "median" && D < T->Strides.size() && T->Strides[D] != 1) {
    const BlockPtr Copy = Op.scratch(bytesOf(T));
    const Sizes Of = T->sizes();
    Op.scratch(
        bytesToTranspose(Op.view(T, {Of.rbegin(), Of.rend()},
                                 {T->Strides.rbegin(), T->Strides.rend()})));
  }
  return Op.record({Values, Indices}, {{T}},
                   {Indices, Op.Name.starts_with("cum") ? T : nullptr},
                   Op.widened(elementsIn(T), typeOf(T)));
}

static OperatorResult softmax(OperatorCall &Op) {
  Tensor T = Op.self();
  // Of another type it is of a copy.
  if (Op.type() && Op.type()->Name != typeOf(T).Name)
    T = Op.run("to", Op.Given);
  if (!Op.isReal(T))
    return {};
  const Tensor Out = Op.make(T->sizes(), T);
  Op.copyInOrder(T);
  return Op.record(
      {Out}, {{T}}, {Out},
      [](const OperatorCall &, const GradientNode &, const TensorPtr &Come) {
        return Come->isContiguous() ? 0
                                    : bytesOf(Come) + bytesToTranspose(Come);
      });
}

/// Half of a dimension, through the gate of the other half.
static OperatorResult glu(OperatorCall &Op) {
  const Tensor T = Op.self();
  Sizes To = T->sizes();
  const size_t D = Op.dimension(Op.integer("dim", -1), To.size());
  if (D < To.size())
    To[D] /= 2;
  return Op.record({Op.make(To, T)}, {{T}}, {T});
}

static OperatorResult maybeWithIndices(OperatorCall &Op) {
  return Op.find("dim") ? reduceWithIndices(Op) : reduce(Op);
}

static OperatorResult kthValue(OperatorCall &Op) {
  if (Op.find("dim"))
    return reduceWithIndices(Op);
  Arguments With = Op.Given;
  With["dim"] = -1;
  return Op.runs(Op.Name, With);
}

static constexpr OperatorRule ReductionRows[] = {
    {"max(dim) min(dim) median", maybeWithIndices},
    {"mode",
     [](OperatorCall &Op) {
       return Op.find("dim") ? reduceWithIndices(Op) : OperatorResult();
     }},
    {"kthvalue", kthValue},
    {"topk sort cummax cummin", reduceWithIndices},
    {"sum mean std var norm prod logsumexp amax amin argmax argmin any "
     "all count_nonzero",
     reduce},
    {"softmax log_softmax", softmax},
    {"softmin",
     [](OperatorCall &Op) -> OperatorResult {
       return Op.run("neg", Op.Given).run("softmax", Op.Given);
     }},
    {"glu", glu},
    {"dropout dropout2d dropout3d feature_dropout alpha_dropout "
     "feature_alpha_dropout",
     dropout},
    {"where masked_fill", where},
    {"prelu", prelu},
};
const RuleTable ReductionRules = {ReductionRows, /*InPlace=*/true};

} // namespace libtorch_tidy::bytes
