//===- ElementOperators.cpp - Element by element, reductions ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::torch {

static constexpr ElementType Bool = {"bool", 1};

namespace {

/// A function of each element.
struct UnaryRow {
  StringRef Name;
  /// What is kept until backward(): 's' the argument, 'r' the result, 'b' both,
  /// 'c' a copy of the argument, 'd' that and the result, 'n' nothing. And of
  /// the form in place; 'x': it has no backward().
  char Keeps, InPlace;
  /// What backward() needs besides the gradients, in sizes of the argument.
  double Scratch = 0;
};

} // namespace

static constexpr UnaryRow UnaryRows[] = {
    {"relu", 'r', 'r'},
    {"relu6", 's', 'c'},
    {"hardtanh", 's', 'c'},
    {"leaky_relu", 's', 'r'},
    {"rrelu", 's', 'c'},
    {"elu", 's', 'r'},
    {"selu", 's', 'r'},
    {"celu", 's', 'r'},
    {"gelu", 's', 'c'},
    {"silu", 's', 'c'},
    {"mish", 's', 'c'},
    {"sigmoid", 'r', 'r'},
    {"tanh", 'r', 'r'},
    {"softplus", 's', 'c'},
    {"hardswish", 's', 'c'},
    {"hardsigmoid", 's', 'c'},
    {"threshold", 's', 'r'},
    {"hardshrink", 's', 'c'},
    {"softshrink", 's', 'c'},
    {"exp", 'r', 'r'},
    {"exp2", 'r', 'r', 1},
    {"expm1", 'r', 'r', 1},
    {"log", 's', 'c'},
    {"log2", 's', 'c', 1},
    {"log10", 's', 'c', 1},
    {"log1p", 's', 'c', 1},
    {"sqrt", 'r', 'r', 1},
    {"rsqrt", 'r', 'r', 2},
    {"reciprocal", 'r', 'r', 2},
    {"sin", 's', 'c', 1},
    {"cos", 's', 'c', 2},
    {"tan", 'r', 'r', 2},
    {"asin", 's', 'c', 4},
    {"acos", 's', 'c', 5},
    {"atan", 's', 'c', 2},
    {"sinh", 's', 'c', 1},
    {"cosh", 's', 'c', 1},
    {"asinh", 's', 'x', 3},
    {"acosh", 's', 'x', 3},
    {"atanh", 's', 'x', 3},
    {"erf", 's', 'c', 4},
    {"erfc", 's', 'c', 4},
    {"erfinv", 's', 'c', 4},
    {"lgamma", 's', 'c', 1},
    {"digamma", 's', 'c', 1},
    {"logit", 's', 'c'},
    {"abs", 's', 'c', 1},
    {"square", 's', 'c', 2},
    {"clamp", 's', 'c', 0.5},
    {"clamp_min", 's', 'c', 0.25},
    {"clamp_max", 's', 'c', 0.25},
    {"neg", 'n', 'n'},
    {"triu", 'n', 'n'},
    {"tril", 'n', 'n'},
    {"flip", 'n', 'n'},
    {"roll", 'n', 'n'},
    {"cumsum", 'n', 'n', 2},
    {"cumprod", 'b', 'd', 3.25},
    {"sign", 'n', 'n'},
    {"trunc", 'n', 'n'},
    {"deg2rad", 'n', 'n'},
    {"rad2deg", 'n', 'n'},
    {"floor", 'n', 'n'},
    {"ceil", 'n', 'n'},
    {"round", 'n', 'n'},
    {"nan_to_num", 's', 'c', 1.25},
};

/// Fill the tensor, and forget what was in it.
static bool fills(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("fill_", "zero_", "normal_", "uniform_", "bernoulli_", true)
      .Cases("random_", "exponential_", "copy_", "set_data", true)
      .Default(false);
}

/// Give truths; `&` and similar operators, also integers.
static bool compares(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("eq", "ne", "lt", "le", "gt", "ge", true)
      .Cases("equal", "less", "less_equal", "greater", "greater_equal", true)
      .Cases("not_equal", "logical_and", "logical_or", "logical_xor", true)
      .Cases("logical_not", "isnan", "isinf", "isfinite", true)
      .Cases("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", true)
      .Default(false);
}

