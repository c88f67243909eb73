//===- ElementOperators.cpp - Element by element, reductions --------------===//
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

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Of one tensor
//===----------------------------------------------------------------------===//

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
  const bool InPlace = isInPlace() || flag("inplace", false);
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

/// Truths, or what `&` makes of integers.
OperatorResult Operator::compare() {
  const TensorPtr T = self();
  std::optional<Sizes> To = T->sizes();
  ElementType Type = typeOf(T);
  if (tensorIn(find({"other"}))) {
    const TensorPtr Other = tensor({"other"});
    To = broadcast(*To, Other->sizes());
    Type = promoted(*T, *Other);
  }
  if (!To)
    throws("'" + Name + "' does not fit its sizes");
  return one(
      make(To.value_or(Sizes()), Name.starts_with("bitwise_") ? Type : Bool));
}

OperatorResult Operator::logSigmoid() {
  const TensorPtr T = self(), Out = makeLike(T), Buffer = makeLike(T);
  copyInOrder(T);
  record({Out}, {{T}}, {T->Memory, Buffer->Memory});
  return one(Out);
}

std::optional<OperatorResult> Operator::runElementwise() {
  if (fills(Name))
    return one(self());
  if (compares(Name))
    return compare();
  const StringRef Base = base();
  for (const UnaryRow &Row : UnaryRows)
    if (Row.Name == Base)
      return unary(isInPlace() || flag("inplace", false) ? Row.InPlace
                                                         : Row.Keeps,
                   Row.Scratch);
  if (Base == "logsigmoid" || Base == "log_sigmoid")
    return logSigmoid();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Where a mask, noise or a weight lets them through
//===----------------------------------------------------------------------===//

/// dropout, feature_dropout (dropout2d, dropout3d), alpha_dropout.
OperatorResult Operator::dropout() {
  const TensorPtr T = self();
  const bool Trains = flag("train", false) || flag("training", false);
  const bool InPlace = isInPlace() || flag("inplace", false);
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
  if (isInPlace()) {
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

OperatorResult Operator::prelu() {
  const TensorPtr T = self(), Weight = tensor({"weight"});
  const TensorPtr Out = makeLike(T);
  record({Out}, {{T}, {Weight}}, {T->Memory, Weight->Memory}, bytesOf(T));
  return one(Out);
}

std::optional<OperatorResult> Operator::runMasking() {
  const StringRef Base = base();
  if (Base.ends_with("dropout") || Base.ends_with("dropout2d") ||
      Base.ends_with("dropout3d"))
    return dropout();
  if (Base == "where" || Base == "masked_fill")
    return where();
  if (Base == "prelu")
    return prelu();
  if (Base == "lerp" || Base == "addcmul" || Base == "addcdiv")
    return weighed();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Over dimensions
//===----------------------------------------------------------------------===//

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
  const BlockPtr Ordered = copyInOrder(T);
  const TensorPtr Out = make(T->sizes(), T);
  record({Out}, {{T}}, {Out->Memory}, 0, bytesOf(Out));
  return one(Out);
}

/// Half of a dimension, through the gate of the other half.
OperatorResult Operator::glu() {
  const TensorPtr T = self();
  Sizes To = T->sizes();
  const size_t D = dimension(integer({"dim"}, -1), To.size());
  if (D < To.size())
    To[D] /= 2;
  const TensorPtr Out = make(To, T);
  record({Out}, {{T}}, {T->Memory});
  return one(Out);
}

std::optional<OperatorResult> Operator::runReduction() {
  const StringRef Base = base();
  // Nothing that comes from here on goes over a dimension that is not known.
  const bool HasDimension = find({"dim"}) != nullptr;
  if (Base == "kthvalue" && !HasDimension) {
    Arguments With = Given;
    With["dim"] = argument(-1);
    return several(parts(Name, With));
  }
  if (Base == "softmin") {
    Arguments With = Given;
    With.erase("self");
    With["input"] = argument(part("neg", Given));
    return one(part("softmax", With));
  }
  const Rule WithIndices = &Operator::reduceWithIndices,
             Alone = &Operator::reduce,
             OfTwo = HasDimension ? WithIndices : Alone;
  return runRule(
      llvm::StringSwitch<Rule>(Base)
          .Cases("max", "min", "median", OfTwo)
          .Case("mode", HasDimension ? WithIndices : nullptr)
          .Cases("topk", "sort", "kthvalue", "cummax", "cummin", WithIndices)
          .Cases("sum", "mean", "std", "var", "norm", "prod", Alone)
          .Cases("logsumexp", "amax", "amin", "argmax", "argmin", Alone)
          .Cases("any", "all", "count_nonzero", Alone)
          .Cases("softmax", "log_softmax", &Operator::softmax)
          .Case("glu", &Operator::glu)
          .Default(nullptr));
}

} // namespace libtorch_tidy::bytes
