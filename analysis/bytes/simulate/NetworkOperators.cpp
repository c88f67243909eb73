//===- NetworkOperators.cpp - Products, normalisation, embeddings ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// What a product keeps: of each one, where the other needs a gradient.
static std::vector<KeptMemory> keptOfProduct(const Tensor &A,
                                             const KeptMemory &OfA,
                                             const Tensor &B,
                                             const KeptMemory &OfB) {
  return {B->needsGradient() ? BlockPtr(OfA) : nullptr,
          A->needsGradient() ? BlockPtr(OfB) : nullptr};
}

/// Is a matrix multiplied as it lies: do its rows, or its columns, lie one
/// after the other? As at::native::addmm_impl_cpu_() has it.
static bool isRead(ArrayRef<int64_t> Of, ArrayRef<int64_t> Strides) {
  return (Strides[1] == 1 && Strides[0] >= Of[1]) ||
         (Strides[0] == 1 && Strides[1] >= Of[0]);
}

/// The same of all matrices of a gradient.
static bool readsMatrices(const TensorInstance &Gradient) {
  const Sizes Of = Gradient.sizes();
  return Of.size() < 2 ? Gradient.isDense()
                       : isRead(lastOf(Of, 2), lastOf(Gradient.Strides, 2));
}

/// All dimensions but the last as one.
static Sizes asOneMatrix(const Sizes &Of) {
  if (Of.size() <= 2)
    return Of;
  return {productOf(ArrayRef(Of).drop_back()), Of.back()};
}

/// The gradient of the product \p Out is taken as so many matrices, which are
/// one after the other: one that is seen so.
static void takeMatrices(const TensorPtr &Out, int64_t Matrices) {
  if (!Out->Maker)
    return;
  Out->Maker->Reads = readsMatrices;
  const Sizes Of = Out->sizes();
  if (Of.size() <= 2 || productOf(Of) == 0 || Matrices <= 0)
    return;
  Sizes &As = Out->Maker->SeenAs;
  As = {productOf(ArrayRef(Of).drop_back()) / Matrices, Of.back()};
  if (Matrices > 1)
    As.insert(As.begin(), Matrices);
}

/// What a product copies of \p T for the moment: one of its matrices, where it
/// does not lie so.
static uint64_t bytesOfMatrixCopy(const Tensor &T) {
  const Sizes Of = T->sizes();
  if (Of.size() < 2 || isRead(lastOf(Of, 2), lastOf(T->Strides, 2)))
    return 0;
  return elementsOf(productOf(lastOf(Of, 2)), typeOf(T).Bytes);
}

/// Are the matrices of \p T multiplied as one with \p Other, a matrix or a
/// vector? As should_fold() of ATen/native/LinearAlgebra.cpp has it.
static bool areOneMatrix(OperatorCall &Op, const Tensor &T, const Tensor &Other,
                         bool OtherIsFirst) {
  const Sizes Of = T->sizes();
  if (!Op.isSince(2, 0)) // Not those that are transposed one by one.
    return Other->sizes().size() == 1 || Of.size() != 3 || T->Strides[2] == 1 ||
           T->Strides[0] != Of[1] * Of[2];
  if (Other->needsGradient())
    return true;
  if (OtherIsFirst && Other->sizes().size() == 2)
    return false;
  return stridesOfView(OtherIsFirst ? T.transpose(-2, -1) : T,
                       {productOf(ArrayRef(Of).drop_back()), Of.back()})
      .has_value();
}

