//===- ElementOperators.cpp - Arithmetic, element by element --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "analysis/torch/api/OpFacts.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

using torch::Saved;

static BlockPtr beforeWrites(OperatorCall &Op, const Tensor &T,
                             ArrayRef<Differentiated> Inputs) {
  return Op.isInPlace() && Op.records(Inputs) ? Op.allocate(bytesOf(T))
                                              : T->Memory;
}

//===----------------------------------------------------------------------===//
// Of two
//===----------------------------------------------------------------------===//

/// One of the operands is a number.
static OperatorResult withNumber(OperatorCall &Op, const Cell &First,
                                 const Cell &Second) {
  const StringRef Base = Op.Base;
  const bool NumberFirst = isNumber(First);
  const Tensor T = NumberFirst ? Op.tensor("other exponent") : Op.self();
  const Cell &Number = NumberFirst ? First : Second;
  const ElementType Own = typeOf(T);
  const bool BecomesReal =
      !isFloating(Own) && (Number->What == Value::Real || Base == "div");
  const Tensor Out = Op.isInPlace()
                         ? T
                         : Op.makeLike(T, BecomesReal             ? Float32
                                          : Own.Name == Bool.Name ? Int64
                                                                  : Own);
  const uint64_t Size = bytesOf(Out);
  if (!Op.isInPlace())
    Op.scratch(convertedBytes(T, typeOf(Out)));
  if (Base == "add" || (Base == "sub" && !NumberFirst) ||
      (!NumberFirst && (Base == "fmod" || Base == "remainder")))
    return Op.record({Out}, {{T, GradientKind::Alias}});
  if (Base == "pow")
    return Op.record({Out}, {{T}},
                     {beforeWrites(Op, T, {{T}}), NumberFirst ? Out : nullptr},
                     NumberFirst ? Size : 2 * Size);
  // reciprocal().mul(number): both have results of their own.
  if (Base == "div" && NumberFirst)
    return Op.record({Out}, {{T}},
                     {T, Op.records({{T}}) ? Op.allocate(Size) : nullptr},
                     3 * Size);
  // What comes times a number lies as it does, however T does.
  return Op.record({Out}, {madeOf(T, {nullptr})});
}

static bool isOfPowers(StringRef Base) {
  return Base == "pow" || Base == "atan2" || Base == "hypot" ||
         Base == "logaddexp";
}

/// What backward() of an operator of two has at once. The gradient of B is made
/// first; both are as large as the result, until what was broadcast is added
/// up.
static uint64_t mostInBackward(const OperatorCall &Op, StringRef Base,
                               const Tensor &First, const Tensor &Second,
                               const TensorPtr &Come) {
  const bool NeedsA = First->needsGradient(), NeedsB = Second->needsGradient();
  const uint64_t A = bytesOf(First), B = bytesOf(Second), Size = bytesOf(Come),
                 Mask = elementsIn(Come), MaskOfB = elementsIn(Second);
  const uint64_t OfB = NeedsA && NeedsB ? Size : 0;
  if (Base == "pow")
    return std::max(NeedsA ? OfB + B + 4 * Size + MaskOfB : 0,
                    NeedsB ? A + 3 * Size + Mask : 0);
  if (Base == "atan2")
    return std::max(A + B + 2 * Size, (Op.isSince(2, 14) ? 2 : 1) * Size +
                                          (NeedsA ? 2 * Size : 0) +
                                          (NeedsB ? 2 * Size + A : 0));
  if (Base == "hypot") // The gradient of A is made first.
    return OfB + 2 * Size;
  return OfB + 4 * Size; // logaddexp
}

static OperatorResult recordSum(OperatorCall &Op, const Tensor &Out,
                                const Tensor &A, const Tensor &B) {
  const bool Scaled = Op.find("alpha") && Op.maybeReal("alpha") != 1.0;
  // -grad and alpha * grad are made after each other.
  const unsigned Made = (Op.Base == "sub") + Scaled;
  auto Added = [&](const Tensor &T, bool IsMade) {
    return madeOf(T, {nullptr},
                  IsMade || T->sizes() != Out->sizes() ? GradientKind::Fresh
                                                       : GradientKind::Alias);
  };
  return Op.record({Out}, {Added(A, false), Added(B, Made)}, {},
                   [A = withoutMemory(A), B = withoutMemory(B),
                    Made](const OperatorCall &Op, const GradientNode &Node,
                          const TensorPtr &Come) {
                     InBackward Uses(Op, Node, Come);
                     if (B->needsGradient() && Made)
                       Uses.make((Made - 1) * bytesOf(Come));
                     Uses.reduce(A, /*IsMade=*/false);
                     Uses.reduce(B, Made);
                     return Uses.scratch();
                   });
}

