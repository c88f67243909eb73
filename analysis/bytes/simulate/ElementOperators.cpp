//===- ElementOperators.cpp - Element by element, reductions --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "analysis/torch/api/OpFacts.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

using torch::Saved;

//===----------------------------------------------------------------------===//
// Of one tensor
//===----------------------------------------------------------------------===//

/// Fills the tensor, and forgets what was in it.
static OperatorResult fill(OperatorCall &Op) { return Op.self(); }

/// A function of each element.
static OperatorResult unary(OperatorCall &Op) {
  const bool InPlace = Op.isInPlace() || Op.flag("inplace", false);
  const Tensor T = Op.self();
  const torch::OpFacts *Facts = torch::opFacts(Op.Base);
  const uint64_t Size = bytesOf(T);
  // Made in evaluation, too.
  const BlockPtr Noise = Op.Base == "rrelu" ? Op.allocate(Size) : nullptr;
  const bool KeepsNothing = Facts->SavesNothing, IsReal = isFloating(typeOf(T)),
             KeepsType = IsReal || KeepsNothing || Op.Base == "abs" ||
                         Op.Base == "square" || Op.Base.starts_with("clamp");
  const Tensor Out =
      InPlace
          ? T
          : Op.makeLike(T, KeepsType ? T->Shape.Type : std::optional(Float32));
  const Saved Saves = InPlace ? Facts->SavesInPlace : Facts->Saves;
  const bool SavesResult = Saves == Saved::Result || Saves == Saved::Both,
             SavesArgument = Saves == Saved::Argument || Saves == Saved::Both;
  if (InPlace && !KeepsNothing && Saves == Saved::Unknown && Op.records({{T}}))
    Op.throws("backward() of '" + Op.Name + "' is not implemented");
  const KeptMemory Kept[] = {SavesArgument && !InPlace ? T : nullptr,
                             SavesResult ? Out : nullptr,
                             SavesArgument && InPlace && Op.records({{T}})
                                 ? Op.allocate(Size) // As it was before.
                                 : nullptr,
                             Noise};
  const auto Needed = static_cast<uint64_t>(Op.Rule->Scratch * Size);
  const bool ReadsInOrder =
      !InPlace && (Op.Base == "triu" || Op.Base == "tril");
  return Op.record({Out}, {{T}}, Kept, Needed,
                   Needed + (ReadsInOrder ? Size : 0));
}

/// Truths, or what `&` makes of integers.
static OperatorResult compare(OperatorCall &Op) {
  const Tensor T = Op.self();
  std::optional<Sizes> To = T->sizes();
  ElementType Type = typeOf(T);
  if (Op.tensorIn(Op.find("other"))) {
    const Tensor Other = Op.tensor("other");
    To = broadcast(*To, Other->sizes());
    Type = promoted(*T, *Other);
  }
  if (!To)
    Op.throws("'" + Op.Name + "' does not fit its sizes");
  return Op.make(To.value_or(Sizes()),
                 Op.Name.starts_with("bitwise_") ? Type : Bool);
}

static OperatorResult logSigmoid(OperatorCall &Op) {
  const Tensor T = Op.self(), Out = Op.makeLike(T), Buffer = Op.makeLike(T);
  Op.copyInOrder(T);
  return Op.record({Out}, {{T}}, {T, Buffer});
}

static constexpr OperatorRule UnaryRows[] = {
    {"relu relu6 hardtanh leaky_relu rrelu elu selu celu gelu silu mish "
     "sigmoid tanh softplus hardswish hardsigmoid threshold hardshrink "
     "softshrink exp log logit neg triu tril flip roll sign trunc "
     "deg2rad rad2deg floor ceil round",
     unary},
    {"exp2 expm1 log2 log10 log1p sqrt sin sinh cosh lgamma digamma abs", unary,
     1},
    {"rsqrt reciprocal cos tan atan square cumsum", unary, 2},
    {"asin erf erfc erfinv", unary, 4},
    {"acos", unary, 5},
    {"asinh acosh atanh", unary, 3},
    {"clamp", unary, 0.5},
    {"clamp_min clamp_max", unary, 0.25},
    {"cumprod", unary, 3.25},
    {"nan_to_num", unary, 1.25},
    {"logsigmoid log_sigmoid", logSigmoid},
};
const RuleTable UnaryRules = {UnaryRows, /*InPlace=*/true,
                              /*NeedsDimension=*/false};

