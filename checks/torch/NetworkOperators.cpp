//===- NetworkOperators.cpp - Normalisation, embeddings -------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/OperatorRules.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::torch {

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
          .Cases("batch_norm", "layer_norm", "group_norm", &Operator::normalise)
          .Case("instance_norm", &Operator::instanceNorm)
          .Case("embedding", &Operator::embedding)
          .Case("embedding_bag", &Operator::embeddingBag)
          .Cases("pixel_shuffle", "pixel_unshuffle", &Operator::shufflePixels)
          .Default(nullptr));
}

} // namespace libtorch_tidy::torch