/// What backward() of mul, div, pow and the others has, whose gradients are
/// made of the operands.
static uint64_t scratchOfProduct(const OperatorCall &Op, StringRef Base,
                                 const Tensor &A, const Tensor &B,
                                 const GradientNode &Node,
                                 const TensorPtr &Come) {
  const bool NeedsA = A->needsGradient(), NeedsB = B->needsGradient();
  const uint64_t Size = bytesOf(Come);
  // What comes is of the type of the result, to which operands are converted,
  // unless that is made in place.
  const ElementType Type = typeOf(Come), OfA = promoted(*Come, *B),
                    OfB = promoted(Base == "div" ? *B : *A, *Come);
  const uint64_t ConvertedA = convertedBytes(A, Type),
                 ConvertedB = convertedBytes(B, Type);
  InBackward Uses(Op, Node, Come);
  if (Base == "mul" || Base == "div") {
    // That of B goes first: -grad * ((self / other) / other) of div.
    const uint64_t Divided = 2 * elementsOf(elementsIn(Come), OfB.Bytes);
    if (NeedsB)
      Uses.make(convertedBytes(Come, OfB) +
                    (Base == "div" ? Divided + Size : convertedBytes(A, OfB)),
                OfB);
    if (NeedsA)
      Uses.make(convertedBytes(Come, OfA) + convertedBytes(B, OfA), OfA);
    Uses.reduce(A, /*IsMade=*/true, OfA);
    Uses.reduce(B, /*IsMade=*/true, OfB);
    return Uses.scratch();
  }
  if (Base == "xlogy") {
    if (NeedsB)
      Uses.make(Size + ConvertedA + ConvertedB);
    if (NeedsA) // Where both are 0 is looked for.
      Uses.make(Size + ConvertedB + elementsIn(A) + elementsIn(B) +
                elementsIn(Come));
  } else if (isOfPowers(Base)) {
    // Where types differ, gradients are of that of the result at first.
    Uses.makeAll(NeedsA + NeedsB, mostInBackward(Op, Base, A, B, Come) +
                                      2 * (ConvertedA + ConvertedB));
  } else { // maximum, minimum, and others of both.
    const uint64_t Converted = ConvertedA + ConvertedB;
    const uint64_t Most =
        Op.isSince(2, 14) ? std::max(Size, Converted) : Size + Converted;
    for (const bool Needs : {NeedsA, NeedsB})
      if (Needs)
        Uses.make(Most + 2 * elementsIn(Come));
  }
  Uses.reduce(A);
  Uses.reduce(B);
  return Uses.scratch();
}

/// What the gradients of \p A and \p B are computed of: what decides first how
/// they lie.
static std::pair<std::vector<TensorPtr>, std::vector<TensorPtr>>
sourcesOfProduct(StringRef Base, const Tensor &A, const Tensor &B) {
  const TensorPtr Come;
  if (Base == "mul" || Base == "div")
    return {{Come, B}, {Come, A, B}};
  if (Base == "xlogy") // masked_fill() copies in order.
    return {{}, {Come, A, B}};
  if (Base == "atan2")
    return {{Come, B, A}, {Come, A, B}};
  if (Base == "pow") // Where numbers are 0 is asked first.
    return {{B, Come, A}, {A, B, Come}};
  if (Base == "hypot" || Base == "logaddexp")
    return {{Come, A, B}, {Come, B, A}};
  return {{A, B, Come}, {A, B, Come}}; // Where they are equal is asked first.
}