static constexpr OperatorRule TruthRows[] = {
    {"eq ne lt le gt ge equal less less_equal greater greater_equal "
     "not_equal logical_and logical_or logical_xor logical_not isnan "
     "isinf isfinite bitwise_and bitwise_or bitwise_xor bitwise_not",
     compare},
    {"fill_ zero_ normal_ uniform_ bernoulli_ random_ exponential_ copy_ "
     "set_data",
     fill},
};
const RuleTable TruthRules = {TruthRows, /*InPlace=*/false,
                              /*NeedsDimension=*/false};

//===----------------------------------------------------------------------===//
// Where a mask, noise or a weight lets them through
//===----------------------------------------------------------------------===//

/// dropout, feature_dropout (dropout2d, dropout3d), alpha_dropout.
static OperatorResult dropout(OperatorCall &Op) {
  const Tensor T = Op.self();
  const bool Trains = Op.flag("train", false) || Op.flag("training", false);
  const bool InPlace = Op.isInPlace() || Op.flag("inplace", false);
  if (!Trains || Op.maybeReal("p").value_or(0.5) == 0)
    return T;
  Sizes OfNoise = T->sizes();
  if (Op.Name.starts_with("feature") || Op.Name.contains("2d") ||
      Op.Name.contains("3d"))
    for (size_t I = 2; I < OfNoise.size(); ++I)
      OfNoise[I] = 1;
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
  const bool Fills = Op.Name.starts_with("masked_fill");
  const Tensor A = Op.self();
  const Tensor B = Fills ? Op.maybeTensor("value") : Op.tensor("other");
  const std::optional<Sizes> All = Op.fitted({Condition, A, B});
  if (!All)
    return {};
  if (Op.isInPlace())
    return Op.record({A}, {{A}}, {Condition});
  const Tensor Out = Op.make(*All, Fills || !B ? typeOf(A) : promoted(*A, *B));
  // Gradients are as large as the result, until they are added up.
  auto Grown = [&](const Tensor &T) -> uint64_t {
    return T && T->needsGradient() && T->sizes() != *All ? bytesOf(Out) : 0;
  };
  const Tensor Other = Fills ? nullptr : B;
  return Op.record({Out}, {{A}, {Other}}, {Condition}, Grown(A) + Grown(Other));
}

static OperatorResult prelu(OperatorCall &Op) {
  const Tensor T = Op.self(), Weight = Op.tensor("weight");
  return Op.record({Op.makeLike(T)}, {{T}, {Weight}}, {T, Weight}, bytesOf(T));
}

//===----------------------------------------------------------------------===//
// Over dimensions
//===----------------------------------------------------------------------===//