static OperatorResult linear(OperatorCall &Op) {
  const Tensor X = Op.self(), W = Op.tensor("weight"),
               B = Op.maybeTensor("bias");
  Sizes To = X->sizes();
  const Sizes OfWeight = W->sizes();
  if (To.empty() || OfWeight.size() != 2 || To.back() != OfWeight[1])
    return Op.throws("'linear' takes " +
                     (OfWeight.size() == 2 ? Twine(OfWeight[1]).str() : "?") +
                     " features, and is given a tensor of " + shown(To));
  if (!Op.haveOneKind(X, W))
    return {};
  To.back() = OfWeight[0];
  // More than two dimensions are seen as two.
  const Sizes From = X->sizes(), Flat = asOneMatrix(From);
  const bool IsApart =
      From.size() == 3 && !areOneMatrix(Op, X, W, /*OtherIsFirst=*/false);
  const std::optional<Sizes> Strides =
      IsApart ? std::nullopt : stridesOfView(X, Flat);
  const BlockPtr Seen =
      IsApart || Strides ? X->Memory : Op.allocate(bytesOf(X));
  const uint64_t Copy =
      Strides && Flat.size() == 2 && !isRead(Flat, *Strides) ? bytesOf(X) : 0;
  const Tensor Out = Op.make(To, X);
  Op.scratch(Copy);
  const uint64_t Scratch =
      IsApart ? elementsOf(From[0] * productOf(OfWeight), typeOf(X).Bytes)
      : W->needsGradient() ? Copy
                           : 0;
  // The weight is multiplied as weight.t().
  Op.record({Out},
            {{X, From.size() == 2 ? GradientKind::Fresh : GradientKind::Seen},
             {W, GradientKind::Seen},
             {B, GradientKind::Seen}},
            keptOfProduct(X, Seen, W, W), Scratch, Scratch + bytesOf(Out));
  takeMatrices(Out, IsApart ? From[0] : 1);
  return Out;
}

/// Batches on both sides are laid out for bmm(), where they are not yet.
static BlockPtr laidOut(OperatorCall &Op, const Tensor &T, const Sizes &Of,
                        const Sizes &Batch) {
  if (Batch.empty() || Of.size() <= 2)
    return T->Memory;
  Sizes Whole = Batch;
  Whole.insert(Whole.end(), Of.end() - 2, Of.end());
  const bool Grows = Whole != Of;
  const Sizes Flat = {productOf(Batch), Of[Of.size() - 2], Of.back()};
  if (!Grows && stridesOfView(T, Flat))
    return T->Memory;
  return Op.allocate(static_cast<uint64_t>(productOf(Whole)) * typeOf(T).Bytes);
}

static OperatorResult matmul(OperatorCall &Op, Tensor A, Tensor B) {
  Sizes Left = A->sizes(), Right = B->sizes();
  if (Left.empty() || Right.empty())
    return Op.throws("'" + Op.Name + "' of a tensor without dimensions");
  const bool RowOnly = Left.size() == 1, ColumnOnly = Right.size() == 1;
  if (RowOnly)
    Left.insert(Left.begin(), 1);
  if (ColumnOnly)
    Right.push_back(1);
  const int64_t Rows = Left[Left.size() - 2], Inner = Left.back(),
                Columns = Right.back();
  if (A->Shape.Type && B->Shape.Type &&
      A->Shape.Type->Name != B->Shape.Type->Name)
    return Op.throws("'" + Op.Name + "' of " + A->Shape.Type->Name + " and " +
                     B->Shape.Type->Name);
  const std::optional<Sizes> Batch =
      broadcast(ArrayRef(Left).drop_back(2), ArrayRef(Right).drop_back(2));
  if (Right[Right.size() - 2] != Inner || !Batch)
    return Op.throws("'" + Op.Name + "' of sizes " + shown(A->sizes()) +
                     " and " + shown(B->sizes()));
  Sizes To = *Batch;
  if (!RowOnly)
    To.push_back(Rows);
  if (!ColumnOnly)
    To.push_back(Columns);
  const bool Folds = Left.size() > 2 && Right.size() <= 2 &&
                     areOneMatrix(Op, A, B, /*OtherIsFirst=*/false);
  const bool FoldsRight = Left.size() <= 2 && Right.size() > 2 &&
                          areOneMatrix(Op, B, A, /*OtherIsFirst=*/true);
  BlockPtr KeptA = A->Memory, KeptB = B->Memory;
  if (Folds) {
    if (!stridesOfView(A, asOneMatrix(Left)))
      KeptA = Op.allocate(bytesOf(A));
  } else if (!FoldsRight && !Batch->empty()) {
    KeptA = laidOut(Op, A, Left, *Batch);
    KeptB = laidOut(Op, B, Right, *Batch);
  }
  // Its transpose, in order.
  if (FoldsRight &&
      !stridesOfView(B.transpose(-2, -1),
                     {productOf({productOf(*Batch), Columns}), Inner}))
    KeptB = Op.allocate(bytesOf(B));
  const Tensor Out = Op.make(To, promoted(*A, *B));
  const uint64_t CopyA = KeptA == A->Memory ? bytesOfMatrixCopy(A) : 0,
                 CopyB = KeptB == B->Memory ? bytesOfMatrixCopy(B) : 0;
  Op.scratch(FoldsRight ? bytesOf(Out) : CopyA + CopyB);
  // Gradients are as large as what was laid out, until they are added up.
  auto Grown = [&](const Tensor &T, const Sizes &Of) -> uint64_t {
    const int64_t Own = productOf(ArrayRef(Of).drop_back(2));
    if (Folds || FoldsRight || !T->needsGradient() || Own <= 0)
      return 0;
    return bytesOf(T) * (productOf(*Batch) / Own - 1);
  };
  // The gradient that is made last needs the other operand: of mm() and bmm()
  // it is that of the first.
  const bool FirstIsLast = !ColumnOnly && !Op.Base.contains("add");
  const bool EndsWithFirst =
      A->needsGradient() && (FirstIsLast || !B->needsGradient());
  const uint64_t Scratch =
      Grown(A, Left) + Grown(B, Right) + (EndsWithFirst ? CopyB : CopyA);
  // One matrix of what comes is laid out at a time.
  const int64_t Matrices = Folds || FoldsRight ? 1 : productOf(*Batch);
  // matmul() sees batches, and a row, as what mm() or bmm() takes.
  const bool IsMatmul = Op.Base == "matmul";
  const auto KindOf = [&](bool IsSeen) {
    return IsMatmul && IsSeen ? GradientKind::Seen : GradientKind::Fresh;
  };
  const bool SeesB = B->sizes().size() > 2;
  Op.record(
      {Out},
      {{A, KindOf(SeesB || A->sizes().size() > 2 || (RowOnly && !ColumnOnly))},
       {B, KindOf(SeesB)}},
      keptOfProduct(A, KeptA, B, KeptB), Scratch,
      Scratch + (Matrices > 0 ? bytesOf(Out) / Matrices : 0));
  takeMatrices(Out, FoldsRight ? 0 : Matrices);
  return Out;
}

