//===- NetworkOperators.cpp - Products of matrices, normalisation, embeddings
//===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// What a product keeps: of each one, where the other needs a gradient.
static std::vector<BlockPtr> keptOfProduct(const TensorPtr &A,
                                           const BlockPtr &OfA,
                                           const TensorPtr &B,
                                           const BlockPtr &OfB) {
  std::vector<BlockPtr> Kept;
  if (B->needsGradient())
    Kept.push_back(OfA);
  if (A->needsGradient())
    Kept.push_back(OfB);
  return Kept;
}

OperatorResult Operator::linear() {
  const TensorPtr X = self(), W = tensor({"weight"}), B = maybeTensor({"bias"});
  Sizes To = X->sizes();
  const Sizes OfWeight = W->sizes();
  if (To.empty() || OfWeight.size() != 2 || To.back() != OfWeight[1])
    return throws("'linear' takes " +
                  (OfWeight.size() == 2 ? Twine(OfWeight[1]).str() : "?") +
                  " features, and is given a tensor of " + shown(To));
  To.back() = OfWeight[0];
  // More than two dimensions are seen as two, unless the last two are swapped.
  BlockPtr Seen = X->Memory;
  uint64_t Scratch = 0;
  const Sizes From = X->sizes();
  if (From.size() == 3 && X->Strides.back() != 1 &&
      X->Strides.front() == From[1] * From[2])
    Scratch = elementsOf(From[0] * productOf(OfWeight), typeOf(X).Bytes);
  else if (To.size() > 2 && !X->isContiguous())
    Seen =
        stridesOfView(X, {productOf(ArrayRef(From).drop_back()), From.back()})
            ? X->Memory
            : S.allocate(bytesOf(X));
  const TensorPtr Out = make(To, X);
  record({Out}, {{X}, {W}, {B}}, keptOfProduct(X, Seen, W, W->Memory), Scratch,
         Scratch + bytesOf(Out));
  return one(Out);
}

/// What a product copies of \p T for the moment: one of its matrices, where
/// neither its rows nor its columns lie one after the other.
static uint64_t bytesOfMatrixCopy(const TensorPtr &T) {
  const Sizes Of = T->sizes();
  if (Of.size() < 2)
    return 0;
  const int64_t Rows = Of[Of.size() - 2], Columns = Of.back();
  const int64_t RowStride = T->Strides[Of.size() - 2],
                ColumnStride = T->Strides.back();
  if ((ColumnStride == 1 && RowStride >= Columns) ||
      (RowStride == 1 && ColumnStride >= Rows))
    return 0;
  return elementsOf(productOf({Rows, Columns}), typeOf(T).Bytes);
}

/// Are the matrices of \p T, of sizes \p Of, seen as one? Not those that are
/// transposed one by one.
static bool areOneMatrix(const TensorPtr &T, const Sizes &Of) {
  return Of.size() != 3 || T->Strides.size() != 3 || T->Strides[2] == 1 ||
         T->Strides[0] != Of[1] * Of[2];
}

/// Batches on both sides are laid out for bmm(), where they are not yet.
BlockPtr Operator::laidOut(const TensorPtr &T, const Sizes &Of,
                           const Sizes &Batch) {
  if (Batch.empty() || Of.size() <= 2)
    return T->Memory;
  Sizes Whole = Batch;
  Whole.insert(Whole.end(), Of.end() - 2, Of.end());
  const bool Grows = Whole != Of;
  const Sizes Flat = {productOf(Batch), Of[Of.size() - 2], Of.back()};
  if (!Grows && stridesOfView(T, Flat))
    return T->Memory;
  return S.allocate(static_cast<uint64_t>(productOf(Whole)) * typeOf(T).Bytes);
}

