//===- ConvolutionOperators.cpp - Convolution -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

namespace {

/// What a convolution is given, and what follows of it.
struct Convolved {
  bool IsTransposed = false, IsBatched = false;
  Tensor X, W, B;
  Sizes Kernel, Strides, Paddings, Dilation;
  int64_t Groups = 1;
  Sizes From, To; ///< With a batch.
  bool IsDilated = false, IsPointwise = true;
  int64_t Split = 1; ///< In so many parts, each with its channels.
  uint64_t XPart = 0, OutPart = 0;
  /// In use at once, after the result (the columns of a whole batch: before).
  uint64_t Columns = 0, BackwardColumns = 0;

  /// One image is seen as a batch of one.
  GradientKind kindOfImage() const {
    return IsBatched ? GradientKind::Fresh : GradientKind::Seen;
  }
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
  Sizes &Strides = Of.Strides = Op.integers("stride", Dimensions, 1),
        &Dilation = Of.Dilation = Op.integers("dilation", Dimensions, 1),
        &Paddings = Of.Paddings = Sizes(Dimensions, 0);
  const Sizes More = Op.integers("output_padding", Dimensions);
  Of.Groups = std::max<int64_t>(Op.integer("groups", 1), 1);
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
  Op.haveOneKind(Of.X, Of.W);
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
      Op.leavesNothing(Of.X, Of.Kernel);
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
    // Those of the whole batch since 2.0, and no ones to add the bias with.
    Of.Columns = Op.isSince(2, 0) && Op.Dimensions < 3
                     ? N * Of.BackwardColumns
                     : Of.BackwardColumns + (Of.B ? Elements(Outside) : 0);
    // What comes is the columns of a pixel alone.
    if (Of.IsPointwise)
      Of.BackwardColumns = 0;
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

//===----------------------------------------------------------------------===//
// oneDNN
//===----------------------------------------------------------------------===//

static bool isAlways(const Sizes &Of, int64_t Value) {
  return llvm::all_of(Of, [=](int64_t Each) { return Each == Value; });
}

/// Does LibTorch give the convolution to oneDNN? As use_mkldnn() of
/// aten/src/ATen/native/Convolution.cpp has it, for one thread.
static bool runsInOneDnn(const OperatorCall &Op, const Convolved &Of) {
  if (Op.S.Device != DeviceKind::CpuOneDnn ||
      typeOf(Of.X).Name != Float32.Name ||
      (Of.IsTransposed && !Op.isSince(2, 0)))
    return false;
  const int64_t N = Of.From[0];
  if (isAlways(Of.Kernel, 1) && isAlways(Of.Strides, 1) && !Of.IsDilated &&
      N < 16)
    return false;
  // What it calls large: one dimension is seen as the last of two.
  constexpr int64_t LargeImage = 20480;
  const Sizes Inside = lastOf(Of.From, Op.Dimensions);
  const bool LargeKernel =
      Op.Dimensions > 1 && Of.Kernel.end()[-1] > 3 && Of.Kernel.end()[-2] > 3;
  return Of.Groups > 1 || N > 1 || LargeKernel ||
         productOf({Of.From[1], Inside[0], Op.Dimensions > 1 ? Inside[1] : 1}) >
             LargeImage;
}

namespace {

/// One of the three runs of a convolution: of the result, of the gradient of
/// the image and of that of the weights.
struct OneDnnRun {
  uint64_t In;          ///< Copies of what it reads, which go first.
  uint64_t Out;         ///< What it writes, before that is copied to a tensor:
  unsigned Tensors = 1; ///< in so many steps.