/// The sizes of \p T without the dimensions that are reduced, or with ones.
static Sizes reducedSizes(OperatorCall &Op, const Tensor &T) {
  const Sizes From = T->sizes();
  const std::optional<Sizes> Asked = Op.maybeIntegers("dim");
  const bool Keeps = Op.flag("keepdim", false);
  std::vector<bool> Reduced(From.size(), !Asked || Asked->empty());
  if (Asked)
    for (const int64_t D : *Asked)
      if (const size_t Which = Op.dimension(D, From.size());
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

static OperatorResult reduce(OperatorCall &Op) {
  const Tensor T = Op.self();
  const ElementType Own = typeOf(T);
  ElementType Type = Op.type().value_or(Own);
  if (!Op.type() && !isFloating(Own))
    Type = llvm::StringSwitch<ElementType>(Op.Name)
               .Cases("any", "all", Bool)
               .Cases("mean", "std", "var", Float32)
               .Cases("sum", "prod", Int64)
               .Default(Own);
  if (Op.Name == "argmax" || Op.Name == "argmin" || Op.Name == "count_nonzero")
    Type = Int64;
  const Tensor Out = Op.make(reducedSizes(Op, T), Type);
  const uint64_t Size = bytesOf(T), OfOut = bytesOf(Out);
  if (Op.Name == "sum")
    return Op.record({Out},
                     {{T, Out->sizes().empty() ? GradientKind::Constant
                                               : GradientKind::Strided}});
  // Over dimensions it keeps what it reads, whatever for.
  if (Op.Name == "mean")
    return Op.record({Out}, {{T}}, {Op.find("dim") ? T : nullptr});
  if (Op.Name == "var")
    return Op.record({Out}, {{T}}, {T}, Size + 2 * OfOut);
  if (Op.Name == "median" ||
      ((Op.Name == "max" || Op.Name == "min") && !T->isContiguous()))
    Op.scratch(Size);
  if (Op.Name == "logsumexp")
    Op.scratch(Size + OfOut);
  const auto Scratch =
      llvm::StringSwitch<std::optional<uint64_t>>(Op.Name)
          .Cases("max", "min", "median", Size * 9 / 4)
          .Case("logsumexp", 2 * Size)
          // The places of the largest are counted, in eight bytes.
          .Cases("amax", "amin", Size * 5 / 4 + 3 * OfOut)
          .Case("prod", Op.find("dim") ? Size * 5 / 4 + 2 * OfOut : Size)
          .Case("std", Size + 3 * OfOut)
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
    To = reducedSizes(Op, T);
  }
  const Tensor Values = Op.make(To, T), Indices = Op.make(To, Int64);
  if (Op.Name == "kthvalue") // A copy, and its places.
    Op.scratch(bytesOf(T) + elementsOf(productOf(T->sizes()), 8));
  // A copy, unless what it goes over lies in order.
  if (const size_t D = Op.dimension(Op.integer("dim", -1), T->sizes().size());
      Op.Name == "median" && D < T->Strides.size() && T->Strides[D] != 1)
    Op.scratch(bytesOf(T));
  return Op.record({Values, Indices}, {{T}},
                   {Indices, Op.Name.starts_with("cum") ? T : nullptr});
}

static OperatorResult softmax(OperatorCall &Op) {
  Tensor T = Op.self();
  // Of another type it is of a copy.
  if (Op.type() && Op.type()->Name != typeOf(T).Name)
    T = Op.run("to", Op.Given);
  const BlockPtr Ordered = Op.copyInOrder(T);
  const Tensor Out = Op.make(T->sizes(), T);
  return Op.record({Out}, {{T}}, {Out}, 0, bytesOf(Out));
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

static OperatorResult mode(OperatorCall &Op) {
  return Op.find("dim") ? reduceWithIndices(Op) : OperatorResult();
}

static OperatorResult kthValue(OperatorCall &Op) {
  if (Op.find("dim"))
    return reduceWithIndices(Op);
  Arguments With = Op.Given;
  With["dim"] = -1;
  return Op.runs(Op.Name, With);
}

static OperatorResult softmin(OperatorCall &Op) {
  return Op.run("neg", Op.Given).run("softmax", Op.Given);
}

static constexpr OperatorRule ReductionRows[] = {
    {"max(dim) min(dim) median", maybeWithIndices},
    {"mode", mode},
    {"kthvalue", kthValue},
    {"topk sort cummax cummin", reduceWithIndices},
    {"sum mean std var norm prod logsumexp amax amin argmax argmin any "
     "all count_nonzero",
     reduce},
    {"softmax log_softmax", softmax},
    {"softmin", softmin},
    {"glu", glu},
    {"dropout dropout2d dropout3d feature_dropout alpha_dropout "
     "feature_alpha_dropout",
     dropout},
    {"where masked_fill", where},
    {"prelu", prelu},
};
const RuleTable ReductionRules = {ReductionRows, /*InPlace=*/true};

} // namespace libtorch_tidy::bytes
