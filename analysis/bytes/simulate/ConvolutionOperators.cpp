//===- ConvolutionOperators.cpp - Convolutions ----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"

using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

namespace {

/// What a convolution is given, and what follows of it.
struct Convolved {
  bool IsTransposed = false, IsBatched = false;
  Tensor X, W, B;
  Sizes Kernel;
  int64_t Groups = 1;
  Sizes From, To; ///< With a batch.
  bool IsDilated = false, IsPointwise = true;
  int64_t Split = 1; ///< In so many parts, each with its channels.
  uint64_t XPart = 0, OutPart = 0;
  /// In use at once, after the result (the columns of a whole batch: before).
  uint64_t Columns = 0, BackwardColumns = 0;

  /// Parts of the batch are copied: only those of one sample lie in order.
  bool copiesParts() const { return Split > 1 && From[0] > 1; }
};

} // namespace

/// Reads the arguments, and the sizes of the result from them. False, and
/// trouble, where they make no sense.
static bool readConvolution(OperatorCall &Op, Convolved &Of) {
  const unsigned Dimensions = Op.Dimensions;
  Of.IsTransposed = Op.Base != "conv#d";
  Of.X = Op.self();
  Of.W = Op.tensor("weight");
  Of.B = Op.maybeTensor("bias");
  const Sizes OfWeight = Of.W->sizes(), OfX = Of.X->sizes();
  Of.Kernel = lastOf(OfWeight, Dimensions);
  const Sizes Strides = Op.integers("stride", Dimensions, 1),
              Dilation = Op.integers("dilation", Dimensions, 1),
              More = Op.integers("output_padding", Dimensions);
  Of.Groups = std::max<int64_t>(Op.integer("groups", 1), 1);
  Sizes Paddings(Dimensions, 0);
  const StringRef Named = Op.text("padding");
  if (Named.contains_insensitive("same"))
    for (unsigned I = 0; I < Dimensions && I < Of.Kernel.size(); ++I)
      Paddings[I] = Dilation[I] * (Of.Kernel[I] - 1) / 2;
  else if (Named.empty())
    Paddings = Op.integers("padding", Dimensions);
  if (!Op.areSmall({Strides, Dilation, More, Paddings}))
    return false;
  Of.From = OfX;
  Of.IsBatched = OfX.size() == Dimensions + 2;
  if (!Of.IsBatched)
    Of.From.insert(Of.From.begin(), 1);
  if (Of.From.size() != Dimensions + 2 || OfWeight.size() != Dimensions + 2) {
    Op.doesNotTake(Of.X);
    return false;
  }
  const int64_t Channels = Of.From[1];
  const int64_t Expected =
      Of.IsTransposed ? OfWeight[0] : OfWeight[1] * Of.Groups;
  if (Channels != Expected)
    Op.throws("'" + Op.Name + "' takes " + Twine(Expected) +
              " channels, and is given " + Twine(Channels) + ": " + shown(OfX));
  Of.To = {Of.From[0], Of.IsTransposed ? OfWeight[1] * Of.Groups : OfWeight[0]};
  for (unsigned I = 0; I < Dimensions; ++I) {
    const int64_t In = Of.From[2 + I], Stride = Strides[I],
                  Padding = Paddings[I];
    const int64_t Extent = Dilation[I] * (Of.Kernel[I] - 1) + 1;
    if (Stride <= 0) {
      Op.throws("'" + Op.Name + "' has a stride of " + Twine(Stride));
      return false;
    }
    Of.To.push_back(Of.IsTransposed
                        ? (In - 1) * Stride - 2 * Padding + Extent + More[I]
                        : (In + 2 * Padding - Extent) / Stride + 1);
    if ((!Of.IsTransposed && In + 2 * Padding < Extent) || Of.To.back() <= 0)
      Op.throws("'" + Op.Name + "' of " + shown(OfX) + " with a kernel of " +
                shown(Of.Kernel) + " leaves nothing");
    Of.IsDilated |= Dilation[I] != 1;
    Of.IsPointwise &= Of.Kernel[I] == 1 && Stride == 1 && Padding == 0;
  }
  return !Op.Trouble;
}