  uint64_t peak(uint64_t Tensor) const {
    return Out + std::max(In, Tensors * Tensor);
  }
};

/// The memory that oneDNN takes for a convolution of float32 on a CPU with
/// AVX-512: images and weights are copied to blocks of 16 channels, and what
/// does not fit into blocks is laid out as columns. Measured with LibTorch
/// 1.13.1, 2.6.0 and 2.14.1 (docs/budget.md). A transposed one makes the image
/// of the result, so what is called an image here is its result.
class OneDnnConvolution {
public:
  OneDnnConvolution(OperatorCall &Op, const Convolved &Of);
  OneDnnRun forward() const;
  /// The most at once in backward(), gradients included.
  uint64_t backward() const;

private:
  static constexpr int64_t Lanes = 16; ///< float32 in a register.
  /// What memory that oneDNN asks for itself has besides.
  static constexpr uint64_t Alignment = 128;
  /// Pads channels; \p Block is Lanes, half of it, or 1 for none.
  int64_t padded(int64_t Channels, int64_t Block) const {
    return HasBlocks ? llvm::alignTo(Channels, Block) : Channels;
  }
  uint64_t bytes(ArrayRef<int64_t> Counts) const {
    return elementsOf(productOf(Counts), Float32.Bytes);
  }
  uint64_t result(int64_t Block) const {
    return bytes({Of.From[0], padded(OC, Block), Outside});
  }
  uint64_t image(int64_t Block) const {
    return bytes({Of.From[0], padded(C, Block), Inside});
  }
  uint64_t imageRead() const { return ReadsImage ? 0 : image(Lanes); }
  uint64_t weights(int64_t Block, int64_t ImageBlock) const;
  /// What it lays out of an image that is read with a stride, pixel by pixel.
  uint64_t picked() const {
    return Picks ? bytes({padded(C, Lanes), Outside}) + Alignment : 0;
  }
  /// A bias, or its gradient, for whole blocks.
  uint64_t paddedBias() const {
    return Of.B && HasBlocks && OC % Lanes
               ? bytes(padded(OC, Lanes)) + Alignment
               : 0;
  }
  uint64_t spreading() const;
  uint64_t weightsOfImageRead() const {
    return weights(Lanes, ReadsImage ? 1 : Lanes);
  }
  OneDnnRun ofResult() const {
    return HasColumns ? OneDnnRun{Columns, result(1)}
                      : OneDnnRun{imageRead() + weightsOfImageRead() + picked(),
                                  result(Lanes)};
  }
  OneDnnRun ofImage() const;
  OneDnnRun ofWeights() const;