static OperatorResult recordProduct(OperatorCall &Op, const Tensor &Out,
                                    const Tensor &A, const Tensor &B) {
  const StringRef Base = Op.Base;
  const bool NeedsA = A->needsGradient(), NeedsB = B->needsGradient();
  const bool KeepsA =
      Base == "mul" || Base == "div" ? NeedsB : Base != "hypot" || NeedsA;
  const KeptMemory Kept[] = {
      (Base == "mul" ? NeedsA : Base != "hypot" || NeedsB) ? B : nullptr,
      KeepsA ? beforeWrites(Op, A, {{A}, {B}}) : nullptr,
      Base == "pow" || Base == "hypot" ? Out : nullptr};
  if (isOfPowers(Base) && (NeedsA || NeedsB) &&
      convertedBytes(A, typeOf(Out)) + convertedBytes(B, typeOf(Out)))
    Op.S.atMost("all operands of another type count as converted at once");
  const auto [FromOfA, FromOfB] = sourcesOfProduct(Base, A, B);
  return Op.record({Out}, {madeOf(A, FromOfA), madeOf(B, FromOfB)}, Kept,
                   [Base, A = withoutMemory(A), B = withoutMemory(B)](
                       const OperatorCall &Op, const GradientNode &Node,
                       const TensorPtr &Come) {
                     return scratchOfProduct(Op, Base, A, B, Node, Come);
                   });
}

/// add, sub, mul, div, pow, maximum, hypot, and with a trailing "_" in place.
static OperatorResult binary(OperatorCall &Op) {
  const StringRef Base = Op.Base;
  const Cell Second = Op.find("other exponent value"),
             First = Op.find("self input");
  if (isNumber(First) || isNumber(Second))
    return withNumber(Op, First, Second);
  const Tensor A = Op.self(), B = Op.tensor("other exponent tensor2");
  const std::optional<Sizes> Both = Op.fitted({A, B});
  if (!Both)
    return {};
  ElementType Type = promoted(*A, *B);
  if (Base == "div" && !isFloating(Type))
    Type = Float32;
  const bool InPlace = Op.isInPlace();
  Tensor Out = A;
  if (!InPlace) {
    Out = Op.makeOf(*Both, Type, {A, B});
  } else if (A->sizes() != *Both) {
    Op.throws("'" + Op.Name + "' cannot change sizes " + shown(A->sizes()) +
              " to " + shown(*Both) + " in place");
  }
  // Operands of another type are converted first, and a result in place of one
  // is made aside.
  const BlockPtr Converted =
      Op.scratch(convertedBytes(A, Type) + convertedBytes(B, Type) +
                 (InPlace ? convertedBytes(A, Type) : 0));
  return Base == "add" || Base == "sub" ? recordSum(Op, Out, A, B)
                                        : recordProduct(Op, Out, A, B);
}

//===----------------------------------------------------------------------===//
// Of three
//===----------------------------------------------------------------------===//

/// What backward() of lerp, addcmul and addcdiv has.
static uint64_t scratchOfThree(const OperatorCall &Op, const Tensor &A,
                               const Tensor &B, const Tensor &C, bool IsLerp,
                               bool Divides, const GradientNode &Node,
                               const TensorPtr &Come) {
  const bool NeedsC = C && C->needsGradient();
  const ElementType Type = typeOf(Come);
  const uint64_t OfB = bytesOf(B) + convertedBytes(B, Type);
  const uint64_t OfC =
      C ? bytesOf(C) + (IsLerp ? 0 : convertedBytes(C, Type)) : 0;
  auto BothBytes = [&](const Tensor &X, const Tensor &Y) {
    const std::optional<Sizes> Both = broadcast(X->sizes(), Y->sizes());
    return Both ? elementsOf(productOf(*Both), Type.Bytes) : 0;
  };
  InBackward Uses(Op, Node, Come);
  if (B->needsGradient())
    Uses.make(IsLerp ? 0 : OfC);
  if (IsLerp && A->needsGradient())
    Uses.make(OfC);
  if (NeedsC)
    Uses.make(IsLerp    ? BothBytes(A, B)
              : Divides ? OfB + OfC + BothBytes(B, C) + bytesOf(Come)
                        : OfB);
  Uses.reduce(A, IsLerp);
  Uses.reduce(B);
  Uses.reduce(C);
  return Uses.scratch();
}