OperatorResult Operator::unary(char Keeps, double Scratch) {
  const bool InPlace = Name.ends_with("_") || flag("inplace", false);
  TensorPtr T = self();
  const uint64_t Size = bytesOf(T);
  // Made in evaluation, too.
  const BlockPtr Noise = Name.starts_with("rrelu") ? S.allocate(Size) : nullptr;
  if (InPlace) {
    std::vector<BlockPtr> Kept;
    if (Keeps == 'x' && records({{T}}))
      throws("backward() of '" + Name + "' is not implemented");
    if (Keeps == 'r' || Keeps == 'd')
      Kept.push_back(T->Memory);
    if ((Keeps == 'c' || Keeps == 'd') && records({{T}}))
      Kept.push_back(S.allocate(Size));
    if (Noise)
      Kept.push_back(Noise);
    record({T}, {{T}}, Kept, static_cast<uint64_t>(Scratch * Size));
    return one(T);
  }
  const bool IsReal = isFloating(typeOf(T));
  const TensorPtr Out =
      makeLike(T, IsReal || Keeps == 'n' || Name == "abs" || Name == "square" ||
                          Name.starts_with("clamp")
                      ? T->Shape.Type
                      : std::optional(Float32));
  std::vector<BlockPtr> Kept;
  if (Keeps == 's' || Keeps == 'b')
    Kept.push_back(T->Memory);
  if (Keeps == 'r' || Keeps == 'b')
    Kept.push_back(Out->Memory);
  if (Noise)
    Kept.push_back(Noise);
  const auto Needed = static_cast<uint64_t>(Scratch * Size);
  const bool ReadsInOrder = Name == "triu" || Name == "tril";
  record({Out}, {{T}}, Kept, Needed, Needed + (ReadsInOrder ? Size : 0));
  return one(Out);
}

/// What backward() of an operator of \p A and \p B has at once, where the
/// result has \p Size bytes. The gradient of B is made first; both are as large
/// as the result, until what was broadcast is added up.
static uint64_t mostInBackward(StringRef Base, bool NeedsA, bool NeedsB,
                               uint64_t A, uint64_t B, uint64_t Size) {
  const uint64_t OfB = NeedsA && NeedsB ? Size : 0;
  if (Base == "div") {
    const uint64_t Later = NeedsA && A < Size ? OfB + Size + A : 0;
    return std::max(NeedsB ? 4 * Size : 0, Later);
  }
  if (Base == "pow")
    return std::max(NeedsA ? OfB + B * 5 / 4 + 4 * Size : 0,
                    NeedsB ? A + Size * 13 / 4 : 0);
  if (Base == "atan2")
    return std::max(A + B + 2 * Size, Size + (NeedsA ? 2 * Size : 0) +
                                          (NeedsB ? 2 * Size + A : 0));
  if (Base == "hypot") // The gradient of A is made first.
    return OfB + 2 * Size;
  if (Base == "logaddexp")
    return OfB + 4 * Size;
  // maximum, minimum, and others of both.
  return OfB + Size * 5 / 2;
}

namespace {

/// What backward() of an operator has at once, in the order in which it makes
/// gradients. They are as large as the result, until those of an operand that
/// was broadcast are added up.
class InBackward {
public:
  explicit InBackward(uint64_t Size) : Size(Size) {}

  /// A gradient is made, with so much besides it.
  void make(uint64_t Besides) {
    Peak = std::max(Peak, Live + Size + Besides);
    Live += Size;
  }
  /// The gradient of \p T gets the sizes of \p T. \p IsMade: with memory of its
  /// own before that.
  void reduce(const TensorPtr &T, bool Grows, bool IsMade = true) {
    if (!T || !T->needsGradient())
      return;
    if (IsMade || Grows)
      Counted += bytesOf(T);
    if (!Grows)
      return;
    Live += bytesOf(T);
    Peak = std::max(Peak, Live);
    if (IsMade)
      Live -= Size;
  }
  /// Besides the gradients.
  uint64_t scratch() const { return Peak > Counted ? Peak - Counted : 0; }

private:
  const uint64_t Size;
  uint64_t Live = 0, Peak = 0, Counted = 0;
};

} // namespace

