//===- ElementOperators.cpp - Element by element, reductions --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "analysis/torch/api/OpFacts.h"
#include "llvm/ADT/STLExtras.h"

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
  std::vector<BlockPtr> Kept;
  if (InPlace && !KeepsNothing && Saves == Saved::Unknown && Op.records({{T}}))
    Op.throws("backward() of '" + Op.Name + "' is not implemented");
  if (!InPlace && (Saves == Saved::Argument || Saves == Saved::Both))
    Kept.push_back(T->Memory);
  if (Saves == Saved::Result || Saves == Saved::Both)
    Kept.push_back(Out->Memory);
  if (InPlace && (Saves == Saved::Argument || Saves == Saved::Both) &&
      Op.records({{T}}))
    Kept.push_back(Op.allocate(Size)); // As it was before.
  if (Noise)
    Kept.push_back(Noise);
  const auto Needed = static_cast<uint64_t>(Op.Rule->Scratch * Size);
  const bool ReadsInOrder =
      !InPlace && (Op.Base == "triu" || Op.Base == "tril");
  Op.record({Out}, {{T}}, Kept, Needed, Needed + (ReadsInOrder ? Size : 0));
  return Out;
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
  Op.record({Out}, {{T}}, {T->Memory, Buffer->Memory});
  return Out;
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

static constexpr OperatorRule FillRows[] = {
    {"fill_ zero_ normal_ uniform_ bernoulli_ random_ exponential_ copy_ "
     "set_data",
     fill},
};
const RuleTable FillRules = {FillRows, /*InPlace=*/false,
                             /*NeedsDimension=*/false};

static constexpr OperatorRule TruthRows[] = {
    {"eq ne lt le gt ge equal less less_equal greater greater_equal "
     "not_equal logical_and logical_or logical_xor logical_not isnan "
     "isinf isfinite bitwise_and bitwise_or bitwise_xor bitwise_not",
     compare},
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
  Op.record({Out}, {{T}}, {Noise->Memory});
  return Out;
}

static OperatorResult where(OperatorCall &Op) {
  const Tensor Condition = Op.tensor({"condition", "mask"});
  const bool Fills = Op.Name.starts_with("masked_fill");
  const Tensor A = Op.self();
  const Tensor B = Fills ? Op.maybeTensor("value") : Op.tensor("other");
  const std::optional<Sizes> All = Op.fitted({Condition, A, B});
  if (!All)
    return {};
  if (Op.isInPlace()) {
    Op.record({A}, {{A}}, {Condition->Memory});
    return A;
  }
  const Tensor Out = Op.make(*All, Fills || !B ? typeOf(A) : promoted(*A, *B));
  // Gradients are as large as the result, until they are added up.
  auto Grown = [&](const Tensor &T) -> uint64_t {
    return T && T->needsGradient() && T->sizes() != *All ? bytesOf(Out) : 0;
  };
  const Tensor Other = Fills ? nullptr : B;
  Op.record({Out}, {{A}, {Other}}, {Condition->Memory},
            Grown(A) + Grown(Other));
  return Out;
}

static OperatorResult prelu(OperatorCall &Op) {
  const Tensor T = Op.self(), Weight = Op.tensor("weight");
  const Tensor Out = Op.makeLike(T);
  Op.record({Out}, {{T}, {Weight}}, {T->Memory, Weight->Memory}, bytesOf(T));
  return Out;
}

static constexpr OperatorRule MaskRows[] = {
    {"dropout dropout2d dropout3d feature_dropout alpha_dropout "
     "feature_alpha_dropout",
     dropout},
    {"where masked_fill", where},
    {"prelu", prelu},
};
const RuleTable MaskRules = {MaskRows, /*InPlace=*/true};

//===----------------------------------------------------------------------===//
// Over dimensions
//===----------------------------------------------------------------------===//