/// lerp(self, end, weight), addcmul and addcdiv(self, tensor1, tensor2).
static OperatorResult weighed(OperatorCall &Op) {
  const bool InPlace = Op.isInPlace(), IsLerp = Op.Name.starts_with("lerp"),
             Divides = Op.Name.starts_with("addcdiv");
  const Tensor A = Op.self(), B = Op.tensor(IsLerp ? "end" : "tensor1");
  const Cell Weight = Op.find("weight");
  const Tensor C = IsLerp && isNumber(Weight)
                       ? nullptr
                       : Op.tensor(IsLerp ? "weight" : "tensor2");
  const std::optional<Sizes> All = Op.fitted({A, B, C});
  if (All && InPlace && A->sizes() != *All)
    Op.doesNotFit(A, B);
  if (Op.Trouble)
    return {};
  const bool NeedsB = B->needsGradient(), NeedsC = C && C->needsGradient();
  const KeptMemory Kept[] = {!IsLerp || !NeedsC ? nullptr
                             : InPlace          ? Op.allocate(bytesOf(A))
                                                : A->Memory,
                             NeedsC ? B : nullptr,
                             IsLerp || NeedsB || Divides ? C : nullptr};
  TensorInstance Both = A->sizes().empty() ? *B : *A;
  Both.Shape.Type = promoted(*A, *B);
  const ElementType Type = C && !IsLerp ? promoted(Both, *C) : typeOf(A);
  const uint64_t ConvertedB = convertedBytes(B, Type),
                 ConvertedC = C && !IsLerp ? convertedBytes(C, Type) : 0;
  const Tensor Out = InPlace ? A : Op.makeOf(*All, Type, {A, B, C});
  Op.scratch(convertedBytes(A, Type) + ConvertedB + ConvertedC);
  if (Divides && ConvertedB + ConvertedC && NeedsC)
    Op.S.atMost("all operands of another type count as converted at once");
  const TensorPtr Come;
  return Op.record(
      {Out},
      {madeOf(A, {Come, IsLerp ? C : nullptr},
              IsLerp || A->sizes() != *All ? GradientKind::Fresh
                                           : GradientKind::Alias),
       madeOf(B, {Come, C}),
       madeOf(C, {Come, B,
                  IsLerp    ? A
                  : Divides ? C
                            : Come})},
      Kept,
      [A = withoutMemory(A), B = withoutMemory(B), C = withoutMemory(C), IsLerp,
       Divides](const OperatorCall &Op, const GradientNode &Node,
                const TensorPtr &Come) {
        return scratchOfThree(Op, A, B, C, IsLerp, Divides, Node, Come);
      });
}

/// max(other) and min(other); the others are reductions.
static OperatorResult larger(OperatorCall &Op) {
  return Op.find("other")
             ? binary(Op)
             : Op.runAs(Op.Base == "max" ? "max(dim)" : "min(dim)");
}

Tensor operator-(double A, const Tensor &B) {
  return B.Op->run("sub", {{"self", A}, {"other", B}});
}

//===----------------------------------------------------------------------===//
// Of one tensor
//===----------------------------------------------------------------------===//

/// What the gradient of \p T is computed of, in the order in which LibTorch
/// names the operands: most formulas begin with what comes.
static std::vector<TensorPtr> orderOfGradient(const OperatorCall &Op,
                                              const Tensor &T) {
  constexpr StringRef OwnFirst = "relu leaky_relu threshold clamp clamp_min "
                                 "clamp_max erf",
                      InOrder = "rrelu triu tril roll cumsum";
  if (llvm::is_contained(llvm::split(OwnFirst, ' '), Op.Base))
    return {T, nullptr};
  if (!llvm::is_contained(llvm::split(InOrder, ' '), Op.Base))
    return {};
  const Tensor Ordered = withoutMemory(T);
  Ordered->Strides = contiguousStrides(T->sizes());
  return {Ordered};
}

/// A function of each element.
static OperatorResult unary(OperatorCall &Op) {
  const bool InPlace = Op.isInPlace() || Op.flag("inplace");
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
  if (!InPlace && (Op.Base.starts_with("cum") || Op.Base.starts_with("tri")))
    Out->Strides = contiguousStrides(T->sizes());
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
  const double Whole = std::floor(Op.Rule->Scratch);
  const auto Needed = static_cast<uint64_t>(
      Whole * Size + (Op.Rule->Scratch - Whole) * 4 * elementsIn(T));
  // Matrices are read as they lie, stacks of them where they follow each other.
  const bool ReadsInOrder = !InPlace && T->sizes().size() > 2 &&
                            (Op.Base == "triu" || Op.Base == "tril");
  return Op.record({Out}, {madeOf(T, orderOfGradient(Op, T))}, Kept, Needed,
                   Needed + (ReadsInOrder ? Size : 0));
}