/// add, sub, mul, div, pow, maximum, hypot, and with a trailing "_" in place.
OperatorResult Operator::binary(StringRef Base) {
  const bool InPlace = Name.ends_with("_");
  const Argument *Second = find({"other", "exponent", "value"});
  const Argument *First = find({"self", "input"});
  auto IsNumber = [](const Argument *A) {
    return A && (A->What == Argument::Integer || A->What == Argument::Real);
  };
  const bool NumberFirst = IsNumber(First), NumberSecond = IsNumber(Second);
  if (NumberFirst || NumberSecond) {
    const TensorPtr T = NumberFirst ? tensor({"other", "exponent"}) : self();
    const Argument &Number = NumberFirst ? *First : *Second;
    const ElementType Own = typeOf(T);
    const bool BecomesReal =
        !isFloating(Own) && (Number.What == Argument::Real || Base == "div");
    const TensorPtr Out =
        InPlace ? T : makeLike(T, BecomesReal ? Float32 : Own);
    const uint64_t Size = bytesOf(Out);
    if (Base == "add" || (Base == "sub" && !NumberFirst) ||
        (!NumberFirst && (Base == "fmod" || Base == "remainder"))) {
      record({Out}, {{T, GradientKind::Alias}});
    } else if (Base == "pow") {
      std::vector<BlockPtr> Kept = {InPlace && records({{T}}) ? S.allocate(Size)
                                                              : T->Memory};
      if (NumberFirst)
        Kept.push_back(Out->Memory);
      record({Out}, {{T}}, Kept, NumberFirst ? Size : 2 * Size);
    } else if (Base == "div" && NumberFirst) {
      // reciprocal().mul(number): both have results of their own.
      std::vector<BlockPtr> Kept = {T->Memory};
      if (records({{T}}))
        Kept.push_back(S.allocate(Size));
      record({Out}, {{T}}, Kept, 3 * Size);
    } else {
      record({Out}, {{T}}, {}, 0);
    }
    return one(Out);
  }
  const TensorPtr A = self(), B = tensor({"other", "exponent", "tensor2"});
  const std::optional<Sizes> Both = fitted({A, B});
  if (!Both)
    return *Trouble;
  ElementType Type = promoted(*A, *B);
  if (Base == "div" && !isFloating(Type))
    Type = Float32;
  TensorPtr Out = A;
  if (!InPlace) {
    const TensorPtr &Like = A->sizes() == *Both ? A : B;
    Out = Like->sizes() == *Both ? makeLike(Like, Type) : make(*Both, Type);
  } else if (A->sizes() != *Both) {
    throws("'" + Name + "' cannot change sizes " + shown(A->sizes()) + " to " +
           shown(*Both) + " in place");
  }
  // Operands of another type are converted first, and a result in place of one
  // is made aside.
  const BlockPtr Converted =
      S.scratch(convertedBytes(A, Type) + convertedBytes(B, Type) +
                (InPlace ? convertedBytes(A, Type) : 0));
  const uint64_t Size = bytesOf(Out);
  const bool GrowsA = A->sizes() != *Both, GrowsB = B->sizes() != *Both;
  if (Base == "add" || Base == "sub") {
    auto Kind = [&](bool Grows, bool Negated) {
      return Grows || Negated ? GradientKind::Fresh : GradientKind::Alias;
    };
    const bool Scaled = find({"alpha"}) && maybeReal({"alpha"}) != 1.0;
    // -grad and alpha * grad are made after each other.
    const unsigned Made = (Base == "sub") + Scaled;
    InBackward Uses(Size);
    if (B->needsGradient() && Made)
      Uses.make((Made - 1) * Size);
    Uses.reduce(A, GrowsA, /*IsMade=*/false);
    Uses.reduce(B, GrowsB, Made);
    record(
        {Out},
        {{A, Kind(GrowsA, false)}, {B, Kind(GrowsB, Base == "sub" || Scaled)}},
        {}, Uses.scratch());
    return one(Out);
  }
  std::vector<BlockPtr> Kept;
  const bool NeedsA = A->needsGradient(), NeedsB = B->needsGradient();
  if (Base == "mul") {
    if (NeedsB)
      Kept.push_back(InPlace && records({{A}, {B}}) ? S.allocate(bytesOf(A))
                                                    : A->Memory);
    if (NeedsA)
      Kept.push_back(B->Memory);
    record({Out}, {{A}, {B}}, Kept,
           (NeedsA && GrowsA ? Size : 0) + (NeedsB && GrowsB ? Size : 0));
    return one(Out);
  }
  if (Base != "hypot" || NeedsB)
    Kept.push_back(B->Memory);
  if (Base == "hypot" ? NeedsA : (Base != "div" || NeedsB))
    Kept.push_back(InPlace && records({{A}, {B}}) ? S.allocate(bytesOf(A))
                                                  : A->Memory);
  if ((Base == "pow" && NeedsB) || Base == "hypot")
    Kept.push_back(Out->Memory);
  if (Base == "xlogy") {
    auto Truths = [&](const TensorPtr &T) { return productOf(T->sizes()); };
    InBackward Uses(Size);
    if (NeedsB)
      Uses.make(Size);
    if (NeedsA) // Where both are 0 is looked for.
      Uses.make(Size + Truths(A) + Truths(B) + Truths(Out));
    Uses.reduce(A, GrowsA);
    Uses.reduce(B, GrowsB);
    record({Out}, {{A}, {B}}, Kept, Uses.scratch());
    return one(Out);
  }
  const uint64_t Most =
      mostInBackward(Base, NeedsA, NeedsB, bytesOf(A), bytesOf(B), Size);
  const uint64_t Gradients =
      (NeedsA ? bytesOf(A) : 0) + (NeedsB ? bytesOf(B) : 0);
  record({Out}, {{A}, {B}}, Kept, Most > Gradients ? Most - Gradients : 0);
  return one(Out);
}