static OperatorResult matmul(OperatorCall &Op) {
  return matmul(Op, Op.self(), Op.tensor("other mat2 vec tensor"));
}

/// addmm(self, mat1, mat2), baddbmm(self, batch1, batch2).
static OperatorResult addedMatmul(OperatorCall &Op) {
  const Tensor Sum = Op.self();
  const Tensor A = Op.tensor("mat1 batch1"), B = Op.tensor("mat2 batch2");
  const OperatorResult Product = matmul(Op, A, B);
  if (Op.Trouble || !Sum->needsGradient())
    return Product;
  const TensorPtr &Out = Product.Tensors.front();
  const Sizes To = Out->sizes();
  const int64_t Matrices = To.size() == 3 ? std::max<int64_t>(To[0], 1) : 1;
  const uint64_t Copy = bytesOfMatrixCopy(B->needsGradient() ? A : B);
  Op.record({Out},
            {{Sum, Sum->sizes() == To ? GradientKind::Alias
                                      : kindOfRepeated(Sum->sizes(), To)},
             {A},
             {B}},
            keptOfProduct(A, A, B, B), Copy, Copy + bytesOf(Out) / Matrices);
  takeMatrices(Out, Matrices);
  return Product;
}

static OperatorResult outer(OperatorCall &Op) {
  const Tensor A = Op.self(), B = Op.tensor("vec2 other");
  return OperatorResult(A.reshape({productOf(A->sizes()), 1}) * B);
}