  const Convolved &Of;
  int64_t C, OC, Inside, Outside; ///< Channels and pixels of image and result.
  const int64_t Taps;
  bool IsDepthwise, HasBlocks;
  bool ReadsImage;    ///< As it lies.
  bool Spreads;       ///< The gradient of the image has holes between pixels.
  bool Picks;         ///< Each of its pixels is one of the image's, not all.
  bool HasColumns;    ///< In all runs,
  bool ImageColumns;  ///< in that of the image's gradient,
  bool WeightColumns; ///< in that of the weights' gradient.
  uint64_t Columns;
};

} // namespace

OneDnnConvolution::OneDnnConvolution(OperatorCall &Op, const Convolved &Of)
    : Of(Of), C(Of.From[1]), OC(Of.To[1]),
      Inside(productOf(lastOf(Of.From, Op.Dimensions))),
      Outside(productOf(lastOf(Of.To, Op.Dimensions))),
      Taps(productOf(Of.Kernel)) {
  if (Of.IsTransposed) {
    std::swap(C, OC);
    std::swap(Inside, Outside);
  }
  const int64_t OfGroup = C / Of.Groups, OutOfGroup = OC / Of.Groups;
  auto Divides = [&](int64_t Block) {
    return OfGroup % Block == 0 && OutOfGroup % Block == 0;
  };
  IsDepthwise = Of.Groups > 1 && OfGroup == 1 && OutOfGroup == 1;
  HasBlocks = IsDepthwise || Of.Groups == 1 || Divides(Lanes);
  const bool IsStrided = !isAlways(Of.Strides, 1);
  HasColumns = (Taps == 1 && !isAlways(Of.Paddings, 0)) ||
               (IsDepthwise ? Op.Dimensions == 3 && !Op.isSince(2, 0)
                            : !HasBlocks && !Divides(4));
  ImageColumns =
      HasColumns || (Of.IsDilated && (IsStrided || Op.Dimensions == 3));
  WeightColumns = ImageColumns || (IsDepthwise && Of.Kernel.back() != 3);
  Spreads = IsStrided && Op.isSince(2, 0) && Of.Groups == 1;
  Picks = IsStrided && Taps == 1 && HasBlocks && !HasColumns;
  // The pixels of few channels are read as they lie.
  ReadsImage =
      Of.X->hasChannelsLast() ||
      (C < Lanes && Of.Groups == 1 && !(Of.IsPointwise && Op.Dimensions < 3));
  Columns = bytes({OfGroup, Taps, Outside});
}

uint64_t OneDnnConvolution::weights(int64_t Block, int64_t ImageBlock) const {
  if (IsDepthwise)
    return bytes({padded(C, Block), Taps});
  if (Of.Groups > 1)
    return bytesOf(Of.W);
  return bytes({padded(C, ImageBlock), padded(OC, Block), Taps});
}

OneDnnRun OneDnnConvolution::ofImage() const {
  if (ImageColumns)
    return {Columns, image(1)};
  // It writes pixel by pixel, and the channels are taken apart once more.
  if (Spreads)
    return {result(1) + weights(1, Lanes) + spreading(), image(1),
            C > 1 ? 2U : 1U};
  return {result(Lanes) + weights(Lanes, Lanes) + picked(), image(Lanes)};
}

/// The buffers through which it does so: one image of what is read, with a
/// border, in units of 16 KB, and where the stride does not divide the sizes of
/// what is written, all of that.
uint64_t OneDnnConvolution::spreading() const {
  constexpr uint64_t Own = 4248, Unit = 16384, OfRest = 20608;
  const Sizes &Read = Of.IsTransposed ? Of.From : Of.To,
              &Written = Of.IsTransposed ? Of.To : Of.From;
  int64_t Bordered = OC;
  bool Divides = true;
  for (size_t I = 0; I < Of.Kernel.size(); ++I) {
    const int64_t Border =
        (Of.Dilation[I] * (Of.Kernel[I] - 1) - Of.Paddings[I]) / Of.Strides[I];
    Bordered =
        productOf({Bordered, Read[2 + I] + 2 * std::max<int64_t>(Border, 0)});
    Divides &= Written[2 + I] % Of.Strides[I] == 0;
  }
  return Own + Unit + llvm::alignTo(bytes(Bordered), Unit) +
         (Divides ? 0 : OfRest + image(1));
}

OneDnnRun OneDnnConvolution::forward() const {
  OneDnnRun Run = Of.IsTransposed ? ofImage() : ofResult();
  if (HasColumns)
    return Run;
  // A transposed one gets its bias in a result of its own.
  if (!Of.IsTransposed)
    Run.In += paddedBias();
  else if (Of.B && HasBlocks && !Spreads)
    Run.In += image(Lanes) + Alignment;
  return Run;
}

OneDnnRun OneDnnConvolution::ofWeights() const {
  if (WeightColumns)
    return {Columns + 4 * bytesOf(Of.W), bytesOf(Of.W)};
  // Few channels, which blocks of 16 would waste, have blocks of 8 here.
  constexpr int64_t Half = Lanes / 2;
  if (ReadsImage && C > 3 && !Of.X->hasChannelsLast())
    return {result(Half) + image(Half) + paddedBias(), weights(Half, Half)};
  return {result(Lanes) + imageRead() + picked() + paddedBias(),
          weightsOfImageRead()};
}

uint64_t OneDnnConvolution::backward() const {
  const uint64_t OfX = gradientBytes(Of.X), OfW = gradientBytes(Of.W);
  const OneDnnRun First = Of.IsTransposed ? ofResult() : ofImage();
  return std::max(OfX ? First.peak(OfX) : 0,
                  OfW ? OfX + ofWeights().peak(OfW) : 0);
}

static OperatorResult convolutionInOneDnn(OperatorCall &Op,
                                          const Convolved &Of) {
  const OneDnnConvolution Memory(Op, Of);
  const OneDnnRun Run = Memory.forward();
  // Both passes read an image in order.
  const BlockPtr Ordered =
      Of.X->hasChannelsLast() ? nullptr : Op.copyInOrder(Of.X);
  const uint64_t OfOrdered = Ordered ? bytesOf(Of.X) : 0;
  BlockPtr Read = Op.scratch(Run.In);
  const BlockPtr Written = Op.scratch(Run.Out);
  Read = nullptr;
  Tensor Out = Op.make(Of.To, Of.X);
  if (Run.Tensors > 1)
    Op.scratch((Run.Tensors - 1) * bytesOf(Out));
  if (!Of.IsBatched)
    Out = Op.withoutDimension(Out, 0);
  const uint64_t Gradients =
      gradientBytes(Of.X) + gradientBytes(Of.W) + gradientBytes(Of.B);
  const uint64_t Most = std::max(Memory.backward(), Gradients) + OfOrdered;
  // What comes is copied in order, and the copy lives as long.
  return Op.record({Out}, {{Of.X, Of.kindOfImage()}, {Of.W}, {Of.B}},
                   {Of.X, Of.W}, Most - Gradients,
                   Most - Gradients + bytesOf(Out));
}

//===----------------------------------------------------------------------===//
// LibTorch's own
//===----------------------------------------------------------------------===//

/// As ConvImpl::forward() runs it.
static OperatorResult convolutionOfPadded(OperatorCall &Op, StringRef Mode) {
  const StringRef Named = Op.text("padding");
  Sizes Twice;
  if (Named.contains_insensitive("same")) {
    const Sizes Kernel = lastOf(Op.tensor("weight")->sizes(), Op.Dimensions),
                Dilation = Op.integers("dilation", Op.Dimensions, 1);
    // In the order of the dimensions, though "pad" begins with the last one.
    for (size_t I = 0; I < Kernel.size() && I < Dilation.size(); ++I) {
      const int64_t All = Dilation[I] * (Kernel[I] - 1);
      Twice.insert(Twice.end(), {All / 2, All - All / 2});
    }
  } else {
    const Sizes Paddings = Named.empty() ? Op.integers("padding", Op.Dimensions)
                                         : Sizes(Op.Dimensions, 0);
    for (const int64_t Padding : llvm::reverse(Paddings))
      Twice.insert(Twice.end(), 2, Padding);
  }
  if (Op.Trouble || !Op.areSmall({Twice}))
    return {};
  const Cell How = valueOf(Value::Other, &Value::Name, Mode.str());
  const Tensor Padded = Op.self().run("pad", {{"pad", Twice}, {"mode", How}});
  Arguments With = Op.Given;
  for (const char *Name : {"self", "padding", "padding_mode"})
    With.erase(Name);
  With["input"] = Padded;
  return Op.run(Op.Name, With);
}

/// The copies of floats that the gradient of the bias is added up in, if it is:
/// those of a group. Dilated ones add up the pixels of each image by itself.
static uint64_t widenedToBias(const OperatorCall &Op, const Convolved &Of) {
  if (!gradientBytes(Of.B) || (Of.IsDilated && !Of.IsTransposed))
    return 0;
  Sizes Part = Of.To;
  Part[1] /= Of.Split;
  std::vector<int> Axes(Part.size(), -1);
  Axes[1] = 0;
  return Op.widenedToSum(typeOf(Of.X), Part, contiguousStrides(Part), Axes);
}

/// The result of a part. In three dimensions a transposed convolution makes it
/// for the sizes of its input, and then gives it its own: it grows and does not
/// shrink.
static Tensor resultOf(OperatorCall &Op, const Convolved &Of) {
  Sizes From = Of.From, To = Of.To;
  From[1] /= Of.Split;
  To[1] /= Of.Split;
  if (!Of.IsTransposed || Op.Dimensions != 3 || Op.isOnGpu())
    return Op.make(To, Of.X);
  const Tensor First = Op.make(From, Of.X);
  return productOf(To) > productOf(From)
             ? Op.make(To, Of.X)
             : Op.view(First, To, contiguousStrides(To));
}

/// at::native::slow_conv2d and its relatives, which lay out what each output
/// sees as columns, and multiply; unless it is oneDNN's.
static OperatorResult convolution(OperatorCall &Op) {
  // Another mode than zeros pads a copy first.
  const StringRef Mode = Op.text("padding_mode");
  if (!Mode.empty() && !Mode.contains_insensitive("zeros"))
    return convolutionOfPadded(Op, Mode);
  Convolved Of;
  if (!readConvolution(Op, Of))
    return {};
  Op.S.HasConvolutions |= typeOf(Of.X).Name == Float32.Name;
  if (runsInOneDnn(Op, Of))
    return convolutionInOneDnn(Op, Of);
  layOutConvolution(Op, Of);
  const Tensor &X = Of.X, &W = Of.W, &B = Of.B;
  // A tensor whose elements do not lie in order is copied, for the moment; or
  // the weights, where the channels of an image are last.
  const bool Last = Op.Dimensions == 2 &&
                    (!Of.IsTransposed || Op.isSince(2, 0)) && !Op.isOnGpu() &&
                    X->isChannelsLast();
  if (Of.Split > 1)
    Op.estimateChannelsLast(X, "a convolution in groups of channels that are "
                               "last");
  const uint64_t InOrder = X->isContiguous()      ? 0
                           : !Last                ? bytesOf(X)
                           : W->hasChannelsLast() ? 0
                                                  : bytesOf(W);
  const BlockPtr Ordered = InOrder ? Op.allocate(InOrder) : nullptr;
  // The columns of a whole batch are there before the result; parts of one are
  // copied, since only those of one sample are in order.
  const bool IsFirst = Of.Split == 1 && !Of.IsTransposed && !Of.IsDilated,
             Copies = Of.Split > 1 && Of.From[0] > 1;
  BlockPtr Columns = IsFirst && Of.Columns ? Op.scratch(Of.Columns) : nullptr;
  std::vector<Tensor> Parts;
  // On a GPU it is not known what kernels make for themselves.
  const int64_t Count =
      Of.Split > 1 && !Op.isOnGpu() ? std::min<int64_t>(Of.Split, 65536) : 0;
  for (int64_t G = 0; G < Count; ++G) {
    const BlockPtr Part = Copies ? Op.scratch(Of.XPart) : nullptr;
    Parts.push_back(resultOf(Op, Of));
    Op.scratch(Of.Columns);
  }
  Tensor Out = Of.Split > 1 ? Op.make(Of.To, X) : resultOf(Op, Of);
  if (Last)
    Out->Strides = orderOf(Of.To, {X->Strides});
  Columns = nullptr;
  Parts.clear();
  if (Of.Split == 1 && !IsFirst)
    Op.scratch(Of.Columns);
  if (!Of.IsBatched)
    Out = Op.withoutDimension(Out, 0);
  // Columns, and a copy of what comes, are there when a transposed one in three
  // dimensions adds up the gradient of its bias.
  const uint64_t OfBias = widenedToBias(Op, Of);
  const bool AddsLate = Of.IsTransposed && Op.Dimensions == 3;
  uint64_t Scratch = AddsLate ? Of.BackwardColumns + OfBias
                              : std::max(Of.BackwardColumns, OfBias);
  uint64_t SparseScratch =
      (AddsLate ? Scratch : Of.BackwardColumns) + bytesOf(Out);
  if (Of.Split > 1) {
    const uint64_t Gradients = gradientBytes(X) +
                               (Op.S.GradMode ? gradientBytes(W) : 0) +
                               gradientBytes(B);
    const uint64_t OfOne = Scratch + (Copies ? Of.XPart + Of.OutPart : 0);
    // Parts of what comes are copied for groups anyway.
    Scratch = std::max(OfOne, Gradients);
    SparseScratch = std::max(OfOne + (Copies ? 0 : Of.OutPart), Gradients);
  }
  // Both of the image's gradient and of the weights' are laid out, where those
  // of the weights need no columns.
  const uint64_t Overlap = Op.Dimensions == 3 && IsFirst && !Of.Columns
                               ? std::min(Scratch, InOrder)
                               : 0;
  const OperatorResult Result =
      Op.record({Out}, {{X, Of.kindOfImage()}, {W}, {B}}, {X, W},
                Scratch + InOrder - Overlap, SparseScratch + InOrder - Overlap);
  // What comes is read in the same order.
  if (Last && Out->Maker)
    Out->Maker->Reads = [](const TensorInstance &Gradient) {
      return Gradient.hasChannelsLast();
    };
  return Result;
}

static constexpr OperatorRule ConvolutionRows[] = {
    {"conv#d conv_transpose#d", convolution},
};
const RuleTable ConvolutionRules = {ConvolutionRows};

} // namespace libtorch_tidy::bytes
