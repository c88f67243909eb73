//===- ComposedOperators.cpp - Functions that run other operators ---------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What LibTorch composes of other operators, in its order: the functionals of
/// torch/nn/functional/*.h, and those of ATen that have no derivative of their
/// own. A variable here lives as long as LibTorch's does.
///
//===----------------------------------------------------------------------===//

#include "checks/torch/OperatorRules.h"

using llvm::ArrayRef;

namespace libtorch_tidy::torch {

OperatorResult Operator::cosineSimilarity() {
  const TensorPtr A = tensor({"x1"}), B = tensor({"x2"});
  const int64_t Dimension = integer({"dim"}, 1);
  const std::optional<Sizes> Both = fitted({A, B});
  if (!Both)
    return *Trouble;
  auto Expanded = [&](const TensorPtr &X) {
    return part("expand", {{"self", argument(X)}, {"size", argument(*Both)}});
  };
  auto Sum = [&](const TensorPtr &X, bool Keeps) {
    return part("sum", {{"self", argument(X)},
                        {"dim", argument(Dimension)},
                        {"keepdim", argument(Keeps)}});
  };
  const TensorPtr X = Expanded(A), Y = Expanded(B);
  const TensorPtr SquareX = Sum(apply("pow", X, 2), true),
                  SquareY = Sum(apply("pow", Y, 2), true);
  const TensorPtr NormX = apply("sqrt_", SquareX),
                  NormY = apply("sqrt_", SquareY);
  const TensorPtr UnitX = apply("div", X, NormX),
                  UnitY = apply("div", Y, NormY);
  return one(Sum(apply("mul", UnitX, UnitY), false));
}

/// Of three, four or five dimensions.
OperatorResult Operator::localResponseNorm() {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  const int64_t Width = integer({"size"}, 1);
  if (From.size() < 3 || !areSmall({{Width}})) {
    throws("'" + Name + "' is given a tensor of " + shown(From));
    return *Trouble;
  }
  TensorPtr Sums = part("unsqueeze", {{"self", argument(apply("mul", X, X))},
                                      {"dim", argument(1)}});
  Sizes Padding = {0, 0}, Kernel = {Width, 1};
  const bool IsFlat = From.size() == 3;
  if (!IsFlat) {
    Sums = viewOf(Sums, {From[0], 1, From[1], From[2], -1});
    Padding.assign(4, 0);
    Kernel.push_back(1);
  }
  Padding.push_back(Width / 2);
  Padding.push_back((Width - 1) / 2);
  Sums = part("pad", {{"input", argument(Sums)}, {"pad", argument(Padding)}});
  Sums = part(IsFlat ? "avg_pool2d" : "avg_pool3d",
              {{"input", argument(Sums)},
               {"kernel_size", argument(Kernel)},
               {"stride", argument(1)}});
  Sums = part("squeeze", {{"self", argument(Sums)}, {"dim", argument(1)}});
  if (!IsFlat)
    Sums = viewOf(Sums, From);
  {
    const TensorPtr Scaled = apply("mul", Sums, 2),
                    Sum = apply("add", Scaled, 1);
    Sums = apply("pow", Sum, 0.75);
  }
  return one(apply("div", X, Sums));
}

/// CrossMapLRN2d, a function with a backward() of its own.
OperatorResult Operator::crossMapNorm() {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  if (From.size() != 4) {
    throws("'" + Name + "' is given a tensor of " + shown(From));
    return *Trouble;
  }
  const TensorPtr Out = make(From, X), Scale = make(From, X);
  const unsigned Each = X->Shape.Type.value_or(Float32).Bytes;
  const int64_t Inside = productOf({From[2], From[3]});
  record({Out}, {{X}}, {X->Memory, Out->Memory, Scale->Memory},
         elementsOf(productOf({From[1] + integer({"size"}, 1) - 1, Inside}),
                    Each) +
             elementsOf(Inside, Each));
  return one(Out);
}

OperatorResult Operator::gumbelSoftmax() {
  const TensorPtr Logits = tensor({"logits"});
  TensorPtr Noise;
  {
    const TensorPtr Drawn = makeLike(Logits), Log = apply("log", Drawn);
    Noise = apply("neg", Log);
  }
  {
    const TensorPtr Sum = apply("add", Logits, Noise);
    Noise = apply("div", Sum, 2);
  }
  Arguments With = {{"self", argument(Noise)},
                    {"dim", argument(integer({"dim"}, -1))}};
  const TensorPtr Soft = part("softmax", With);
  if (!flag("hard", false))
    return one(Soft);
  With["self"] = argument(Soft);
  With["keepdim"] = argument(1);
  const std::vector<TensorPtr> Largest = parts("max", With);
  const TensorPtr Hard = makeLike(Logits);
  const TensorPtr Difference = apply("sub", Hard, apply("detach", Soft));
  return one(apply("add", Difference, Soft));
}

/// pdist(x), and cdist(x1, x2, p, compute_mode).
OperatorResult Operator::distances() {
  if (Name == "pdist") {
    const TensorPtr X = self();
    if (X->sizes().size() != 2) {
      throws("'pdist' is given a tensor of " + shown(X->sizes()));
      return *Trouble;
    }
    const int64_t N = X->sizes()[0];
    const TensorPtr Out = make({productOf({N, N - 1}) / 2}, X);
    record({Out}, {{X}}, {X->Memory, Out->Memory});
    return one(Out);
  }
  const TensorPtr A = tensor({"x1"}), B = tensor({"x2"});
  const Sizes Left = A->sizes(), Right = B->sizes();
  if (Left.size() < 2 || Left.size() != Right.size() ||
      Left.back() != Right.back() ||
      ArrayRef(Left).drop_back(2) != ArrayRef(Right).drop_back(2)) {
    notFollowed("'cdist' of sizes " + shown(Left) + " and " + shown(Right) +
                " is not followed");
    return *Trouble;
  }
  const int64_t P = Left[Left.size() - 2], R = Right[Right.size() - 2],
                Width = Left.back();
  const int64_t Batch = productOf(ArrayRef(Left).drop_back(2));
  const unsigned Each = A->Shape.Type.value_or(Float32).Bytes;
  Sizes To = Left;
  To.back() = R;
  const int64_t Mode = integer({"compute_mode"}, 0);
  const bool Multiplies = maybeReal({"p"}).value_or(2) == 2 &&
                          (Mode == 1 || (Mode == 0 && (P > 25 || R > 25)));
  if (Multiplies) {
    // Of the squares that a product of matrices adds up.
    const BlockPtr Squares =
        S.scratch(elementsOf(productOf({Batch, P, Width + 4}), Each) +
                  elementsOf(productOf({Batch, R, Width + 4}), Each));
    const TensorPtr Out = make(To, A);
    // backward() makes both gradients, whichever is asked for.
    const uint64_t Own = (A->needsGradient() ? bytesOf(A) : 0) +
                         (B->needsGradient() ? bytesOf(B) : 0);
    record({Out}, {{A}, {B}}, {A->Memory, B->Memory, Out->Memory},
           bytesOf(Out) + 3 * (bytesOf(A) + bytesOf(B)) - Own);
    return one(Out);
  }
  const TensorPtr Out = make(To, A);
  const uint64_t Size = bytesOf(Out);
  // For the second gradient, the other two are transposed.
  record({Out}, {{A}, {B}}, {A->Memory, B->Memory, Out->Memory},
         B->needsGradient() ? 2 * Size : 0,
         B->needsGradient() ? 2 * Size : Size);
  return one(Out);
}

std::optional<OperatorResult> Operator::runComposed() {
  if (Name == "softsign") {
    const TensorPtr X = self(), Absolute = apply("abs", X),
                    Sum = apply("add", Absolute, 1);
    return one(apply("div", X, Sum));
  }
  if (Name == "tanhshrink") {
    const TensorPtr X = self();
    return one(apply("sub", X, apply("tanh", X)));
  }
  if (Name == "softmax2d")
    return one(
        part("softmax", {{"self", argument(self())}, {"dim", argument(-3)}}));
  if (Name == "normalize") {
    const TensorPtr X = self();
    Argument Power = realArgument(maybeReal({"p"}).value_or(2));
    TensorPtr Norm = part("norm", {{"self", argument(X)},
                                   {"p", Power},
                                   {"dim", argument(integer({"dim"}, 1))},
                                   {"keepdim", argument(1)}});
    Norm = apply("clamp_min", Norm);
    Norm =
        part("expand_as", {{"self", argument(Norm)}, {"other", argument(X)}});
    return one(apply("div", X, Norm));
  }
  if (Name == "pairwise_distance") {
    const TensorPtr Difference = apply("sub", tensor({"x1"}), tensor({"x2"}));
    const TensorPtr Sum = apply("add", Difference, 1e-6);
    return one(part("norm", {{"self", argument(Sum)},
                             {"p", realArgument(maybeReal({"p"}).value_or(2))},
                             {"dim", argument(-1)},
                             {"keepdim", argument(flag("keepdim", false))}}));
  }
  if (Name == "cosine_similarity")
    return cosineSimilarity();
  if (Name == "local_response_norm")
    return localResponseNorm();
  if (Name == "cross_map_lrn2d")
    return crossMapNorm();
  if (Name == "gumbel_softmax")
    return gumbelSoftmax();
  if (Name == "pdist" || Name == "cdist")
    return distances();
  return std::nullopt;
}

} // namespace libtorch_tidy::torch
