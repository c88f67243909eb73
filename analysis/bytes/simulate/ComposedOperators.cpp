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

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <set>

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

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

/// AdaptiveLogSoftmaxWithLoss::forward(), from
/// torch/csrc/api/src/nn/modules/adaptive.cpp: with all targets in the cluster
/// that takes the most for one. How many are in which depends on their values.
OperatorResult Operator::adaptiveLogSoftmax() {
  const TensorPtr X = self(), Target = tensor({"target"}),
                  Head = tensor({"head_weight"});
  if (Trouble)
    return *Trouble;
  if (X->sizes().size() != 2 || Target->sizes().size() != 1)
    return notFollowed(
        "'AdaptiveLogSoftmaxWithLoss' without a batch is not followed");
  TensorPtr Down, Up; // The layers of the cluster.
  int64_t Most = -1;
  for (unsigned I = 0;; ++I) {
    const std::string Layers = ("tail_" + Twine(I)).str();
    const TensorPtr First = maybeTensor({Layers + "_0_weight"}),
                    Second = maybeTensor({Layers + "_1_weight"});
    if (!First || !Second)
      break;
    const int64_t Width = First->sizes()[0] + Second->sizes()[0];
    if (Width > Most) {
      Most = Width;
      Down = First;
      Up = Second;
    }
  }
  const int64_t N = Target->sizes()[0];
  const TensorPtr Result = make({N}, X), Heads = S.make({N}, Int64);
  auto Picked = [&](const TensorPtr &From, const TensorPtr &Which) {
    return part(
        "squeeze",
        {{"self", argument(part("gather",
                                {{"self", argument(From)},
                                 {"dim", argument(1)},
                                 {"index", argument(viewOf(Which, {N, 1}))}}))},
         {"dim", argument(1)}});
  };
  auto LogSoftmax = [&](const TensorPtr &Of) {
    return along("log_softmax", Of, 1);
  };
  if (Down) {
    const TensorPtr Mask = S.make({N}, Bool), Rows = S.make({N}, Int64),
                    Relative = S.make({N}, Int64);
    const TensorPtr Inputs = part("index_select", {{"self", argument(X)},
                                                   {"dim", argument(0)},
                                                   {"index", argument(Rows)}});
    const TensorPtr Output =
                        linearOf(linearOf(Inputs, Down, nullptr), Up, nullptr),
                    Log = LogSoftmax(Output), Own = Picked(Log, Relative);
    part("index_copy_", {{"self", argument(Result)},
                         {"dim", argument(0)},
                         {"index", argument(Rows)},
                         {"source", argument(Own)}});
  }
  const TensorPtr Output = linearOf(X, Head, maybeTensor({"head_bias"})),
                  Log = LogSoftmax(Output);
  apply("add_", Result, Picked(Log, Heads));
  scratch(bytesOf(Result)); // (-output).mean()
  return one(Result);
}

/// Of three, four or five dimensions.
OperatorResult Operator::localResponseNorm() {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  const int64_t Width = integer({"size"}, 1);
  if (From.size() < 3 || !areSmall({{Width}}))
    return throws("'" + Name + "' is given a tensor of " + shown(From));
  TensorPtr Sums = along("unsqueeze", apply("mul", X, X), 1);
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
  Sums = along("squeeze", Sums, 1);
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
  if (From.size() != 4)
    return throws("'" + Name + "' is given a tensor of " + shown(From));
  const TensorPtr Out = make(From, X), Scale = make(From, X);
  const unsigned Each = typeOf(X).Bytes;
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
    if (X->sizes().size() != 2)
      return throws("'pdist' is given a tensor of " + shown(X->sizes()));
    const int64_t N = X->sizes()[0];
    const TensorPtr Out = make({productOf({N, N - 1}) / 2}, X);
    record({Out}, {{X}}, {X->Memory, Out->Memory});
    return one(Out);
  }
  const TensorPtr A = tensor({"x1"}), B = tensor({"x2"});
  const Sizes Left = A->sizes(), Right = B->sizes();
  if (Left.size() < 2 || Left.size() != Right.size() ||
      Left.back() != Right.back() ||
      ArrayRef(Left).drop_back(2) != ArrayRef(Right).drop_back(2))
    return notFollowed("'cdist' of sizes " + shown(Left) + " and " +
                       shown(Right) + " is not followed");
  const int64_t P = Left[Left.size() - 2], R = Right[Right.size() - 2],
                Width = Left.back();
  const int64_t Batch = productOf(ArrayRef(Left).drop_back(2));
  const unsigned Each = typeOf(A).Bytes;
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