/// Sets what is laid out meanwhile.
static void layOutConvolution(OperatorCall &Op, Convolved &Of) {
  auto Elements = [&](int64_t Count) {
    return elementsOf(Count, typeOf(Of.X).Bytes);
  };
  const int64_t N = Of.From[0],
                Inside = productOf(lastOf(Of.From, Op.Dimensions)),
                Outside = productOf(lastOf(Of.To, Op.Dimensions)),
                Taps = productOf(Of.Kernel);
  // A slice of the channels of one sample lies in order.
  const bool GroupsInside =
      Op.Dimensions == 3 && !Of.IsDilated && !Of.IsTransposed;
  // Groups have columns all the same.
  const bool IsPointwise =
      Of.IsPointwise && !(Op.Dimensions == 3 && Of.Groups > 1);
  Of.Split = GroupsInside ? 1 : Of.Groups;
  const int64_t C = Of.From[1] / Of.Split, OC = Of.To[1] / Of.Split;
  Of.XPart = Elements(N * C * Inside);
  Of.OutPart = Elements(N * OC * Outside);
  if (Of.IsTransposed) {
    Of.BackwardColumns = Elements(OC * Taps * Inside);
    Of.Columns = Of.BackwardColumns + (Of.B ? Elements(Outside) : 0);
  } else if (Of.IsDilated) {
    Of.Columns = Elements(C * Taps * Outside);
    Of.BackwardColumns = Of.Columns + (Of.B ? Elements(OC) : 0);
  } else {
    Of.Columns = IsPointwise ? 0 : Elements(C * Taps * N * Outside);
    Of.BackwardColumns = Op.Dimensions == 3 && IsPointwise
                             ? Elements(C * N * Inside)
                             : Of.Columns;
    if (!Of.W->needsGradient() || !Op.S.GradMode)
      Of.BackwardColumns = 0;
  }
}

/// The result, and what is in use next to it.
static Tensor convolve(OperatorCall &Op, const Convolved &Of) {
  if (Of.Split == 1) {
    const bool First = !Of.IsTransposed && !Of.IsDilated;
    const BlockPtr Before =
        First && Of.Columns ? Op.scratch(Of.Columns) : nullptr;
    Tensor Out = Op.make(Of.To, Of.X);
    if (!First)
      Op.scratch(Of.Columns);
    return Out;
  }
  std::vector<BlockPtr> Parts;
  for (int64_t G = 0; G < Of.Split && Parts.size() < 65536; ++G) {
    const BlockPtr Part = Of.copiesParts() ? Op.scratch(Of.XPart) : nullptr;
    const BlockPtr Work = Op.scratch(Of.Columns);
    Parts.push_back(Op.scratch(Of.OutPart));
  }
  return Op.make(Of.To, Of.X);
}

/// Without oneDNN: at::native::slow_conv2d and its relatives, which lay out
/// what each output sees as columns, and multiply.
static OperatorResult convolution(OperatorCall &Op) {
  Convolved Of;
  if (!readConvolution(Op, Of))
    return {};
  layOutConvolution(Op, Of);
  const Tensor &X = Of.X, &W = Of.W, &B = Of.B;
  // A tensor whose elements do not lie in order is copied, for the moment.
  const uint64_t InOrder = X->isContiguous() ? 0 : bytesOf(X);
  const BlockPtr Ordered = InOrder ? Op.allocate(InOrder) : nullptr;
  Tensor Out = convolve(Op, Of);
  if (!Of.IsBatched)
    Out = Op.withoutDimension(Out, 0);
  uint64_t Scratch = Of.BackwardColumns, SparseScratch = Scratch;
  if (Of.Split > 1) {
    const uint64_t Gradients = gradientBytes(X) +
                               (Op.S.GradMode ? gradientBytes(W) : 0) +
                               gradientBytes(B);
    const bool Copies = Of.copiesParts();
    const uint64_t OfOne =
        Of.BackwardColumns + (Copies ? Of.XPart + Of.OutPart : 0);
    // Parts of what comes are copied for groups anyway.
    Scratch = std::max(OfOne, Gradients);
    SparseScratch = std::max(OfOne + (Copies ? 0 : Of.OutPart), Gradients);
  } else {
    SparseScratch += bytesOf(Out);
  }
  return Op.record({Out}, {{X}, {W}, {B}}, {X, W}, Scratch + InOrder,
                   SparseScratch + InOrder);
}

static constexpr OperatorRule ConvolutionRows[] = {
    {"conv#d conv_transpose#d", convolution},
};
const RuleTable ConvolutionRules = {ConvolutionRows};

} // namespace libtorch_tidy::bytes