/// The sizes of \p T without the dimensions that are reduced, or with ones.
Sizes Operator::reducedSizes(const TensorPtr &T, StringRef DimName) {
  const Sizes From = T->sizes();
  const std::optional<Sizes> Asked = maybeIntegers({DimName});
  const bool Keeps = flag("keepdim", false);
  std::vector<bool> Reduced(From.size(), !Asked || Asked->empty());
  if (Asked)
    for (const int64_t D : *Asked)
      if (const size_t Which = dimension(D, From.size());
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

OperatorResult Operator::reduce() {
  const TensorPtr T = self();
  const ElementType Own = typeOf(T);
  ElementType Type = type().value_or(Own);
  if (!type() && !isFloating(Own))
    Type = Name == "any" || Name == "all"                        ? Bool
           : Name == "mean" || Name == "std" || Name == "var"    ? Float32
           : Name == "sum" || Name == "prod" || Name == "argmax" ? Int64
                                                                 : Own;
  if (Name == "argmax" || Name == "argmin" || Name == "count_nonzero")
    Type = Int64;
  const TensorPtr Out = make(reducedSizes(T, "dim"), Type);
  const uint64_t Size = bytesOf(T);
  if (Name == "sum") {
    record({Out}, {{T, Out->sizes().empty() ? GradientKind::Constant
                                            : GradientKind::Strided}});
  } else if (Name == "mean") {
    // Over dimensions it keeps what it reads, whatever for.
    record({Out}, {{T}},
           find({"dim"}) ? ArrayRef(T->Memory) : ArrayRef<BlockPtr>());
  } else if ((Name == "max" || Name == "min" || Name == "median") &&
             Out->sizes().empty()) {
    if (Name == "median" || !T->isContiguous())
      scratch(Size);
    record({Out}, {{T}}, {T->Memory, Out->Memory}, Size * 9 / 4);
  } else if (Name == "logsumexp") {
    scratch(Size + bytesOf(Out));
    record({Out}, {{T}}, {T->Memory, Out->Memory}, 2 * Size);
  } else if (Name == "amax" || Name == "amin") {
    // The places of the largest are counted, in eight bytes.
    record({Out}, {{T}}, {T->Memory, Out->Memory},
           Size * 5 / 4 + 3 * bytesOf(Out));
  } else if (Name == "prod" && find({"dim"})) {
    record({Out}, {{T}}, {T->Memory, Out->Memory},
           Size * 5 / 4 + 2 * bytesOf(Out));
  } else if (Name == "std") {
    record({Out}, {{T}}, {T->Memory, Out->Memory}, Size + 3 * bytesOf(Out));
  } else if (Name == "norm" || Name == "prod" || Name == "max" ||
             Name == "min") {
    record({Out}, {{T}}, {T->Memory, Out->Memory}, Size);
  } else if (Name == "var") {
    record({Out}, {{T}}, {T->Memory}, Size + 2 * bytesOf(Out));
  }
  return one(Out);
}

/// max(dim), min(dim), topk, sort, median, mode: values and indices.
OperatorResult Operator::reduceWithIndices() {
  const TensorPtr T = self();
  Sizes To = T->sizes();
  if (Name == "topk") {
    const size_t D = dimension(integer({"dim"}, -1), To.size());
    if (D < To.size())
      To[D] = integer({"k"}, 1);
  } else if (Name != "sort" && !Name.starts_with("cum")) {
    To = reducedSizes(T, "dim");
  }
  const TensorPtr Values = make(To, T), Indices = make(To, Int64);
  if (Name == "kthvalue") // A copy, and its places.
    scratch(bytesOf(T) + elementsOf(productOf(T->sizes()), 8));
  // A copy, unless what it goes over lies in order.
  if (const size_t D = dimension(integer({"dim"}, -1), T->sizes().size());
      Name == "median" && D < T->Strides.size() && T->Strides[D] != 1)
    scratch(bytesOf(T));
  record({Values, Indices}, {{T}},
         {Indices->Memory, Name.starts_with("cum") ? T->Memory : nullptr});
  return several({Values, Indices});
}

OperatorResult Operator::softmax() {
  TensorPtr T = self();
  // Of another type it is of a copy.
  if (type() && type()->Name != typeOf(T).Name)
    T = part("to", Given);
  const BlockPtr Ordered = T->isContiguous() ? nullptr : S.scratch(bytesOf(T));
  const TensorPtr Out = make(T->sizes(), T);
  record({Out}, {{T}}, {Out->Memory}, 0, bytesOf(Out));
  return one(Out);
}

/// dropout, feature_dropout (dropout2d, dropout3d), alpha_dropout.
OperatorResult Operator::dropout() {
  const TensorPtr T = self();
  const bool Trains = flag("train", false) || flag("training", false);
  const bool InPlace = Name.ends_with("_") || flag("inplace", false);
  if (!Trains || maybeReal({"p"}).value_or(0.5) == 0)
    return one(T);
  Sizes OfNoise = T->sizes();
  if (Name.starts_with("feature") || Name.contains("2d") || Name.contains("3d"))
    for (size_t I = 2; I < OfNoise.size(); ++I)
      OfNoise[I] = 1;
  // CUDA's dropout keeps one byte for each element, as at::native_dropout does.
  const TensorPtr Noise = S.Device == DeviceKind::Cuda && Name == "dropout"
                              ? make(OfNoise, Bool)
                              : make(OfNoise, T);
  const BlockPtr Second =
      Name.contains("alpha") ? S.allocate(bytesOf(Noise)) : nullptr;
  const TensorPtr Out = InPlace ? T : makeLike(T);
  record({Out}, {{T}}, {Noise->Memory});
  return one(Out);
}

OperatorResult Operator::where() {
  const TensorPtr Condition = tensor({"condition", "mask"});
  const bool Fills = Name.starts_with("masked_fill");
  const TensorPtr A = self();
  const TensorPtr B = Fills ? maybeTensor({"value"}) : tensor({"other"});
  const std::optional<Sizes> All = fitted({Condition, A, B});
  if (!All)
    return *Trouble;
  if (Name.ends_with("_")) {
    record({A}, {{A}}, {Condition->Memory});
    return one(A);
  }
  const TensorPtr Out = make(*All, Fills || !B ? typeOf(A) : promoted(*A, *B));
  // Gradients are as large as the result, until they are added up.
  auto Grown = [&](const TensorPtr &T) -> uint64_t {
    return T && T->needsGradient() && T->sizes() != *All ? bytesOf(Out) : 0;
  };
  const TensorPtr Other = Fills ? nullptr : B;
  record({Out}, {{A}, {Other}}, {Condition->Memory}, Grown(A) + Grown(Other));
  return one(Out);
}

/// lerp(self, end, weight), addcmul and addcdiv(self, tensor1, tensor2).
OperatorResult Operator::weighed() {
  const bool InPlace = Name.ends_with("_"), IsLerp = Name.starts_with("lerp"),
             Divides = Name.starts_with("addcdiv");
  const TensorPtr A = self(), B = tensor({IsLerp ? "end" : "tensor1"});
  const Argument *Weight = find({"weight"});
  const bool IsNumber =
      IsLerp && Weight &&
      (Weight->What == Argument::Integer || Weight->What == Argument::Real);
  const TensorPtr C =
      IsNumber ? nullptr : tensor({IsLerp ? "weight" : "tensor2"});
  const std::optional<Sizes> All = fitted({A, B, C});
  if (All && InPlace && A->sizes() != *All)
    doesNotFit(A, B);
  if (Trouble)
    return *Trouble;
  const bool NeedsA = A->needsGradient(), NeedsB = B->needsGradient(),
             NeedsC = C && C->needsGradient();
  std::vector<BlockPtr> Kept;
  if (IsLerp) {
    if (NeedsC) {
      Kept.push_back(InPlace ? S.allocate(bytesOf(A)) : A->Memory);
      Kept.push_back(B->Memory);
    }
    if (C)
      Kept.push_back(C->Memory);
  } else {
    if (NeedsC)
      Kept.push_back(B->Memory);
    if (NeedsB || (Divides && NeedsC))
      Kept.push_back(C->Memory);
  }
  const TensorPtr Out = InPlace                   ? A
                        : A->sizes() == *All      ? makeLike(A)
                        : B->sizes() == *All      ? makeLike(B)
                        : C && C->sizes() == *All ? makeLike(C)
                                                  : make(*All, A);
  const uint64_t Size = bytesOf(Out);
  auto BothBytes = [&](const TensorPtr &X, const TensorPtr &Y) {
    const std::optional<Sizes> Both = broadcast(X->sizes(), Y->sizes());
    return Both ? elementsOf(productOf(*Both), typeOf(Out).Bytes) : 0;
  };
  auto Grows = [&](const TensorPtr &T) { return T && T->sizes() != *All; };
  InBackward Uses(Size);
  if (IsLerp) {
    if (NeedsB)
      Uses.make(0);
    if (NeedsA)
      Uses.make(C ? bytesOf(C) : 0);
    if (NeedsC)
      Uses.make(BothBytes(A, B));
  } else {
    if (NeedsB)
      Uses.make(bytesOf(C));
    if (NeedsC)
      Uses.make(Divides ? bytesOf(B) + bytesOf(C) + BothBytes(B, C) + Size
                        : bytesOf(B));
  }
  Uses.reduce(A, Grows(A), IsLerp);
  Uses.reduce(B, Grows(B));
  Uses.reduce(C, Grows(C));
  record({Out},
         {{A, IsLerp || A->sizes() != *All ? GradientKind::Fresh
                                           : GradientKind::Alias},
          {B},
          {C}},
         Kept, Uses.scratch());
  return one(Out);
}

std::optional<OperatorResult> Operator::runElementwise() {
  if (fills(Name))
    return one(self());
  if (compares(Name)) {
    const TensorPtr T = self();
    std::optional<Sizes> To = T->sizes();
    ElementType Type = typeOf(T);
    const Argument *Given = find({"other"});
    if (Given && Given->What == Argument::Tensor) {
      const TensorPtr Other = tensor({"other"});
      To = broadcast(*To, Other->sizes());
      Type = promoted(*T, *Other);
    }
    if (!To)
      throws("'" + Name + "' does not fit its sizes");
    return one(
        make(To.value_or(Sizes()), Name.starts_with("bitwise_") ? Type : Bool));
  }
  StringRef Base = Name;
  const bool InPlace = Base.consume_back("_");
  for (const UnaryRow &Row : UnaryRows)
    if (Row.Name == Base)
      return unary(InPlace || flag("inplace", false) ? Row.InPlace : Row.Keeps,
                   Row.Scratch);
  if (Base == "logsigmoid" || Base == "log_sigmoid") {
    const TensorPtr T = self(), Out = makeLike(T), Buffer = makeLike(T);
    if (!T->isContiguous())
      scratch(bytesOf(T));
    record({Out}, {{T}}, {T->Memory, Buffer->Memory});
    return one(Out);
  }
  if (Base == "multiply")
    Base = "mul";
  if (Base == "divide" || Base == "true_divide")
    Base = "div";
  if (Base == "subtract")
    Base = "sub";
  if (llvm::StringSwitch<bool>(Base)
          .Cases("add", "sub", "mul", "div", "pow", true)
          .Cases("maximum", "minimum", "atan2", "remainder", "fmod", true)
          .Cases("floor_divide", "hypot", "xlogy", "logaddexp", true)
          .Default(false))
    return binary(Base);
  if ((Base == "max" || Base == "min") && find({"other"}))
    return binary("maximum");
  if (Base == "kthvalue" && !find({"dim"})) {
    Arguments With = Given;
    With["dim"] = argument(-1);
    return several(parts(Name, With));
  }
  if (llvm::StringSwitch<bool>(Base)
          .Cases("max", "min", "median", "mode", find({"dim"}) != nullptr)
          .Cases("topk", "sort", "kthvalue", "cummax", "cummin", true)
          .Default(false))
    return reduceWithIndices();
  if (llvm::StringSwitch<bool>(Base)
          .Cases("sum", "mean", "std", "var", "norm", "prod", true)
          .Cases("logsumexp", "max", "min", "amax", "amin", "median", true)
          .Cases("argmax", "argmin", "any", "all", "count_nonzero", true)
          .Default(false))
    return reduce();
  if (Base == "softmax" || Base == "log_softmax")
    return softmax();
  if (Base == "softmin") {
    Arguments With = Given;
    With.erase("self");
    With["input"] = argument(part("neg", Given));
    return one(part("softmax", With));
  }
  if (Base.ends_with("dropout") || Base.ends_with("dropout2d") ||
      Base.ends_with("dropout3d"))
    return dropout();
  if (Base == "where" || Base == "masked_fill")
    return where();
  if (Base == "glu") {
    const TensorPtr T = self();
    Sizes To = T->sizes();
    const size_t D = dimension(integer({"dim"}, -1), To.size());
    if (D < To.size())
      To[D] /= 2;
    const TensorPtr Out = make(To, T);
    record({Out}, {{T}}, {T->Memory});
    return one(Out);
  }
  if (Base == "prelu") {
    const TensorPtr T = self(), Weight = tensor({"weight"});
    const TensorPtr Out = makeLike(T);
    record({Out}, {{T}, {Weight}}, {T->Memory, Weight->Memory}, bytesOf(T));
    return one(Out);
  }
  if (Base == "lerp" || Base == "addcmul" || Base == "addcdiv")
    return weighed();
  return std::nullopt;
}

} // namespace libtorch_tidy::torch
