//===- ComposedOperators.cpp - Functions that run other operators ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What LibTorch composes of other operators, in its order: the functionals of
/// torch/nn/functional/*.h, and those of ATen that have no derivative of their
/// own. A variable here lives as long as LibTorch's does.

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <set>

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

static OperatorResult cosineSimilarity(OperatorCall &Op) {
  const Tensor A = Op.tensor("x1"), B = Op.tensor("x2");
  const int64_t Dimension = Op.integer("dim", 1);
  const std::optional<Sizes> Both = Op.fitted({A, B});
  if (!Both)
    return {};
  auto Expanded = [&](const Tensor &X) {
    return X.run("expand", {{"size", *Both}});
  };
  const Tensor X = Expanded(A), Y = Expanded(B);
  auto Norm = [&](const Tensor &Of) {
    Tensor Result = Of.pow(2).sum(Dimension, true);
    Result = Result.sqrt_();
    // Clamped in place since 2.0, so not that which sqrt() keeps.
    return Op.isSince(2, 0) ? Result.run("clone") : Result;
  };
  const Tensor NormX = Norm(X), NormY = Norm(Y);
  const Tensor UnitX = X / NormX, UnitY = Y / NormY;
  return (UnitX * UnitY).sum(Dimension);
}

/// AdaptiveLogSoftmaxWithLoss::forward(), from
/// torch/csrc/api/src/nn/modules/adaptive.cpp: with all targets in the cluster
/// that takes the most for one. How many are in which depends on their values.
static OperatorResult adaptiveLogSoftmax(OperatorCall &Op) {
  const Tensor X = Op.self(), Target = Op.tensor("target"),
               Head = Op.tensor("head_weight");
  if (Op.Trouble)
    return {};
  if (X->sizes().size() != 2 || Target->sizes().size() != 1)
    return Op.notFollowed(
        "'AdaptiveLogSoftmaxWithLoss' without a batch is not followed");
  Tensor Down, Up; // The layers of the cluster.
  int64_t Most = -1;
  for (unsigned I = 0;; ++I) {
    const std::string Layers = ("tail_" + Twine(I)).str();
    const Tensor First = Op.maybeTensor(Layers + "_0_weight"),
                 Second = Op.maybeTensor(Layers + "_1_weight");
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
  const Tensor Result = Op.make({N}, X), Heads = Op.make({N}, Int64);
  auto Picked = [&](const Tensor &From, const Tensor &Which) {
    return From.gather(1, Which.view({N, 1})).squeeze(1);
  };
  if (Down) {
    Op.S.atMost("all targets count as in the largest cluster");
    const Tensor Mask = Op.make({N}, Bool), Rows = Op.make({N}, Int64),
                 Relative = Op.make({N}, Int64);
    const Tensor Inputs = X.index_select(0, Rows);
    const Tensor Output = linear(linear(Inputs, Down, nullptr), Up, nullptr),
                 Log = Output.log_softmax(1), Own = Picked(Log, Relative);
    Result.run("index_copy_", {{"dim", 0}, {"index", Rows}, {"source", Own}});
  }
  const Tensor Output = linear(X, Head, Op.maybeTensor("head_bias")),
               Log = Output.log_softmax(1);
  Result.add_(Picked(Log, Heads));
  Op.scratch(bytesOf(Result)); // (-output).mean()
  return Result;
}

/// Of three, four or five dimensions.
static OperatorResult localResponseNorm(OperatorCall &Op) {
  const Tensor X = Op.self();
  const Sizes From = X->sizes();
  const int64_t Width = Op.integer("size", 1);
  if (From.size() < 3 || !Op.areSmall({{Width}}))
    return Op.doesNotTake(X);
  Tensor Sums = (X * X).unsqueeze(1);
  Sizes Padding = {0, 0}, Kernel = {Width, 1};
  const bool IsFlat = From.size() == 3;
  if (!IsFlat) {
    Sums = Sums.view({From[0], 1, From[1], From[2], -1});
    Padding.assign(4, 0);
    Kernel.push_back(1);
  }
  Padding.push_back(Width / 2);
  Padding.push_back((Width - 1) / 2);
  Sums = Sums.run("pad", {{"pad", Padding}});
  Sums = Sums.run(IsFlat ? "avg_pool2d" : "avg_pool3d",
                  {{"kernel_size", Kernel}, {"stride", 1}});
  Sums = Sums.squeeze(1);
  if (!IsFlat)
    Sums = Sums.view(From);
  Sums = (Sums * 2 + 1).pow(0.75);
  return X / Sums;
}

/// CrossMapLRN2d, a function with a backward() of its own.
static OperatorResult crossMapNorm(OperatorCall &Op) {
  const Tensor X = Op.self();
  const Sizes From = X->sizes();
  if (From.size() != 4)
    return Op.doesNotTake(X);
  const Tensor Out = Op.make(From, X), Scale = Op.make(From, X);
  const unsigned Each = typeOf(X).Bytes;
  const int64_t Inside = productOf({From[2], From[3]});
  return Op.record(
      {Out}, {{X}}, {X, Out, Scale},
      elementsOf(productOf({From[1] + Op.integer("size", 1) - 1, Inside}),
                 Each) +
          elementsOf(Inside, Each));
}

static OperatorResult gumbelSoftmax(OperatorCall &Op) {
  const Tensor Logits = Op.tensor("logits");
  Tensor Noise = -Op.makeLike(Logits).log();
  Noise = (Logits + Noise) / 2;
  const int64_t Dimension = Op.integer("dim", -1);
  const Tensor Soft = Noise.softmax(Dimension);
  if (!Op.flag("hard"))
    return Soft;
  const std::vector<Tensor> Largest =
      Soft.runs("max", {{"dim", Dimension}, {"keepdim", 1}});
  const Tensor Hard = Op.makeLike(Logits);
  const Tensor Difference = Hard - Soft.detach();
  return Difference + Soft;
}

/// pdist(x), and cdist(x1, x2, p, compute_mode).
static OperatorResult distances(OperatorCall &Op) {
  if (Op.Name == "pdist") {
    const Tensor X = Op.self();
    if (X->sizes().size() != 2)
      return Op.doesNotTake(X);
    const int64_t N = X->sizes()[0];
    const Tensor Out = Op.make({productOf({N, N - 1}) / 2}, X);
    return Op.record({Out}, {{X}}, {X, Out});
  }
  const Tensor A = Op.tensor("x1"), B = Op.tensor("x2");
  const Sizes Left = A->sizes(), Right = B->sizes();
  if (Left.size() < 2 || Left.size() != Right.size() ||
      Left.back() != Right.back() ||
      ArrayRef(Left).drop_back(2) != ArrayRef(Right).drop_back(2))
    return Op.notFollowed("'cdist' of sizes " + shown(Left) + " and " +
                          shown(Right) + " is not followed");
  const int64_t P = Left[Left.size() - 2], R = Right[Right.size() - 2],
                Width = Left.back();
  const int64_t Batch = productOf(ArrayRef(Left).drop_back(2));
  const unsigned Each = typeOf(A).Bytes;
  Sizes To = Left;
  To.back() = R;
  const int64_t Mode = Op.integer("compute_mode");
  const bool Multiplies = Op.maybeReal("p").value_or(2) == 2 &&
                          (Mode == 1 || (Mode == 0 && (P > 25 || R > 25)));
  // Of the squares that a product of matrices adds up; their norms, and as many
  // ones, are gone before it since 2.0.
  const int64_t Norms = Op.isSince(2, 0) ? 2 : 4;
  const int64_t Squares = Multiplies ? Width + Norms : 0;
  const BlockPtr Summed =
      Op.scratch(elementsOf(productOf({Batch, P, Squares}), Each) +
                 elementsOf(productOf({Batch, R, Squares}), Each));
  // Both passes read points in order, where they are not multiplied.
  const BlockPtr OrderedA = Multiplies ? nullptr : Op.copyInOrder(A),
                 OrderedB = Multiplies ? nullptr : Op.copyInOrder(B);
  const uint64_t Ordered =
      (OrderedA ? bytesOf(A) : 0) + (OrderedB ? bytesOf(B) : 0);
  const Tensor Out = Op.make(To, A);
  const uint64_t Size = bytesOf(Out);
  // For the second gradient, the other two are transposed.
  uint64_t Scratch = B->needsGradient() ? 2 * Size : 0,
           SparseScratch = std::max(Scratch, Size);
  if (Multiplies) // Both gradients are made, whichever is asked for.
    Scratch = SparseScratch = Size + 3 * (bytesOf(A) + bytesOf(B)) -
                              gradientBytes(A) - gradientBytes(B);
  return Op.record({Out}, {{A}, {B}}, {A, B, Out}, Scratch + Ordered,
                   SparseScratch + Ordered);
}

/// The product of two tensors of the same labels, summed over dimensions
/// \p Summed, which stay with a size of 1: at::native::sumproduct_pair().
static Tensor sumOfProducts(Tensor A, Tensor B, const Sizes &Summed) {
  if (Summed.empty())
    return A * B;
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
  auto LaidOut = [&](const Tensor &T,
                     std::initializer_list<ArrayRef<int64_t>> Order, Sizes To) {
    Sizes All;
    for (const ArrayRef<int64_t> Part : Order)
      llvm::append_range(All, Part);
    const Tensor Permuted = T.permute(All);
    return Permuted.reshape(To);
  };
  const int64_t Matrices = Size(Left, Both), Inner = Size(Left, Summed);
  A = LaidOut(A, {Both, OnlyA, Summed, OnlyB},
              {Matrices, Size(Left, OnlyA), Inner});
  B = LaidOut(B, {Both, Summed, OnlyB, OnlyA},
              {Matrices, Inner, Size(Right, OnlyB)});
  Tensor Product = bmm(A, B);
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
  Product = Product.view(To);
  return Product.permute(Back);
}

/// einsum() of one or two tensors whose labels are letters, as
/// aten/src/ATen/native/Linear.cpp has it.
static OperatorResult einsum(OperatorCall &Op) {
  std::vector<Tensor> Of = Op.tensors("tensors operands");
  std::string Equation = Op.text("equation").str();
  Equation.erase(std::remove(Equation.begin(), Equation.end(), ' '),
                 Equation.end());
  const size_t Arrow = Equation.find("->");
  llvm::SmallVector<StringRef, 2> Labels;
  StringRef(Equation).take_front(Arrow).split(Labels, ',');
  if (Op.Trouble || Arrow == std::string::npos || Of.size() > 2 ||
      Labels.size() != Of.size() || StringRef(Equation).contains('.') ||
      llvm::any_of(Labels, [](StringRef Own) {
        return std::set<char>(Own.begin(), Own.end()).size() != Own.size();
      }))
    return Op.notFollowed("this form of 'einsum' is not followed");
  std::map<char, int64_t> SizeOf;
  for (size_t I = 0; I < Of.size(); ++I) {
    const Sizes Own = Of[I]->sizes();
    if (Own.size() != Labels[I].size())
      return Op.throws("'einsum' has " + Twine(Labels[I].size()) +
                       " labels for a tensor of " + shown(Own));
    for (size_t D = 0; D < Own.size(); ++D) {
      int64_t &Known = SizeOf.try_emplace(Labels[I][D], Own[D]).first->second;
      if (Known != Own[D] && Known != 1 && Own[D] != 1)
        Op.throws("'einsum' gives one label to sizes " + Twine(Known) +
                  " and " + Twine(Own[D]));
      Known = std::max(Known, Own[D]);
    }
  }
  // The labels of the result come first, then those that are summed over.
  std::string Order = Equation.substr(Arrow + 2);
  const size_t InResult = Order.size();
  for (const char Label : Order)
    if (!SizeOf.count(Label))
      return Op.throws("'einsum' has a label in its result that no tensor has");
  for (const auto &[Label, Size] : SizeOf)
    if (!StringRef(Order).contains(Label))
      Order.push_back(Label);
  for (size_t I = 0; I < Of.size(); ++I) {
    Sizes Permutation, Own;
    const bool IsParameter =
        Op.S.GradMode && Of[I]->RequiresGrad.value_or(false);
    int64_t Next = Labels[I].size();
    for (const char Label : Order) {
      const size_t D = Labels[I].find(Label);
      if (D == StringRef::npos)
        Of[I] = Of[I].unsqueeze(-1);
      else
        Own.push_back(D);
      Permutation.push_back(D == StringRef::npos ? Next++ : D);
    }
    if (IsParameter && !llvm::is_sorted(Own))
      Op.S.estimate(
          "'einsum' permutes a parameter, whose gradient is copied in "
          "the first step");
    Of[I] = Of[I].permute(Permutation);
  }
  if (Op.Trouble)
    return {};
  if (Of.size() == 2 && Order.size() == InResult)
    Op.S.estimate("an outer product of 'einsum'");
  if (Of.size() == 1) {
    Sizes Summed;
    for (size_t D = InResult; D < Order.size(); ++D)
      Summed.push_back(D);
    return Summed.empty() ? Of[0] : Of[0].sum(Summed);
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
      Of[I] = Of[I].sum(OnlyOne[I], 1);
  const Tensor Out = sumOfProducts(Of[0], Of[1], Both);
  if (Order.size() == InResult)
    return Out;
  Sizes To = Out->sizes();
  To.resize(InResult);
  return Out.view(To);
}

static OperatorResult softsign(OperatorCall &Op) {
  const Tensor X = Op.self();
  return X / (X.abs() + 1);
}

static OperatorResult tanhshrink(OperatorCall &Op) {
  const Tensor X = Op.self();
  return X - X.tanh();
}

static Tensor norm(OperatorCall &Op, const Tensor &X, int64_t Dim,
                   bool KeepDim) {
  return X.run("norm", {{"p", Op.maybeReal("p").value_or(2)},
                        {"dim", Dim},
                        {"keepdim", KeepDim}});
}

static OperatorResult normalize(OperatorCall &Op) {
  const Tensor X = Op.self();
  Tensor Norm = norm(Op, X, Op.integer("dim", 1), true);
  Norm = Norm.clamp_min();
  Norm = Norm.run("expand_as", {{"other", X}});
  return X / Norm;
}

static OperatorResult pairwiseDistance(OperatorCall &Op) {
  const Tensor Difference = Op.tensor("x1") - Op.tensor("x2");
  const Tensor Sum = Difference + 1e-6;
  return norm(Op, Sum, -1, Op.flag("keepdim"));
}

static constexpr OperatorRule ComposedRows[] = {
    {"softsign", softsign},
    {"tanhshrink", tanhshrink},
    {"softmax2d",
     [](OperatorCall &Op) -> OperatorResult { return Op.self().softmax(-3); }},
    {"normalize", normalize},
    {"pairwise_distance", pairwiseDistance},
    {"adaptive_log_softmax_with_loss", adaptiveLogSoftmax},
    {"cosine_similarity", cosineSimilarity},
    {"local_response_norm", localResponseNorm},
    {"cross_map_lrn2d", crossMapNorm},
    {"gumbel_softmax", gumbelSoftmax},
    {"pdist cdist", distances},
    {"einsum", einsum},
};
const RuleTable ComposedRules = {ComposedRows};

} // namespace libtorch_tidy::bytes