/// x1^T W x2 + b for each output, as at::_trilinear computes it: one output
/// after the other.
static OperatorResult bilinear(OperatorCall &Op) {
  const Tensor A = Op.tensor("input1"), B = Op.tensor("input2"),
               W = Op.tensor("weight"), Bias = Op.maybeTensor("bias");
  const Sizes Left = A->sizes(), Right = B->sizes(), OfWeight = W->sizes();
  if (Left.empty() || Left.size() != Right.size() || OfWeight.size() != 3 ||
      Left.back() != OfWeight[1] || Right.back() != OfWeight[2] ||
      ArrayRef(Left).drop_back() != ArrayRef(Right).drop_back())
    return Op.throws("'bilinear' of sizes " + shown(Left) + ", " +
                     shown(Right) + " and a weight of " + shown(OfWeight));
  const unsigned Each = typeOf(A).Bytes;
  const int64_t N = productOf(ArrayRef(Left).drop_back());
  auto Flat = [&](const Tensor &X, const Sizes &Of) {
    return X.reshape({N, Of.back()});
  };
  const Tensor X = Flat(A, Left), Y = Flat(B, Right);
  auto Elements = [&](int64_t P, int64_t Q) {
    return elementsOf(productOf({N, P}), Each) * std::max<int64_t>(Q, 1);
  };
  Tensor Out = Op.make({N, OfWeight[0]}, A);
  Op.scratch(Elements(OfWeight[2], 1) + Elements(1, 1));
  const uint64_t OfA = gradientBytes(X), OfB = gradientBytes(Y),
                 OfW = gradientBytes(W);
  const uint64_t OfOne = bytesOf(W) / std::max<int64_t>(OfWeight[0], 1);
  const uint64_t Most = std::max(
      {OfA ? OfA + Elements(OfWeight[1], OfWeight[2]) + Elements(OfWeight[1], 1)
           : 0,
       OfW ? OfA + OfW + Elements(OfWeight[1], 1) + OfOne : 0,
       OfB ? OfA + OfW + OfB + 2 * Elements(OfWeight[2], 1) : 0});
  Op.record({Out}, {{X, GradientKind::Seen}, {Y, GradientKind::Seen}, {W}},
            {X, Y, W}, Most > OfA + OfB + OfW ? Most - OfA - OfB - OfW : 0);
  Sizes To(Left.begin(), Left.end() - 1);
  To.push_back(OfWeight[0]);
  Out = Out.reshape(To);
  return Bias ? Out + Bias : Out;
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

/// The bytes of \p Count means or deviations of \p X: of its type, and of
/// float32 where the weight of a half is of another, as autocast leaves it.
static uint64_t statisticBytes(const Tensor &X, const Tensor &W,
                               int64_t Count) {
  const ElementType Type = typeOf(X);
  const bool IsMixed = W && typeOf(W).Name != Type.Name;
  return elementsOf(Count, IsMixed ? std::max(Type.Bytes, 4U) : Type.Bytes);
}

static OperatorResult batchNorm(OperatorCall &Op) {
  const Tensor X = Op.self(), W = Op.maybeTensor("weight"),
               B = Op.maybeTensor("bias");
  const bool Asked = Op.flag("training") || Op.flag("train");
  const Tensor Mean = Op.maybeTensor("running_mean");
  const Sizes From = X->sizes();
  if (From.size() < 2)
    return Op.doesNotTake(X);
  if (!Op.isReal(X))
    return {};
  if (W && W->sizes() != Sizes{From[1]})
    Op.throws("'batch_norm' takes " + Twine(productOf(W->sizes())) +
              " channels, and is given a tensor of " + shown(From));
  const Tensor Variance = Op.maybeTensor("running_var");
  const uint64_t OfChannels = statisticBytes(X, W, From[1]);
  const Tensor Out = Op.make(From, X);
  if (X->hasChannelsLast())
    Out->Strides = X->Strides;
  const BlockPtr Statistics = Op.allocate(Asked || !Mean ? 2 * OfChannels : 0);
  // A sum over all but the channels, where not all lies in order.
  std::vector<int> Axes(From.size(), -1);
  Axes[1] = 0;
  const uint64_t Sum =
      X->isContiguous()
          ? 0
          : Op.widenedToSum(typeOf(X), From, contiguousStrides(From), Axes);
  if (Statistics->Bytes)
    Op.scratch(Sum);
  // What each channel is multiplied with and shifted by, of halves in floats.
  Op.scratch(Op.isOnGpu()
                 ? 2 * OfChannels
                 : elementsOf(2 * From[1], std::max(typeOf(X).Bytes, 4U)));
  return Op.record({Out}, {{X}, {W}, {B}}, {X, Statistics, W, Mean, Variance},
                   X->isContiguous() && X->needsGradient() ? bytesOf(X)
                                                           : OfChannels + Sum,
                   OfChannels);
}

static OperatorResult layerNorm(OperatorCall &Op) {
  const Tensor X = Op.self(), W = Op.maybeTensor("weight"),
               B = Op.maybeTensor("bias");
  const Sizes From = X->sizes(), Shape = Op.integers("normalized_shape");
  if (Shape.size() > From.size() || lastOf(From, Shape.size()) != Shape)
    return Op.throws("'layer_norm' over " + shown(Shape) +
                     " is given a tensor of " + shown(From));
  if (!Op.isReal(X))
    return {};
  const uint64_t Size = bytesOf(X), Unordered = X->isContiguous() ? 0 : Size;
  const BlockPtr Copy = Unordered ? Op.allocate(Size) : nullptr;
  const Tensor Out = Op.make(From, X);
  const BlockPtr Statistics = Op.allocate(statisticBytes(
      X, W, 2 * productOf(ArrayRef(From).drop_back(Shape.size()))));
  const uint64_t Scratch = (W ? 2 * bytesOf(W) : 0) + Unordered;
  return Op.record({Out}, {{X}, {W}, {B}}, {X, Statistics, W}, Scratch,
                   Scratch + Size);
}

static OperatorResult groupNorm(OperatorCall &Op) {
  const Tensor X = Op.self(), W = Op.maybeTensor("weight"),
               B = Op.maybeTensor("bias");
  const Sizes From = X->sizes();
  const int64_t Groups = Op.integer("num_groups", 1);
  if (!Op.isReal(X))
    return {};
  const uint64_t Size = bytesOf(X);
  if (Op.isSince(2, 14))
    Op.estimateChannelsLast(X, "a 'group_norm' of channels that are last");
  // In order; since 2.14 for the operator alone, and again in backward().
  const BlockPtr Seen = X->isContiguous() ? X->Memory : Op.allocate(Size);
  const bool Keeps = !Op.isSince(2, 14);
  const Tensor Out = Op.make(From, X);
  const BlockPtr Statistics = Op.allocate(
      From.empty() ? 0 : statisticBytes(X, W, 2 * From[0] * Groups));
  const uint64_t Scratch =
      (From.size() > 1 ? 2 * statisticBytes(X, W, From[0] * From[1]) : 0) +
      (Keeps || X->isContiguous() ? 0 : Size) +
      (!Op.isSince(2, 0) && X->isChannelsLast() ? Size : 0);
  return Op.record({Out}, {{X}, {W}, {B}},
                   {Keeps ? Seen : X->Memory, Statistics, W}, Scratch,
                   Scratch + Size);
}

/// Batch norm, where each channel of each sample is a channel of its own.
static OperatorResult instanceNorm(OperatorCall &Op) {
  Tensor X = Op.self();
  const Sizes From = X->sizes();
  if (From.size() < 2)
    return Op.doesNotTake(X);
  auto Repeated = [&](StringRef Which) {
    const Tensor T = Op.maybeTensor(Which);
    return T ? T.run("repeat", {{"repeats", Sizes{From[0]}}}) : T;
  };
  const Tensor W = Repeated("weight"), B = Repeated("bias"),
               Mean = Repeated("running_mean"),
               Variance = Repeated("running_var");
  Sizes Flat = {1, productOf({From[0], From[1]})};
  Flat.insert(Flat.end(), From.begin() + 2, From.end());
  X = X.contiguous().view(Flat);
  const bool Trains =
      !Mean || Op.flag("use_input_stats", Op.flag("training", true));
  const Tensor Out = X.run("batch_norm", {{"weight", W},
                                          {"bias", B},
                                          {"running_mean", Mean},
                                          {"running_var", Variance},
                                          {"training", Trains}});
  if (Mean)
    Op.scratch(bytesOf(Mean) / std::max<int64_t>(From[0], 1));
  return Out.view(From);
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

static OperatorResult embedding(OperatorCall &Op) {
  const Tensor Indices = Op.tensor("indices input"),
               Weight = Op.tensor("weight");
  Sizes To = Indices->sizes();
  if (Weight->sizes().size() != 2)
    return Op.throws("'embedding' is given a table of " +
                     shown(Weight->sizes()));
  if (Indices->Shape.Type && isFloating(*Indices->Shape.Type))
    return Op.throws("'embedding' is given indices of " +
                     Indices->Shape.Type->Name);
  To.push_back(Weight->sizes()[1]);
  const Tensor Out = Op.make(To, Weight);
  return Op.record({Out}, {{Weight}}, {Indices, Weight}, 0, bytesOf(Out));
}

/// Bags of rows, of which a mean, a sum or a maximum is taken.
static OperatorResult embeddingBag(OperatorCall &Op) {
  const Tensor Indices = Op.tensor("indices input"),
               Weight = Op.tensor("weight");
  Tensor Offsets = Op.maybeTensor("offsets");
  const Tensor Factors = Op.maybeTensor("per_sample_weights");
  const Sizes From = Indices->sizes();
  if (Weight->sizes().size() != 2 || From.empty() || From.size() > 2 ||
      (From.size() == 1 && !Offsets))
    return Op.doesNotTake(Indices);
  if (From.size() == 2)
    Offsets = Op.make({From[0]}, Int64);
  const int64_t Bags =
      productOf(Offsets->sizes()) - Op.flag("include_last_offset");
  const int64_t Width = Weight->sizes()[1], Count = productOf(From);
  const StringRef Mode = Op.text("mode");
  const bool IsSum = Mode.contains_insensitive("sum"),
             IsMax = Mode.contains_insensitive("max");
  const Tensor Out = Op.make({Bags, Width}, Weight);
  const uint64_t BagOfEach = elementsOf(Count + 1, 8),
                 OfBags = elementsOf(Bags, 8);
  // Which bag each one is in.
  const BlockPtr BagOf = IsSum ? nullptr : Op.allocate(BagOfEach);
  if (!IsSum)
    Op.scratch(BagOfEach);
  // How many are in each.
  const BlockPtr Counts = Op.allocate(OfBags),
                 Last =
                     Op.allocate(IsMax ? productOf({Bags, Width}) * 8 : OfBags);
  if (!IsSum && !IsMax)
    Op.scratch(5 * OfBags / 2);
  const uint64_t Sorted = 3 * elementsOf(Count, 8);
  uint64_t Scratch = Sorted;
  if (IsSum)
    Scratch = BagOfEach +
              std::max(Sorted + (Factors ? bytesOf(Factors) : 0), BagOfEach);
  if (IsMax) {
    // Offsets may repeat; only the others are added up.
    if (From.size() == 1)
      Op.S.atMost("all bags of an EmbeddingBag count as filled");
    Scratch = OfBags + elementsOf(productOf({Bags, Width}), 12);
  }
  return Op.record({Out}, {{Weight}, {Factors}},
                   {Indices, Offsets, BagOf, Counts, Last, Factors,
                    Factors ? Weight : nullptr},
                   Scratch, Scratch + bytesOf(Out));
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

/// pixel_shuffle(upscale_factor), pixel_unshuffle(downscale_factor).
static OperatorResult shufflePixels(OperatorCall &Op) {
  const Tensor X = Op.self();
  Sizes To = X->sizes();
  const int64_t By = Op.integer("upscale_factor downscale_factor", 1);
  if (To.size() < 3 || By <= 0 || By > MostTensors)
    return Op.doesNotTake(X);
  const size_t C = To.size() - 3;
  if (Op.Name == "pixel_shuffle") {
    To[C] /= By * By;
    To[C + 1] *= By;
    To[C + 2] *= By;
  } else {
    To[C] *= By * By;
    To[C + 1] /= By;
    To[C + 2] /= By;
  }
  const BlockPtr Ordered = Op.copyInOrder(X);
  const Tensor Out = Op.make(To, X);
  return Op.record({Out}, {{X}}, {}, 0, bytesOf(Out));
}

static constexpr OperatorRule NetworkRows[] = {
    {"linear", linear},
    {"matmul mm bmm mv dot", matmul},
    {"outer ger", outer},
    {"addmm baddbmm", addedMatmul},
    {"bilinear", bilinear},
    {"batch_norm", batchNorm},
    {"layer_norm", layerNorm},
    {"group_norm", groupNorm},
    {"instance_norm", instanceNorm},
    {"embedding", embedding},
    {"embedding_bag", embeddingBag},
    {"pixel_shuffle pixel_unshuffle", shufflePixels},
};
const RuleTable NetworkRules = {NetworkRows, /*InPlace=*/false,
                                /*NeedsDimension=*/true,
                                GradientOrder::OfInput};

Tensor linear(const Tensor &X, const Tensor &Weight, const Tensor &Bias) {
  return X.Op->run("linear",
                   {{"input", X}, {"weight", Weight}, {"bias", Bias}});
}

} // namespace libtorch_tidy::bytes
