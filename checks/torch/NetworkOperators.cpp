//===- NetworkOperators.cpp - What the layers of torch::nn run ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::torch {

/// The bytes of \p Count elements of as many bytes.
static uint64_t elementsOf(int64_t Count, unsigned Each) {
  return Count > 0 && Count < (1LL << 50) ? static_cast<uint64_t>(Count) * Each
                                          : 0;
}
static uint64_t floats(int64_t Count) { return elementsOf(Count, 4); }

/// The last \p Count of \p Of.
static Sizes lastOf(const Sizes &Of, size_t Count) {
  return {Of.end() - std::min(Count, Of.size()), Of.end()};
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Without oneDNN: at::native::slow_conv2d and its relatives, which lay out
/// what each output sees as columns, and multiply.
OperatorResult Operator::convolution(unsigned Dimensions, bool Transposed) {
  TensorPtr X = self();
  const TensorPtr W = tensor({"weight"}), B = maybeTensor({"bias"});
  const Sizes Kernel = lastOf(W->sizes(), Dimensions);
  const Sizes Stride = integers({"stride"}, Dimensions, 1);
  const Sizes Dilation = integers({"dilation"}, Dimensions, 1);
  const Sizes More = integers({"output_padding"}, Dimensions, 0);
  const int64_t Groups = std::max<int64_t>(integer({"groups"}, 1), 1);
  Sizes Padding(Dimensions, 0);
  const std::string Named = text({"padding"});
  if (StringRef(Named).contains_insensitive("same"))
    for (unsigned I = 0; I < Dimensions && I < Kernel.size(); ++I)
      Padding[I] = Dilation[I] * (Kernel[I] - 1) / 2;
  else if (Named.empty())
    Padding = integers({"padding"}, Dimensions, 0);
  if (!areSmall({Stride, Dilation, More, Padding}))
    return *Trouble;
  Sizes From = X->sizes();
  const bool Batched = From.size() == Dimensions + 2;
  if (!Batched)
    From.insert(From.begin(), 1);
  if (From.size() != Dimensions + 2 || W->sizes().size() != Dimensions + 2) {
    throws("'" + Name + "' is given a tensor of " + shown(X->sizes()));
    return *Trouble;
  }
  const int64_t Channels = From[1];
  const int64_t Expected = Transposed ? W->sizes()[0] : W->sizes()[1] * Groups;
  if (Channels != Expected)
    throws("'" + Name + "' takes " + Twine(Expected) +
           " channels, and is given " + Twine(Channels) + ": " +
           shown(X->sizes()));
  const int64_t OutChannels =
      Transposed ? W->sizes()[1] * Groups : W->sizes()[0];
  const int64_t N = From[0];
  Sizes To = {N, OutChannels};
  bool Dilated = false, Pointwise = true;
  for (unsigned I = 0; I < Dimensions; ++I) {
    const int64_t In = From[2 + I];
    const int64_t Extent = Dilation[I] * (Kernel[I] - 1) + 1;
    if (Stride[I] <= 0) {
      throws("'" + Name + "' has a stride of " + Twine(Stride[I]));
      return *Trouble;
    }
    To.push_back(Transposed
                     ? (In - 1) * Stride[I] - 2 * Padding[I] + Extent + More[I]
                     : (In + 2 * Padding[I] - Extent) / Stride[I] + 1);
    if ((!Transposed && In + 2 * Padding[I] < Extent) || To.back() <= 0)
      throws("'" + Name + "' of " + shown(X->sizes()) + " with a kernel of " +
             shown(Kernel) + " leaves nothing");
    Dilated |= Dilation[I] != 1;
    Pointwise &= Kernel[I] == 1 && Stride[I] == 1 && Padding[I] == 0;
  }
  if (Dimensions == 3 && Groups > 1)
    Pointwise = false; // It has columns all the same.
  if (Trouble)
    return *Trouble;

  auto Elements = [&](int64_t Count) {
    return elementsOf(Count, X->Shape.Type.value_or(Float32).Bytes);
  };
  const int64_t Inside = productOf(lastOf(From, Dimensions)),
                Outside = productOf(lastOf(To, Dimensions)),
                Taps = productOf(Kernel);
  // A slice of the channels of one sample lies in order.
  const bool GroupsInside = Dimensions == 3 && !Dilated && !Transposed;
  const int64_t Split = GroupsInside ? 1 : Groups;
  const int64_t C = Channels / Split, OC = OutChannels / Split;
  const bool Copies = Split > 1 && N > 1;
  const uint64_t XPart = Elements(N * C * Inside),
                 OutPart = Elements(N * OC * Outside);
  // In use at once, after the result (the columns of a whole batch: before).
  uint64_t Columns, BackwardColumns;
  if (Transposed) {
    const uint64_t Own = Elements(OC * Taps * Inside);
    Columns = Own + (B ? Elements(Outside) : 0);
    BackwardColumns = Own;
  } else if (Dilated) {
    Columns = Elements(C * Taps * Outside);
    BackwardColumns = Columns + (B ? Elements(OC) : 0);
  } else {
    Columns = Pointwise ? 0 : Elements(C * Taps * N * Outside);
    BackwardColumns =
        Dimensions == 3 && Pointwise ? Elements(C * N * Inside) : Columns;
  }
  const bool NeedsWeight = W->needsGradient() && S.GradMode;
  if (!NeedsWeight && !Transposed && !Dilated)
    BackwardColumns = 0;
  // A tensor whose elements do not lie in order is copied, for the moment.
  const BlockPtr Ordered = X->isContiguous() ? nullptr : S.allocate(bytesOf(X));
  TensorPtr Out;
  if (Split == 1) {
    const bool First = !Transposed && !Dilated;
    const BlockPtr Before = First && Columns ? S.scratch(Columns) : nullptr;
    Out = make(To, X);
    if (!First)
      scratch(Columns);
  } else {
    std::vector<BlockPtr> Parts;
    for (int64_t G = 0; G < Split && Parts.size() < 65536; ++G) {
      const BlockPtr Part = Copies ? S.scratch(XPart) : nullptr;
      const BlockPtr Work = S.scratch(Columns);
      Parts.push_back(S.scratch(OutPart));
    }
    Out = make(To, X);
  }
  if (!Batched) {
    Sizes Without = To;
    Without.erase(Without.begin());
    std::vector<int64_t> Strides = Out->Strides;
    Strides.erase(Strides.begin());
    Out = view(Out, Without, Strides);
  }
  uint64_t Scratch = BackwardColumns;
  if (Split > 1) {
    const uint64_t Gradients = (X->needsGradient() ? bytesOf(X) : 0) +
                               (NeedsWeight ? bytesOf(W) : 0) +
                               (B && B->needsGradient() ? bytesOf(B) : 0);
    Scratch =
        std::max(BackwardColumns + (Copies ? XPart + OutPart : 0), Gradients);
  }
  if (Ordered)
    Scratch += bytesOf(X);
  record({Out}, {{X}, {W}, {B}}, {X->Memory, W->Memory}, Scratch,
         // Parts of what comes are copied for groups anyway.
         Scratch + (Split == 1 ? bytesOf(Out)
                    : Copies   ? 0
                               : OutPart));
  return one(Out);
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

OperatorResult Operator::linear() {
  const TensorPtr X = self(), W = tensor({"weight"}), B = maybeTensor({"bias"});
  Sizes To = X->sizes();
  const Sizes OfWeight = W->sizes();
  if (To.empty() || OfWeight.size() != 2 || To.back() != OfWeight[1]) {
    throws("'linear' takes " +
           (OfWeight.size() == 2 ? Twine(OfWeight[1]).str() : "?") +
           " features, and is given a tensor of " + shown(To));
    return *Trouble;
  }
  To.back() = OfWeight[0];
  // More than two dimensions are seen as two, unless the last two are swapped.
  BlockPtr Seen = X->Memory;
  uint64_t Scratch = 0;
  const Sizes From = X->sizes();
  if (From.size() == 3 && X->Strides.back() != 1 &&
      X->Strides.front() == From[1] * From[2])
    Scratch = elementsOf(From[0] * productOf(OfWeight),
                         X->Shape.Type.value_or(Float32).Bytes);
  else if (To.size() > 2 && !X->isContiguous())
    Seen =
        stridesOfView(X, {productOf(ArrayRef(From).drop_back()), From.back()})
            ? X->Memory
            : S.allocate(bytesOf(X));
  const TensorPtr Out = make(To, X);
  std::vector<BlockPtr> Kept;
  if (W->needsGradient())
    Kept.push_back(Seen);
  if (X->needsGradient())
    Kept.push_back(W->Memory);
  record({Out}, {{X}, {W}, {B}}, Kept, Scratch, Scratch + bytesOf(Out));
  return one(Out);
}

OperatorResult Operator::matmul(TensorPtr A, TensorPtr B) {
  Sizes Left = A->sizes(), Right = B->sizes();
  if (Left.empty() || Right.empty()) {
    throws("'" + Name + "' of a tensor without dimensions");
    return *Trouble;
  }
  const bool RowOnly = Left.size() == 1, ColumnOnly = Right.size() == 1;
  if (RowOnly)
    Left.insert(Left.begin(), 1);
  if (ColumnOnly)
    Right.push_back(1);
  const int64_t Rows = Left[Left.size() - 2], Inner = Left.back(),
                Columns = Right.back();
  std::optional<Sizes> Batch =
      broadcast(ArrayRef(Left).drop_back(2), ArrayRef(Right).drop_back(2));
  if (Right[Right.size() - 2] != Inner || !Batch) {
    throws("'" + Name + "' of sizes " + shown(A->sizes()) + " and " +
           shown(B->sizes()));
    return *Trouble;
  }
  Sizes To = *Batch;
  if (!RowOnly)
    To.push_back(Rows);
  if (!ColumnOnly)
    To.push_back(Columns);
  // Batches on both sides are laid out for bmm(), where they are not yet.
  auto LaidOut = [&](const TensorPtr &T, const Sizes &Of) -> BlockPtr {
    if (Batch->empty() || Of.size() <= 2)
      return T->Memory;
    Sizes Whole = *Batch;
    Whole.insert(Whole.end(), Of.end() - 2, Of.end());
    const bool Grows = Whole != Of;
    const Sizes Flat = {productOf(*Batch), Of[Of.size() - 2], Of.back()};
    if (!Grows && stridesOfView(T, Flat))
      return T->Memory;
    return S.allocate(static_cast<uint64_t>(productOf(Whole)) *
                      T->Shape.Type.value_or(Float32).Bytes);
  };
  // Matrices that are transposed one by one are not seen as one.
  auto IsOne = [](const TensorPtr &T, const Sizes &Of) {
    return Of.size() != 3 || T->Strides.size() != 3 || T->Strides[2] == 1 ||
           T->Strides[0] != Of[1] * Of[2];
  };
  const bool Folds =
      Left.size() > 2 && Right.size() <= 2 && (ColumnOnly || IsOne(A, Left));
  const bool FoldsRight =
      Left.size() <= 2 && Right.size() > 2 && (RowOnly || IsOne(B, Right));
  BlockPtr KeptA = A->Memory, KeptB = B->Memory;
  if (Folds) {
    if (!A->isContiguous())
      KeptA = S.allocate(bytesOf(A));
  } else if (!FoldsRight && !Batch->empty()) {
    KeptA = LaidOut(A, Left);
    KeptB = LaidOut(B, Right);
  }
  if (FoldsRight)
    KeptB = S.allocate(bytesOf(B)); // Its transpose, in order.
  const TensorPtr Out = make(To, promoted(*A, *B));
  if (FoldsRight)
    scratch(bytesOf(Out));
  std::vector<BlockPtr> Kept;
  if (B->needsGradient())
    Kept.push_back(KeptA);
  if (A->needsGradient())
    Kept.push_back(KeptB);
  // Gradients are as large as what was laid out, until they are added up.
  auto Grown = [&](const TensorPtr &T, const Sizes &Of) -> uint64_t {
    const int64_t Own = productOf(ArrayRef(Of).drop_back(2));
    if (Folds || FoldsRight || !T->needsGradient() || Own <= 0)
      return 0;
    return bytesOf(T) * (productOf(*Batch) / Own - 1);
  };
  const uint64_t Scratch = Grown(A, Left) + Grown(B, Right);
  // One matrix of what comes is laid out at a time.
  const int64_t Matrices = Folds || FoldsRight ? 1 : productOf(*Batch);
  record({Out}, {{A}, {B}}, Kept, Scratch,
         Scratch + (Matrices > 0 ? bytesOf(Out) / Matrices : 0));
  return one(Out);
}

/// einsum() of one or two tensors whose labels are letters.
OperatorResult Operator::einsum() {
  const std::vector<TensorPtr> Of = tensors({"tensors", "operands"});
  std::string Equation = text({"equation"});
  llvm::erase(Equation, ' ');
  const size_t Arrow = Equation.find("->");
  llvm::SmallVector<StringRef, 2> Labels;
  StringRef(Equation).take_front(Arrow).split(Labels, ',');
  if (Trouble || Arrow == std::string::npos || Of.size() > 2 ||
      Labels.size() != Of.size() || StringRef(Equation).contains('.')) {
    notFollowed("this form of 'einsum' is not followed");
    return *Trouble;
  }
  std::map<char, int64_t> SizeOf;
  uint64_t OfGradients = 0;
  std::vector<BlockPtr> Kept;
  std::vector<Differentiated> Inputs;
  for (size_t I = 0; I < Of.size(); ++I) {
    const Sizes Own = Of[I]->sizes();
    if (Own.size() != Labels[I].size()) {
      throws("'einsum' has " + Twine(Labels[I].size()) +
             " labels for a tensor of " + shown(Own));
      return *Trouble;
    }
    for (size_t D = 0; D < Own.size(); ++D) {
      int64_t &Known = SizeOf.try_emplace(Labels[I][D], Own[D]).first->second;
      if (Known != Own[D] && Known != 1 && Own[D] != 1)
        throws("'einsum' gives one label to sizes " + Twine(Known) + " and " +
               Twine(Own[D]));
      Known = std::max(Known, Own[D]);
    }
    Inputs.push_back({Of[I]});
    OfGradients += Of[I]->needsGradient();
    if (Of.size() == 2 && Of[1 - I]->needsGradient())
      Kept.push_back(Of[I]->Memory);
  }
  Sizes To;
  for (const char Label : StringRef(Equation).drop_front(Arrow + 2)) {
    auto It = SizeOf.find(Label);
    if (It == SizeOf.end())
      throws("'einsum' has a label in its result that no tensor has");
    else
      To.push_back(It->second);
  }
  const TensorPtr Out =
      make(To, Of.size() == 2 ? promoted(*Of[0], *Of[1])
                              : Of[0]->Shape.Type.value_or(Float32));
  // One product of matrices for each element of the labels that all three
  // have; without one that is summed over, a product of elements.
  const StringRef Result = StringRef(Equation).drop_front(Arrow + 2);
  int64_t Matrices = 1;
  bool Sums = Of.size() != 2;
  for (const char Label : Labels.front())
    if (Of.size() == 2 && Labels[1].contains(Label)) {
      if (Result.contains(Label))
        Matrices *= std::max<int64_t>(SizeOf[Label], 1);
      else
        Sums = true;
    }
  const uint64_t Scratch = Sums ? 0 : OfGradients * bytesOf(Out);
  record({Out}, Inputs, Kept, Scratch,
         Sums && Of.size() == 2 ? bytesOf(Out) / Matrices : Scratch);
  return one(Out);
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

/// Batch, layer, group and instance norm: the means and deviations stay.
OperatorResult Operator::normalise() {
  const TensorPtr X = self(), W = maybeTensor({"weight"}),
                  B = maybeTensor({"bias"});
  const Sizes From = X->sizes();
  int64_t Statistics = 0;
  if (Name == "batch_norm") {
    const bool Trains = flag("training", false) || flag("train", false) ||
                        !maybeTensor({"running_mean"});
    if (From.size() < 2) {
      throws("'batch_norm' is given a tensor of " + shown(From));
      return *Trouble;
    }
    if (W && W->sizes() != Sizes{From[1]})
      throws("'batch_norm' takes " + Twine(productOf(W->sizes())) +
             " channels, and is given a tensor of " + shown(From));
    Statistics = Trains ? 2 * From[1] : 0;
  } else if (Name == "layer_norm") {
    const Sizes Shape = maybeIntegers({"normalized_shape"}).value_or(Sizes());
    if (Shape.size() > From.size() || lastOf(From, Shape.size()) != Shape) {
      throws("'layer_norm' over " + shown(Shape) + " is given a tensor of " +
             shown(From));
      return *Trouble;
    }
    Statistics = 2 * productOf(ArrayRef(From).drop_back(Shape.size()));
  } else if (Name == "group_norm") {
    Statistics = From.empty() ? 0 : 2 * From[0] * integer({"num_groups"}, 1);
  } else if (From.size() > 1) { // instance_norm
    Statistics = 2 * From[0] * From[1];
  }
  const uint64_t Size = bytesOf(X);
  const bool Ordered = X->isContiguous();
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
    Scratch = From.size() > 1 ? 2 * floats(From[0] * From[1]) : 0;
    if (!Ordered)
      Copy = S.allocate(Size);
    SparseScratch = Scratch + Size;
  } else if (Name == "instance_norm" && !Ordered) {
    Copy = S.allocate(Size);
    Scratch = X->needsGradient() ? Size : 0;
  } else if (Ordered && X->needsGradient()) {
    Scratch = Size;
  }
  const TensorPtr Out = make(From, X);
  std::vector<BlockPtr> Kept = {Copy && Name != "layer_norm" ? Copy
                                                             : X->Memory};
  // The running ones are repeated for each sample.
  const bool Runs = Name == "instance_norm" && maybeTensor({"running_mean"});
  if (Runs)
    Kept.push_back(S.allocate(floats(Statistics)));
  if (!Runs || flag("training", false) || flag("train", false))
    Kept.push_back(S.allocate(floats(Statistics)));
  if (Name == "instance_norm")
    scratch(floats(W ? Statistics + Statistics / 2 : Statistics));
  if (Name == "batch_norm" && From.size() > 1)
    scratch(2 * floats(From[1]));
  if (Name == "instance_norm" && W) {
    Kept.push_back(S.allocate(floats(Statistics / 2)));
    Scratch += floats(Statistics);
  } else if (W) {
    Kept.push_back(W->Memory);
  }
  record({Out}, {{X}, {W}, {B}}, Kept, Scratch, SparseScratch);
  return one(Out);
}

//===----------------------------------------------------------------------===//
// Pooling, resizing, padding
//===----------------------------------------------------------------------===//

OperatorResult Operator::pool(unsigned Dimensions, bool Max, bool Adaptive) {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  if (From.size() != Dimensions + 1 && From.size() != Dimensions + 2) {
    throws("'" + Name + "' is given a tensor of " + shown(From));
    return *Trouble;
  }
  const size_t Start = From.size() - Dimensions;
  Sizes To(From.begin(), From.begin() + Start);
  if (Adaptive) {
    const Argument *Asked = find({"output_size"});
    if (!Asked || (Asked->What != Argument::Integer &&
                   Asked->What != Argument::Integers)) {
      notFollowed("'output_size' of '" + Name + "' is not known");
      return *Trouble;
    }
    const Sizes Outside = integers({"output_size"}, Dimensions, 1);
    for (unsigned I = 0; I < Dimensions; ++I)
      To.push_back(Outside[I] < 0 ? From[Start + I] : Outside[I]);
  } else {
    const Sizes Kernel = integers({"kernel_size"}, Dimensions, 0);
    const Sizes Stride = maybeIntegers({"stride"}, Dimensions).value_or(Kernel);
    const Sizes Padding = integers({"padding"}, Dimensions, 0);
    const Sizes Dilation = integers({"dilation"}, Dimensions, 1);
    const bool Ceils = flag("ceil_mode", false);
    if (!areSmall({Kernel, Stride, Padding, Dilation}))
      return *Trouble;
    for (unsigned I = 0; I < Dimensions; ++I) {
      const int64_t In = From[Start + I];
      if (Kernel[I] <= 0 || Stride[I] <= 0) {
        notFollowed("'kernel_size' of '" + Name + "' is not known");
        return *Trouble;
      }
      int64_t Rest = In + 2 * Padding[I] - Dilation[I] * (Kernel[I] - 1) - 1;
      if (Rest < 0 && !Ceils)
        throws("'" + Name + "' of " + shown(From) + " with a kernel of " +
               shown(Kernel) + " leaves nothing");
      int64_t Out = (Rest + (Ceils ? Stride[I] - 1 : 0)) / Stride[I] + 1;
      if (Ceils && (Out - 1) * Stride[I] >= In + Padding[I])
        --Out;
      To.push_back(Out);
    }
  }
  if (Trouble)
    return *Trouble;
  const TensorPtr Out = make(To, X);
  const uint64_t Unordered = X->isContiguous() ? 0 : bytesOf(X);
  if (Max && Dimensions == 1 && !records({{X}}) && !Adaptive)
    return one(Out);
  if (Max) {
    const TensorPtr Indices = make(To, Int64);
    scratch(Unordered);
    record({Out}, {{X}}, {X->Memory, Indices->Memory}, 0, bytesOf(Out));
    if (Name.ends_with("with_indices"))
      return several({Out, Indices});
    return one(Out);
  }
  // To one number it is a mean.
  const bool IsMean = Adaptive && productOf(lastOf(To, Dimensions)) == 1;
  if (!IsMean && !(Adaptive && Dimensions == 3))
    scratch(Unordered);
  record({Out}, {{X}}, {X->Memory}, 0, IsMean ? 0 : bytesOf(Out));
  return one(Out);
}

OperatorResult Operator::interpolate() {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  if (From.size() < 3) {
    throws("'" + Name + "' is given a tensor of " + shown(From));
    return *Trouble;
  }
  const size_t Dimensions = From.size() - 2;
  Sizes To = {From[0], From[1]};
  if (std::optional<Sizes> Asked =
          maybeIntegers({"size", "output_size"}, Dimensions)) {
    To.insert(To.end(), Asked->begin(), Asked->end());
  } else {
    const Argument *Factor = find({"scale_factor", "scale_factors"});
    std::vector<double> Factors;
    if (Factor && Factor->What == Argument::Integers)
      Factors.assign(Factor->Numbers.begin(), Factor->Numbers.end());
    else if (Factor && Factor->What == Argument::Indices)
      for (const Argument &P : Factor->Parts)
        Factors.push_back(P.What == Argument::Real
                              ? P.RealNumber
                              : static_cast<double>(P.Number));
    else if (std::optional<double> Same =
                 maybeReal({"scale_factor", "scale_factors"}))
      Factors.assign(Dimensions, *Same);
    if (Factors.size() == 1)
      Factors.assign(Dimensions, Factors.front());
    if (Factors.size() != Dimensions) {
      notFollowed("the size that '" + Name + "' makes is not known");
      return *Trouble;
    }
    for (size_t I = 0; I < Dimensions; ++I)
      To.push_back(static_cast<int64_t>(
          std::floor(static_cast<double>(From[2 + I]) * Factors[I])));
  }
  const std::string Mode = text({"mode"});
  if (StringRef(Mode).contains_insensitive("area"))
    return one(part(("adaptive_avg_pool" + Twine(Dimensions) + "d").str(),
                    {{"self", argument(X)},
                     {"output_size", argument(lastOf(To, Dimensions))}}));
  const TensorPtr Out = make(To, X);
  // Which elements each one is made of: a number and a weight for each tap.
  const int64_t Taps =
      StringRef(Mode).contains_insensitive("cubic") || Name.contains("cubic")
          ? 4
      : StringRef(Mode).contains_insensitive("linear") ||
              Name.contains("linear")
          ? 2
          : 1;
  uint64_t Table = 0;
  for (const int64_t Size : lastOf(To, Dimensions))
    Table += floats(3 * Taps * Size);
  scratch(Table);
  record({Out}, {{X}}, {}, 0, bytesOf(Out));
  return one(Out);
}

OperatorResult Operator::pad() {
  const TensorPtr X = self();
  Sizes To = X->sizes();
  std::optional<Sizes> By = maybeIntegers({"pad", "padding"});
  if (!By) {
    notFollowed("the width that '" + Name + "' pads is not known");
    return *Trouble;
  }
  // The modules take one number for all sides.
  if (By->size() == 1 && Name.ends_with("d"))
    By = Sizes(2 * (Name[Name.size() - 2] - '0'), By->front());
  if (By->size() % 2 || By->size() / 2 > To.size()) {
    throws("'" + Name + "' is given " + Twine(By->size()) + " widths");
    return *Trouble;
  }
  for (size_t I = 0; I < By->size() / 2; ++I)
    To[To.size() - 1 - I] += (*By)[2 * I] + (*By)[2 * I + 1];
  const std::string Mode = text({"mode"});
  const bool Reads = StringRef(Mode).contains_insensitive("refl") ||
                     StringRef(Mode).contains_insensitive("repl") ||
                     Name.starts_with("refl") || Name.starts_with("repl");
  const BlockPtr Ordered =
      Reads && !X->isContiguous() ? S.scratch(bytesOf(X)) : nullptr;
  const TensorPtr Out = make(To, X);
  record({Out}, {{X}}, Reads ? ArrayRef(X->Memory) : ArrayRef<BlockPtr>(), 0,
         Reads ? bytesOf(Out) : 0);
  return one(Out);
}

OperatorResult Operator::embedding() {
  const TensorPtr Indices = tensor({"indices", "input"}),
                  Weight = tensor({"weight"});
  Sizes To = Indices->sizes();
  if (Weight->sizes().size() != 2) {
    throws("'embedding' is given a table of " + shown(Weight->sizes()));
    return *Trouble;
  }
  To.push_back(Weight->sizes()[1]);
  const TensorPtr Out = make(To, Weight);
  record({Out}, {{Weight}}, {Indices->Memory, Weight->Memory}, 0, bytesOf(Out));
  return one(Out);
}

std::optional<OperatorResult> Operator::runNetwork() {
  StringRef Base = Name;
  unsigned Dimensions = 0;
  if (Base.size() > 2 && Base.back() == 'd' && Base[Base.size() - 2] >= '1' &&
      Base[Base.size() - 2] <= '3') {
    Dimensions = Base[Base.size() - 2] - '0';
    Base = Base.drop_back(2);
  }
  if (Dimensions && (Base == "conv" || Base == "conv_transpose"))
    return convolution(Dimensions, Base != "conv");
  if (Dimensions) {
    const bool Adaptive = Base.consume_front("adaptive_");
    if (Base == "max_pool" || Base == "avg_pool")
      return pool(Dimensions, Base == "max_pool", Adaptive);
    if (Base.ends_with("_pad"))
      return pad();
    if (Base.starts_with("upsample_nearest"))
      return interpolate();
  }
  if (Name == "max_pool2d_with_indices")
    return pool(2, true, false);
  if (Name == "linear")
    return linear();
  if (Name == "matmul" || Name == "mm" || Name == "bmm" || Name == "mv" ||
      Name == "dot")
    return matmul(self(), tensor({"other", "mat2", "vec", "tensor"}));
  if (Name == "einsum")
    return einsum();
  if (Name == "outer" || Name == "ger") {
    const TensorPtr A = self(), B = tensor({"vec2", "other"});
    const TensorPtr Out =
        make({productOf(A->sizes()), productOf(B->sizes())}, promoted(*A, *B));
    record({Out}, {{A}, {B}}, {A->Memory, B->Memory},
           (A->needsGradient() + B->needsGradient()) * bytesOf(Out));
    return one(Out);
  }
  if (Name == "addmm" || Name == "baddbmm") {
    const TensorPtr Sum = self();
    const TensorPtr A = tensor({"mat1", "batch1"}),
                    B = tensor({"mat2", "batch2"});
    const OperatorResult Product = matmul(A, B);
    if (Product.What == OperatorResult::One && Sum->needsGradient()) {
      const TensorPtr &Out = Product.Tensors.front();
      const Sizes To = Out->sizes();
      const int64_t Matrices = To.size() == 3 ? std::max<int64_t>(To[0], 1) : 1;
      std::vector<BlockPtr> Kept;
      if (B->needsGradient())
        Kept.push_back(A->Memory);
      if (A->needsGradient())
        Kept.push_back(B->Memory);
      record({Out},
             {{Sum,
               Sum->sizes() == To ? GradientKind::Alias : GradientKind::Fresh},
              {A},
              {B}},
             Kept, 0, bytesOf(Out) / Matrices);
    }
    return Product;
  }
  if (Name == "batch_norm" || Name == "layer_norm" || Name == "group_norm" ||
      Name == "instance_norm")
    return normalise();
  if (Name == "interpolate" || Name == "upsample_bilinear2d" ||
      Name == "upsample_bicubic2d" || Name == "upsample")
    return interpolate();
  if (Name == "pad" || Name == "constant_pad_nd")
    return pad();
  if (Name == "embedding")
    return embedding();
  if (Name == "pixel_shuffle" || Name == "pixel_unshuffle") {
    const TensorPtr X = self();
    Sizes To = X->sizes();
    const int64_t By = integer({"upscale_factor", "downscale_factor"}, 1);
    if (To.size() < 3 || By <= 0 || By > MostTensors) {
      throws("'" + Name + "' is given a tensor of " + shown(To));
      return *Trouble;
    }
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
    const BlockPtr Ordered =
        X->isContiguous() ? nullptr : S.scratch(bytesOf(X));
    const TensorPtr Out = make(To, X);
    record({Out}, {{X}}, {}, 0, bytesOf(Out));
    return one(Out);
  }
  return std::nullopt;
}

static StringRef operatorOfModule(StringRef Class) {
  return llvm::StringSwitch<StringRef>(Class)
      .Case("Linear", "linear")
      .Case("Conv1d", "conv1d")
      .Case("Conv2d", "conv2d")
      .Case("Conv3d", "conv3d")
      .Case("ConvTranspose1d", "conv_transpose1d")
      .Case("ConvTranspose2d", "conv_transpose2d")
      .Case("ConvTranspose3d", "conv_transpose3d")
      .Cases("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "batch_norm")
      .Cases("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
             "instance_norm")
      .Case("LayerNorm", "layer_norm")
      .Case("GroupNorm", "group_norm")
      .Case("Embedding", "embedding")
      .Case("MaxPool1d", "max_pool1d")
      .Case("MaxPool2d", "max_pool2d")
      .Case("MaxPool3d", "max_pool3d")
      .Case("AvgPool1d", "avg_pool1d")
      .Case("AvgPool2d", "avg_pool2d")
      .Case("AvgPool3d", "avg_pool3d")
      .Case("AdaptiveAvgPool1d", "adaptive_avg_pool1d")
      .Case("AdaptiveAvgPool2d", "adaptive_avg_pool2d")
      .Case("AdaptiveAvgPool3d", "adaptive_avg_pool3d")
      .Case("AdaptiveMaxPool1d", "adaptive_max_pool1d")
      .Case("AdaptiveMaxPool2d", "adaptive_max_pool2d")
      .Case("AdaptiveMaxPool3d", "adaptive_max_pool3d")
      .Case("ReLU", "relu")
      .Case("ReLU6", "relu6")
      .Case("LeakyReLU", "leaky_relu")
      .Case("RReLU", "rrelu")
      .Case("PReLU", "prelu")
      .Case("ELU", "elu")
      .Case("SELU", "selu")
      .Case("CELU", "celu")
      .Case("GELU", "gelu")
      .Case("SiLU", "silu")
      .Case("Mish", "mish")
      .Case("Sigmoid", "sigmoid")
      .Case("Tanh", "tanh")
      .Case("Softplus", "softplus")
      .Case("Hardtanh", "hardtanh")
      .Case("LogSigmoid", "logsigmoid")
      .Case("GLU", "glu")
      .Case("Threshold", "threshold")
      .Case("Softmax", "softmax")
      .Case("LogSoftmax", "log_softmax")
      .Case("Softmin", "softmin")
      .Case("Dropout", "dropout")
      .Case("Dropout2d", "feature_dropout")
      .Case("Dropout3d", "feature_dropout")
      .Case("AlphaDropout", "alpha_dropout")
      .Case("FeatureAlphaDropout", "feature_alpha_dropout")
      .Case("Flatten", "flatten")
      .Case("Unflatten", "unflatten")
      .Case("Identity", "identity")
      .Case("Upsample", "interpolate")
      .Case("PixelShuffle", "pixel_shuffle")
      .Case("PixelUnshuffle", "pixel_unshuffle")
      .Case("ConstantPad1d", "constant_pad1d")
      .Case("ConstantPad2d", "constant_pad2d")
      .Case("ConstantPad3d", "constant_pad3d")
      .Case("ZeroPad2d", "zero_pad2d")
      .Case("ReflectionPad1d", "reflection_pad1d")
      .Case("ReflectionPad2d", "reflection_pad2d")
      .Case("ReplicationPad1d", "replication_pad1d")
      .Case("ReplicationPad2d", "replication_pad2d")
      .Case("ReplicationPad3d", "replication_pad3d")
      .Case("CrossEntropyLoss", "cross_entropy")
      .Case("NLLLoss", "nll_loss")
      .Case("MSELoss", "mse_loss")
      .Case("L1Loss", "l1_loss")
      .Case("SmoothL1Loss", "smooth_l1_loss")
      .Case("HuberLoss", "huber_loss")
      .Case("BCELoss", "binary_cross_entropy")
      .Case("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
      .Case("KLDivLoss", "kl_div")
      .Case("LSTM", "lstm")
      .Case("GRU", "gru")
      .Case("RNN", "rnn_tanh")
      .Case("LSTMCell", "lstm_cell")
      .Case("GRUCell", "gru_cell")
      .Case("RNNCell", "rnn_tanh_cell")
      .Case("MultiheadAttention", "multi_head_attention_forward")
      .Default("");
}

/// From torch/csrc/api/src/nn/modules/transformer.cpp.
static void transformer(StringRef Class, ModuleRun &Run) {
  static constexpr StringRef Encoder[] = {"src", "src_mask",
                                          "src_key_padding_mask"},
                             Decoder[] = {"tgt",
                                          "memory",
                                          "tgt_mask",
                                          "memory_mask",
                                          "tgt_key_padding_mask",
                                          "memory_key_padding_mask"},
                             Both[] = {"src",
                                       "tgt",
                                       "src_mask",
                                       "tgt_mask",
                                       "memory_mask",
                                       "src_key_padding_mask",
                                       "tgt_key_padding_mask",
                                       "memory_key_padding_mask"};
  constexpr bool Continues = true;
  if (Class == "TransformerEncoderLayer") {
    Run.Inputs = Encoder;
    Run.Steps = {
        {"x",
         "self_attn",
         {"src", "src", "src", "src_key_padding_mask", "true", "src_mask"}},
        {"a", "dropout1", {"x"}, Continues},
        {"b", "+", {"src", "a"}, Continues},
        {"ret", "norm1", {"b"}},
        {"a", "linear1", {"ret"}, Continues},
        {"b", "=activation", {"a"}, Continues},
        {"c", "dropout", {"b"}, Continues},
        {"x", "linear2", {"c"}},
        {"a", "dropout2", {"x"}, Continues},
        {"b", "+", {"ret", "a"}, Continues},
        {"ret", "norm2", {"b"}}};
  } else if (Class == "TransformerDecoderLayer") {
    Run.Inputs = Decoder;
    Run.Steps = {
        {"x",
         "self_attn",
         {"tgt", "tgt", "tgt", "tgt_key_padding_mask", "false", "tgt_mask"}},
        {"a", "dropout1", {"x"}, Continues},
        {"b", "+", {"tgt", "a"}, Continues},
        {"ret", "norm1", {"b"}},
        {"x",
         "multihead_attn",
         {"ret", "memory", "memory", "memory_key_padding_mask", "false",
          "memory_mask"}},
        {"a", "dropout2", {"x"}, Continues},
        {"b", "+", {"ret", "a"}, Continues},
        {"ret", "norm2", {"b"}},
        {"a", "linear1", {"ret"}, Continues},
        {"b", "=activation", {"a"}, Continues},
        {"c", "dropout", {"b"}, Continues},
        {"x", "linear2", {"c"}},
        {"a", "dropout3", {"x"}, Continues},
        {"b", "+", {"ret", "a"}, Continues},
        {"ret", "norm3", {"b"}}};
  } else if (Class == "TransformerEncoder") {
    Run.Inputs = Encoder;
    Run.Steps = {
        {"ret", "layers*", {"src", "src_mask", "src_key_padding_mask"}},
        {"ret", "norm", {"ret"}}};
  } else if (Class == "TransformerDecoder") {
    Run.Inputs = Decoder;
    Run.Steps = {{"ret",
                  "layers*",
                  {"tgt", "memory", "tgt_mask", "memory_mask",
                   "tgt_key_padding_mask", "memory_key_padding_mask"}},
                 {"ret", "norm", {"ret"}}};
  } else if (Class == "Transformer") {
    Run.Inputs = Both;
    Run.Steps = {
        {"memory", "encoder", {"src", "src_mask", "src_key_padding_mask"}},
        {"ret",
         "decoder",
         {"tgt", "memory", "tgt_mask", "memory_mask", "tgt_key_padding_mask",
          "memory_key_padding_mask"}}};
  }
}

StringRef activationNamed(StringRef Enumerator) {
  return Enumerator.contains_insensitive("gelu") ? "gelu" : "relu";
}

ModuleRun runOfModule(StringRef Class) {
  static constexpr StringRef Inputs[] = {"input", "target"},
                             Recurrent[] = {"input", "hx"},
                             Attention[] = {"query",
                                            "key",
                                            "value",
                                            "key_padding_mask",
                                            "need_weights",
                                            "attn_mask",
                                            "average_attn_weights"};
  ModuleRun Result;
  Result.Operator = operatorOfModule(Class);
  Result.Inputs = Inputs;
  if (Class.starts_with("LSTM") || Class.starts_with("GRU") ||
      Class.starts_with("RNN"))
    Result.Inputs = Recurrent;
  Result.NestsState = Class == "LSTM";
  if (Class == "MultiheadAttention")
    Result.Inputs = Attention;
  Result.IsFunctional = Class == "Functional";
  auto Default = [&](StringRef Option, int64_t Number) {
    Argument A;
    A.What = Argument::Integer;
    A.Number = Number;
    Result.Defaults[Option.str()] = A;
  };
  if (Class == "Flatten")
    Default("start_dim", 1);
  transformer(Class, Result);
  return Result;
}

} // namespace libtorch_tidy::torch