/// The sizes of \p T without the dimensions that are reduced, or with ones.
static Sizes reducedSizes(OperatorCall &Op, const Tensor &T,
                          StringRef DimName) {
  const Sizes From = T->sizes();
  const std::optional<Sizes> Asked = Op.maybeIntegers({DimName});
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
    Type = Op.Name == "any" || Op.Name == "all"                        ? Bool
           : Op.Name == "mean" || Op.Name == "std" || Op.Name == "var" ? Float32
           : Op.Name == "sum" || Op.Name == "prod" || Op.Name == "argmax"
               ? Int64
               : Own;
  if (Op.Name == "argmax" || Op.Name == "argmin" || Op.Name == "count_nonzero")
    Type = Int64;
  const Tensor Out = Op.make(reducedSizes(Op, T, "dim"), Type);
  const uint64_t Size = bytesOf(T);
  if (Op.Name == "sum") {
    Op.record({Out}, {{T, Out->sizes().empty() ? GradientKind::Constant
                                               : GradientKind::Strided}});
  } else if (Op.Name == "mean") {
    // Over dimensions it keeps what it reads, whatever for.
    Op.record({Out}, {{T}},
              Op.find("dim") ? ArrayRef(T->Memory) : ArrayRef<BlockPtr>());
  } else if ((Op.Name == "max" || Op.Name == "min" || Op.Name == "median") &&
             Out->sizes().empty()) {
    if (Op.Name == "median" || !T->isContiguous())
      Op.scratch(Size);
    Op.record({Out}, {{T}}, {T->Memory, Out->Memory}, Size * 9 / 4);
  } else if (Op.Name == "logsumexp") {
    Op.scratch(Size + bytesOf(Out));
    Op.record({Out}, {{T}}, {T->Memory, Out->Memory}, 2 * Size);
  } else if (Op.Name == "amax" || Op.Name == "amin") {
    // The places of the largest are counted, in eight bytes.
    Op.record({Out}, {{T}}, {T->Memory, Out->Memory},
              Size * 5 / 4 + 3 * bytesOf(Out));
  } else if (Op.Name == "prod" && Op.find("dim")) {
    Op.record({Out}, {{T}}, {T->Memory, Out->Memory},
              Size * 5 / 4 + 2 * bytesOf(Out));
  } else if (Op.Name == "std") {
    Op.record({Out}, {{T}}, {T->Memory, Out->Memory}, Size + 3 * bytesOf(Out));
  } else if (Op.Name == "norm" || Op.Name == "prod" || Op.Name == "max" ||
             Op.Name == "min") {
    Op.record({Out}, {{T}}, {T->Memory, Out->Memory}, Size);
  } else if (Op.Name == "var") {
    Op.record({Out}, {{T}}, {T->Memory}, Size + 2 * bytesOf(Out));
  }
  return Out;
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
    To = reducedSizes(Op, T, "dim");
  }
  const Tensor Values = Op.make(To, T), Indices = Op.make(To, Int64);
  if (Op.Name == "kthvalue") // A copy, and its places.
    Op.scratch(bytesOf(T) + elementsOf(productOf(T->sizes()), 8));
  // A copy, unless what it goes over lies in order.
  if (const size_t D = Op.dimension(Op.integer("dim", -1), T->sizes().size());
      Op.Name == "median" && D < T->Strides.size() && T->Strides[D] != 1)
    Op.scratch(bytesOf(T));
  Op.record(
      {Values, Indices}, {{T}},
      {Indices->Memory, Op.Name.starts_with("cum") ? T->Memory : nullptr});
  return std::vector<Tensor>{Values, Indices};
}

static OperatorResult softmax(OperatorCall &Op) {
  Tensor T = Op.self();
  // Of another type it is of a copy.
  if (Op.type() && Op.type()->Name != typeOf(T).Name)
    T = Op.run("to", Op.Given);
  const BlockPtr Ordered = Op.copyInOrder(T);
  const Tensor Out = Op.make(T->sizes(), T);
  Op.record({Out}, {{T}}, {Out->Memory}, 0, bytesOf(Out));
  return Out;
}

/// Half of a dimension, through the gate of the other half.
static OperatorResult glu(OperatorCall &Op) {
  const Tensor T = Op.self();
  Sizes To = T->sizes();
  const size_t D = Op.dimension(Op.integer("dim", -1), To.size());
  if (D < To.size())
    To[D] /= 2;
  const Tensor Out = Op.make(To, T);
  Op.record({Out}, {{T}}, {T->Memory});
  return Out;
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
  Arguments With = Op.Given;
  With.erase("self");
  With["input"] = Op.run("neg", Op.Given);
  return Op.run("softmax", With);
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
};
const RuleTable ReductionRules = {ReductionRows, /*InPlace=*/true};

} // namespace libtorch_tidy::bytes