OperatorResult Operator::matmul(TensorPtr A, TensorPtr B) {
  Sizes Left = A->sizes(), Right = B->sizes();
  if (Left.empty() || Right.empty())
    return throws("'" + Name + "' of a tensor without dimensions");
  const bool RowOnly = Left.size() == 1, ColumnOnly = Right.size() == 1;
  if (RowOnly)
    Left.insert(Left.begin(), 1);
  if (ColumnOnly)
    Right.push_back(1);
  const int64_t Rows = Left[Left.size() - 2], Inner = Left.back(),
                Columns = Right.back();
  const std::optional<Sizes> Batch =
      broadcast(ArrayRef(Left).drop_back(2), ArrayRef(Right).drop_back(2));
  if (Right[Right.size() - 2] != Inner || !Batch)
    return throws("'" + Name + "' of sizes " + shown(A->sizes()) + " and " +
                  shown(B->sizes()));
  Sizes To = *Batch;
  if (!RowOnly)
    To.push_back(Rows);
  if (!ColumnOnly)
    To.push_back(Columns);
  const bool Folds = Left.size() > 2 && Right.size() <= 2 &&
                     (ColumnOnly || areOneMatrix(A, Left));
  const bool FoldsRight = Left.size() <= 2 && Right.size() > 2 &&
                          (RowOnly || areOneMatrix(B, Right));
  BlockPtr KeptA = A->Memory, KeptB = B->Memory;
  if (Folds) {
    if (!A->isContiguous())
      KeptA = S.allocate(bytesOf(A));
  } else if (!FoldsRight && !Batch->empty()) {
    KeptA = laidOut(A, Left, *Batch);
    KeptB = laidOut(B, Right, *Batch);
  }
  if (FoldsRight)
    KeptB = S.allocate(bytesOf(B)); // Its transpose, in order.
  const TensorPtr Out = make(To, promoted(*A, *B));
  const uint64_t CopyA = KeptA == A->Memory ? bytesOfMatrixCopy(A) : 0,
                 CopyB = KeptB == B->Memory ? bytesOfMatrixCopy(B) : 0;
  scratch(FoldsRight ? bytesOf(Out) : CopyA + CopyB);
  // Gradients are as large as what was laid out, until they are added up.
  auto Grown = [&](const TensorPtr &T, const Sizes &Of) -> uint64_t {
    const int64_t Own = productOf(ArrayRef(Of).drop_back(2));
    if (Folds || FoldsRight || !T->needsGradient() || Own <= 0)
      return 0;
    return bytesOf(T) * (productOf(*Batch) / Own - 1);
  };
  const uint64_t Scratch =
      Grown(A, Left) + Grown(B, Right) + (B->needsGradient() ? CopyA : CopyB);
  // One matrix of what comes is laid out at a time.
  const int64_t Matrices = Folds || FoldsRight ? 1 : productOf(*Batch);
  record({Out}, {{A}, {B}}, keptOfProduct(A, KeptA, B, KeptB), Scratch,
         Scratch + (Matrices > 0 ? bytesOf(Out) / Matrices : 0));
  return one(Out);
}

OperatorResult Operator::matmul() {
  return matmul(self(), tensor({"other", "mat2", "vec", "tensor"}));
}

/// addmm(self, mat1, mat2), baddbmm(self, batch1, batch2).
OperatorResult Operator::addedMatmul() {
  const TensorPtr Sum = self();
  const TensorPtr A = tensor({"mat1", "batch1"}),
                  B = tensor({"mat2", "batch2"});
  const OperatorResult Product = matmul(A, B);
  if (Product.What != OperatorResult::One || !Sum->needsGradient())
    return Product;
  const TensorPtr &Out = Product.Tensors.front();
  const Sizes To = Out->sizes();
  const int64_t Matrices = To.size() == 3 ? std::max<int64_t>(To[0], 1) : 1;
  const uint64_t Copy = bytesOfMatrixCopy(B->needsGradient() ? A : B);
  record({Out},
         {{Sum, Sum->sizes() == To ? GradientKind::Alias : GradientKind::Fresh},
          {A},
          {B}},
         keptOfProduct(A, A->Memory, B, B->Memory), Copy,
         Copy + bytesOf(Out) / Matrices);
  return Product;
}