/// Truths, or what `&` makes of integers.
static OperatorResult compare(OperatorCall &Op) {
  const Tensor T = Op.self();
  std::optional<Sizes> To = T->sizes();
  ElementType Type = typeOf(T);
  const Cell Second = Op.find("other");
  const Tensor Other = Op.tensorIn(Second) ? Op.tensor("other") : nullptr;
  if (Other) {
    To = broadcast(*To, Other->sizes());
    Type = promoted(*T, *Other);
  } else if (Second && Second->What == Value::Real && !isFloating(Type)) {
    Type = Float32;
  }
  if (!To)
    Op.throws("'" + Op.Name + "' does not fit its sizes");
  const Tensor Out =
      Op.makeOf(To.value_or(Sizes()),
                Op.Name.starts_with("bitwise_") ? Type : Bool, {T, Other});
  if (!Op.Name.starts_with("logical_"))
    Op.scratch(convertedBytes(T, Type) +
               (Other ? convertedBytes(Other, Type) : 0));
  return Out;
}

static OperatorResult logSigmoid(OperatorCall &Op) {
  const Tensor T = Op.self(), Out = Op.makeLike(T), Buffer = Op.makeLike(T);
  Op.copyInOrder(T);
  return Op.record({Out}, {{T}}, {T, Buffer});
}

static constexpr OperatorRule ElementRows[] = {
    {"add sub mul div pow multiply=mul divide=div true_divide=div "
     "subtract=sub maximum minimum atan2 remainder fmod floor_divide "
     "hypot xlogy logaddexp",
     binary},
    {"max min", larger},
    {"lerp addcmul addcdiv", weighed},
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
const RuleTable ElementRules = {ElementRows, /*InPlace=*/true,
                                /*NeedsDimension=*/false,
                                GradientOrder::OfGradient};

/// normal(mean, std), of which one may be a number.
static OperatorResult drawNormal(OperatorCall &Op) {
  auto Operand = [&](StringRef Which) -> Tensor {
    return isNumber(Op.find(Which)) ? nullptr : Op.maybeTensor(Which);
  };
  const Tensor Mean = Operand("mean"), Deviation = Operand("std");
  const std::optional<Sizes> To = Op.fitted({Mean, Deviation});
  if (!To || (!Mean && !Deviation))
    return {};
  const Tensor Out = Op.make(*To, Mean ? Mean : Deviation);
  if (!Deviation)
    Op.scratch(bytesOf(Out));
  return Op.record({Out}, {{Mean}, {Deviation}});
}

/// bernoulli() and poisson(): numbers that the elements are the chances of.
static OperatorResult drawEach(OperatorCall &Op) {
  const Tensor T = Op.self(), Out = Op.makeLike(T);
  return Op.find("p") ? OperatorResult(Out) : Op.record({Out}, {{T}});
}

/// multinomial(): places.
static OperatorResult drawPlaces(OperatorCall &Op) {
  const Tensor T = Op.self();
  Sizes To = T->sizes();
  if (To.empty())
    return Op.doesNotTake(T);
  const uint64_t Row = elementsOf(To.back(), typeOf(T).Bytes);
  To.back() = Op.integer("num_samples", 1);
  const bool IsOne = To.back() == 1;
  const bool Replaces = Op.flag("replacement") && !(IsOne && Op.isSince(2, 0));
  // The best of quotients; or sums over one row, which is drawn from again.
  const BlockPtr Drawn = Op.scratch(Replaces ? Row : bytesOf(T));
  const BlockPtr Best = Op.scratch(
      IsOne || Replaces ? 0 : elementsOf(productOf(To), typeOf(T).Bytes));
  return Op.make(To, Int64);
}

static constexpr OperatorRule TruthRows[] = {
    {"normal", drawNormal},
    {"bernoulli poisson", drawEach},
    {"multinomial", drawPlaces},
    {"eq ne lt le gt ge equal less less_equal greater greater_equal "
     "not_equal logical_and logical_or logical_xor logical_not isnan "
     "isinf isfinite bitwise_and bitwise_or bitwise_xor bitwise_not",
     compare},
    // They fill the tensor, and forget what was in it.
    {"fill_ zero_ normal_ uniform_ bernoulli_ random_ exponential_ copy_ "
     "set_data",
     [](OperatorCall &Op) -> OperatorResult { return Op.self(); }},
};
const RuleTable TruthRules = {TruthRows, /*InPlace=*/false,
                              /*NeedsDimension=*/false};

} // namespace libtorch_tidy::bytes