/// The product of two tensors of the same labels, summed over dimensions
/// \p Summed, which stay with a size of 1: at::native::sumproduct_pair().
TensorPtr Operator::sumOfProducts(TensorPtr A, TensorPtr B,
                                  const Sizes &Summed) {
  if (Summed.empty())
    return apply("mul", A, B);
  const Sizes Left = A->sizes(), Right = B->sizes();
  Sizes Both, OnlyA, OnlyB;
  for (size_t D = 0; D < Left.size(); ++D) {
    if (llvm::is_contained(Summed, int64_t(D)))
      continue;
    const bool InA = Left[D] > 1, InB = Right[D] > 1;
    (InA && InB ? Both : InA ? OnlyA : OnlyB).push_back(D);
  }
  auto Size = [](const Sizes &Of, const Sizes &Dimensions) {
    Sizes Factors;
    for (const int64_t D : Dimensions)
      Factors.push_back(Of[D]);
    return productOf(Factors);
  };
  auto LaidOut = [&](const TensorPtr &T,
                     std::initializer_list<ArrayRef<int64_t>> Order, Sizes To) {
    Sizes All;
    for (const ArrayRef<int64_t> Part : Order)
      llvm::append_range(All, Part);
    const TensorPtr Permuted =
        part("permute", {{"self", argument(T)}, {"dims", argument(All)}});
    return reshapeOf(Permuted, To);
  };
  const int64_t Matrices = Size(Left, Both), Inner = Size(Left, Summed);
  A = LaidOut(A, {Both, OnlyA, Summed, OnlyB},
              {Matrices, Size(Left, OnlyA), Inner});
  B = LaidOut(B, {Both, Summed, OnlyB, OnlyA},
              {Matrices, Inner, Size(Right, OnlyB)});
  TensorPtr Product =
      part("bmm", {{"self", argument(A)}, {"mat2", argument(B)}});
  Sizes To, Back(Left.size());
  auto Add = [&](const Sizes &Dimensions, const Sizes *Of) {
    for (const int64_t D : Dimensions) {
      Back[D] = To.size();
      To.push_back(Of ? (*Of)[D] : 1);
    }
  };
  Add(Both, &Left);
  Add(OnlyA, &Left);
  Add(Summed, nullptr);
  Add(OnlyB, &Right);
  Product = viewOf(Product, To);
  return part("permute",
              {{"self", argument(Product)}, {"dims", argument(Back)}});
}

/// einsum() of one or two tensors whose labels are letters, as
/// aten/src/ATen/native/Linear.cpp has it.
OperatorResult Operator::einsum() {
  std::vector<TensorPtr> Of = tensors({"tensors", "operands"});
  std::string Equation = text({"equation"});
  Equation.erase(std::remove(Equation.begin(), Equation.end(), ' '),
                 Equation.end());
  const size_t Arrow = Equation.find("->");
  llvm::SmallVector<StringRef, 2> Labels;
  StringRef(Equation).take_front(Arrow).split(Labels, ',');
  if (Trouble || Arrow == std::string::npos || Of.size() > 2 ||
      Labels.size() != Of.size() || StringRef(Equation).contains('.') ||
      llvm::any_of(Labels, [](StringRef Own) {
        return std::set<char>(Own.begin(), Own.end()).size() != Own.size();
      }))
    return notFollowed("this form of 'einsum' is not followed");
  std::map<char, int64_t> SizeOf;
  for (size_t I = 0; I < Of.size(); ++I) {
    const Sizes Own = Of[I]->sizes();
    if (Own.size() != Labels[I].size())
      return throws("'einsum' has " + Twine(Labels[I].size()) +
                    " labels for a tensor of " + shown(Own));
    for (size_t D = 0; D < Own.size(); ++D) {
      int64_t &Known = SizeOf.try_emplace(Labels[I][D], Own[D]).first->second;
      if (Known != Own[D] && Known != 1 && Own[D] != 1)
        throws("'einsum' gives one label to sizes " + Twine(Known) + " and " +
               Twine(Own[D]));
      Known = std::max(Known, Own[D]);
    }
  }
  // The labels of the result come first, then those that are summed over.
  std::string Order = Equation.substr(Arrow + 2);
  const size_t InResult = Order.size();
  for (const char Label : Order)
    if (!SizeOf.count(Label))
      return throws("'einsum' has a label in its result that no tensor has");
  for (const auto &[Label, Size] : SizeOf)
    if (!StringRef(Order).contains(Label))
      Order.push_back(Label);
  for (size_t I = 0; I < Of.size(); ++I) {
    Sizes Permutation;
    int64_t Next = Labels[I].size();
    for (const char Label : Order) {
      const size_t D = Labels[I].find(Label);
      if (D == StringRef::npos)
        Of[I] = along("unsqueeze", Of[I], -1);
      Permutation.push_back(D == StringRef::npos ? Next++ : D);
    }
    Of[I] = part("permute",
                 {{"self", argument(Of[I])}, {"dims", argument(Permutation)}});
  }
  if (Trouble)
    return *Trouble;
  if (Of.size() == 1) {
    Sizes Summed;
    for (size_t D = InResult; D < Order.size(); ++D)
      Summed.push_back(D);
    return one(Summed.empty() ? Of[0]
                              : part("sum", {{"self", argument(Of[0])},
                                             {"dim", argument(Summed)}}));
  }
  // What only one of them has is summed up first.
  Sizes Both, OnlyOne[2];
  for (size_t D = InResult; D < Order.size(); ++D) {
    const bool InA = Of[0]->sizes()[D] != 1, InB = Of[1]->sizes()[D] != 1;
    if (InA && InB)
      Both.push_back(D);
    else if (InA || InB)
      OnlyOne[InB].push_back(D);
  }
  for (size_t I = 0; I < 2; ++I)
    if (!OnlyOne[I].empty())
      Of[I] = part("sum", {{"self", argument(Of[I])},
                           {"dim", argument(OnlyOne[I])},
                           {"keepdim", argument(1)}});
  const TensorPtr Out = sumOfProducts(Of[0], Of[1], Both);
  if (Order.size() == InResult)
    return one(Out);
  Sizes To = Out->sizes();
  To.resize(InResult);
  return one(viewOf(Out, To));
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
    return one(along("softmax", self(), -3));
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
  if (Name == "adaptive_log_softmax_with_loss")
    return adaptiveLogSoftmax();
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
  if (Name == "einsum")
    return einsum();
  return std::nullopt;
}

} // namespace libtorch_tidy::bytes