OperatorResult Operator::outer() {
  const TensorPtr A = self(), B = tensor({"vec2", "other"});
  const TensorPtr Out =
      make({productOf(A->sizes()), productOf(B->sizes())}, promoted(*A, *B));
  record({Out}, {{A}, {B}}, {A->Memory, B->Memory},
         (A->needsGradient() + B->needsGradient()) * bytesOf(Out));
  return one(Out);
}

/// x1^T W x2 + b for each output, as at::_trilinear computes it: one output
/// after the other.
OperatorResult Operator::bilinear() {
  const TensorPtr A = tensor({"input1"}), B = tensor({"input2"}),
                  W = tensor({"weight"}), Bias = maybeTensor({"bias"});
  const Sizes Left = A->sizes(), Right = B->sizes(), OfWeight = W->sizes();
  if (Left.empty() || Left.size() != Right.size() || OfWeight.size() != 3 ||
      Left.back() != OfWeight[1] || Right.back() != OfWeight[2] ||
      ArrayRef(Left).drop_back() != ArrayRef(Right).drop_back())
    return throws("'bilinear' of sizes " + shown(Left) + ", " + shown(Right) +
                  " and a weight of " + shown(OfWeight));
  const unsigned Each = typeOf(A).Bytes;
  const int64_t N = productOf(ArrayRef(Left).drop_back());
  auto Flat = [&](const TensorPtr &X, const Sizes &Of) {
    return reshapeOf(X, {N, Of.back()});
  };
  const TensorPtr X = Flat(A, Left), Y = Flat(B, Right);
  auto Elements = [&](int64_t P, int64_t Q) {
    return elementsOf(productOf({N, P}), Each) * std::max<int64_t>(Q, 1);
  };
  TensorPtr Out = make({N, OfWeight[0]}, A);
  scratch(Elements(OfWeight[2], 1) + Elements(1, 1));
  const uint64_t OfA = X->needsGradient() ? bytesOf(A) : 0,
                 OfB = Y->needsGradient() ? bytesOf(B) : 0,
                 OfW = W->needsGradient() ? bytesOf(W) : 0;
  const uint64_t OfOne = bytesOf(W) / std::max<int64_t>(OfWeight[0], 1);
  const uint64_t Most = std::max(
      {OfA ? OfA + Elements(OfWeight[1], OfWeight[2]) + Elements(OfWeight[1], 1)
           : 0,
       OfW ? OfA + OfW + Elements(OfWeight[1], 1) + OfOne : 0,
       OfB ? OfA + OfW + OfB + 2 * Elements(OfWeight[2], 1) : 0});
  std::vector<BlockPtr> Kept = {X->Memory, Y->Memory, W->Memory};
  record({Out}, {{X}, {Y}, {W}}, Kept,
         Most > OfA + OfB + OfW ? Most - OfA - OfB - OfW : 0);
  Sizes To(Left.begin(), Left.end() - 1);
  To.push_back(OfWeight[0]);
  Out = reshapeOf(Out, To);
  return one(Bias ? apply("add", Out, Bias) : Out);
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

/// Batch, layer and group norm: the means and deviations stay.
OperatorResult Operator::normalise() {
  const TensorPtr X = self(), W = maybeTensor({"weight"}),
                  B = maybeTensor({"bias"});
  const Sizes From = X->sizes();
  int64_t Statistics = 0;
  if (Name == "batch_norm") {
    const bool Trains = flag("training", false) || flag("train", false) ||
                        !maybeTensor({"running_mean"});
    if (From.size() < 2)
      return throws("'batch_norm' is given a tensor of " + shown(From));
    if (W && W->sizes() != Sizes{From[1]})
      throws("'batch_norm' takes " + Twine(productOf(W->sizes())) +
             " channels, and is given a tensor of " + shown(From));
    Statistics = Trains ? 2 * From[1] : 0;
  } else if (Name == "layer_norm") {
    const Sizes Shape = maybeIntegers({"normalized_shape"}).value_or(Sizes());
    if (Shape.size() > From.size() || lastOf(From, Shape.size()) != Shape)
      return throws("'layer_norm' over " + shown(Shape) +
                    " is given a tensor of " + shown(From));
    Statistics = 2 * productOf(ArrayRef(From).drop_back(Shape.size()));
  } else {
    Statistics = From.empty() ? 0 : 2 * From[0] * integer({"num_groups"}, 1);
  }
  const uint64_t Size = bytesOf(X);
  const bool Ordered = X->isContiguous();
  // Those of a float64 are one, too, and those of a smaller type float32.
  auto elements = [&](int64_t Count) {
    return elementsOf(Count, std::max(typeOf(X).Bytes, 4U));
  };
  uint64_t Scratch = 0, SparseScratch = 0;
  BlockPtr Copy;
  if (Name == "layer_norm") {
    Scratch = W ? 2 * bytesOf(W) : 0;
    if (!Ordered) {
      Copy = S.allocate(Size);
      Scratch += Size;
    }
    SparseScratch = Scratch + Size;
  } else if (Name == "group_norm") {
    Scratch = From.size() > 1 ? 2 * elements(From[0] * From[1]) : 0;
    if (!Ordered)
      Copy = S.allocate(Size);
    SparseScratch = Scratch + Size;
  } else {
    // A sum over all but the channels, where not all lies in order.
    SparseScratch = From.size() > 1 ? elements(From[1]) : 0;
    Scratch = Ordered && X->needsGradient() ? Size : SparseScratch;
  }
  const TensorPtr Out = make(From, X);
  std::vector<BlockPtr> Kept = {Copy && Name != "layer_norm" ? Copy
                                                             : X->Memory};
  Kept.push_back(S.allocate(elements(Statistics)));
  if (Name == "batch_norm" && From.size() > 1)
    scratch(2 * elements(From[1]));
  if (W)
    Kept.push_back(W->Memory);
  if (Name == "batch_norm")
    for (const StringRef Running : {"running_mean", "running_var"})
      if (const TensorPtr T = maybeTensor({Running}))
        Kept.push_back(T->Memory);
  record({Out}, {{X}, {W}, {B}}, Kept, Scratch, SparseScratch);
  return one(Out);
}

/// Batch norm, where each channel of each sample is a channel of its own.
OperatorResult Operator::instanceNorm() {
  TensorPtr X = self();
  const Sizes From = X->sizes();
  if (From.size() < 2)
    return throws("'instance_norm' is given a tensor of " + shown(From));
  auto Repeated = [&](StringRef Which) {
    const TensorPtr T = maybeTensor({Which});
    return T ? part("repeat", {{"self", argument(T)},
                               {"repeats", argument(Sizes{From[0]})}})
             : T;
  };
  const TensorPtr W = Repeated("weight"), B = Repeated("bias"),
                  Mean = Repeated("running_mean"),
                  Variance = Repeated("running_var");
  Sizes Flat = {1, productOf({From[0], From[1]})};
  Flat.insert(Flat.end(), From.begin() + 2, From.end());
  X = viewOf(apply("contiguous", X), Flat);
  const bool Trains = !Mean || flag("use_input_stats", flag("training", true));
  const TensorPtr Out = part("batch_norm", {{"input", argument(X)},
                                            {"weight", argument(W)},
                                            {"bias", argument(B)},
                                            {"running_mean", argument(Mean)},
                                            {"running_var", argument(Variance)},
                                            {"training", argument(Trains)}});
  if (Mean)
    scratch(bytesOf(Mean) / std::max<int64_t>(From[0], 1));
  return one(viewOf(Out, From));
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

OperatorResult Operator::embedding() {
  const TensorPtr Indices = tensor({"indices", "input"}),
                  Weight = tensor({"weight"});
  Sizes To = Indices->sizes();
  if (Weight->sizes().size() != 2)
    return throws("'embedding' is given a table of " + shown(Weight->sizes()));
  To.push_back(Weight->sizes()[1]);
  const TensorPtr Out = make(To, Weight);
  record({Out}, {{Weight}}, {Indices->Memory, Weight->Memory}, 0, bytesOf(Out));
  return one(Out);
}

/// Bags of rows, of which a mean, a sum or a maximum is taken.
OperatorResult Operator::embeddingBag() {
  const TensorPtr Indices = tensor({"indices", "input"}),
                  Weight = tensor({"weight"});
  TensorPtr Offsets = maybeTensor({"offsets"});
  const TensorPtr Factors = maybeTensor({"per_sample_weights"});
  const Sizes From = Indices->sizes();
  if (Weight->sizes().size() != 2 || From.empty() || From.size() > 2 ||
      (From.size() == 1 && !Offsets))
    return throws("'embedding_bag' is given a tensor of " + shown(From));
  if (From.size() == 2)
    Offsets = make({From[0]}, Int64);
  const int64_t Bags =
      productOf(Offsets->sizes()) - flag("include_last_offset", false);
  const int64_t Width = Weight->sizes()[1], Count = productOf(From);
  const std::string Mode = text({"mode"});
  const bool IsSum = StringRef(Mode).contains_insensitive("sum"),
             IsMax = StringRef(Mode).contains_insensitive("max");
  const TensorPtr Out = make({Bags, Width}, Weight);
  const uint64_t BagOfEach = elementsOf(Count + 1, 8),
                 OfBags = elementsOf(Bags, 8);
  std::vector<BlockPtr> Kept = {Indices->Memory, Offsets->Memory};
  if (!IsSum) {
    Kept.push_back(S.allocate(BagOfEach)); // Which bag each one is in.
    scratch(BagOfEach);
  }
  Kept.push_back(S.allocate(OfBags)); // How many are in each.
  Kept.push_back(S.allocate(IsMax ? productOf({Bags, Width}) * 8 : OfBags));
  if (!IsSum && !IsMax)
    scratch(5 * OfBags / 2);
  if (Factors) {
    Kept.push_back(Factors->Memory);
    Kept.push_back(Weight->Memory);
  }
  const uint64_t Sorted = 3 * elementsOf(Count, 8);
  uint64_t Scratch = Sorted;
  if (IsSum)
    Scratch = BagOfEach +
              std::max(Sorted + (Factors ? bytesOf(Factors) : 0), BagOfEach);
  if (IsMax)
    Scratch = OfBags + elementsOf(productOf({Bags, Width}), 12);
  record({Out}, {{Weight}, {Factors}}, Kept, Scratch, Scratch + bytesOf(Out));
  return one(Out);
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

/// pixel_shuffle(upscale_factor), pixel_unshuffle(downscale_factor).
OperatorResult Operator::shufflePixels() {
  const TensorPtr X = self();
  Sizes To = X->sizes();
  const int64_t By = integer({"upscale_factor", "downscale_factor"}, 1);
  if (To.size() < 3 || By <= 0 || By > MostTensors)
    return throws("'" + Name + "' is given a tensor of " + shown(To));
  const size_t C = To.size() - 3;
  if (Name == "pixel_shuffle") {
    To[C] /= By * By;
    To[C + 1] *= By;
    To[C + 2] *= By;
  } else {
    To[C] *= By * By;
    To[C + 1] /= By;
    To[C + 2] /= By;
  }
  const BlockPtr Ordered = copyInOrder(X);
  const TensorPtr Out = make(To, X);
  record({Out}, {{X}}, {}, 0, bytesOf(Out));
  return one(Out);
}

std::optional<OperatorResult> Operator::runNetwork() {
  return runRule(
      llvm::StringSwitch<Rule>(Name)
          .Case("linear", &Operator::linear)
          .Cases("matmul", "mm", "bmm", "mv", "dot", &Operator::matmul)
          .Cases("outer", "ger", &Operator::outer)
          .Cases("addmm", "baddbmm", &Operator::addedMatmul)
          .Case("bilinear", &Operator::bilinear)
          .Cases("batch_norm", "layer_norm", "group_norm", &Operator::normalise)
          .Case("instance_norm", &Operator::instanceNorm)
          .Case("embedding", &Operator::embedding)
          .Case("embedding_bag", &Operator::embeddingBag)
          .Cases("pixel_shuffle", "pixel_unshuffle", &Operator::shufflePixels)
          .Default(nullptr));
}

} // namespace libtorch_tidy::bytes
