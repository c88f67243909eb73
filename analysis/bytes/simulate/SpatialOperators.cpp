//===- SpatialOperators.cpp - Pooling, resizing, sampling -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Pooling, resizing, padding
//===----------------------------------------------------------------------===//

/// The sizes of \p X: \p Outer of samples and channels, or of channels alone,
/// and
/// \p Inside of as many dimensions as the name of the operator has. False, and
/// trouble, where it has others.
static bool splitSizes(OperatorCall &Op, const Tensor &X, Sizes &Outer,
                       Sizes &Inside) {
  const Sizes All = X->sizes();
  if (All.size() != Op.Dimensions + 1 && All.size() != Op.Dimensions + 2) {
    Op.doesNotTake(X);
    return false;
  }
  Outer.assign(All.begin(), All.end() - Op.Dimensions);
  Inside = lastOf(All, Op.Dimensions);
  return true;
}

namespace {

/// How a kernel goes over each dimension.
struct Window {
  Sizes Kernel, Stride, Padding, Dilation;

  /// How far it can move; negative where it does not fit.
  int64_t room(unsigned D, int64_t Size) const {
    return Size + 2 * Padding[D] - Dilation[D] * (Kernel[D] - 1) - 1;
  }
};

} // namespace

/// Without a \p Stride, that of the kernel. nullopt, and trouble, where a
/// number is beyond all sense.
static std::optional<Window>
windowOf(OperatorCall &Op, unsigned Dimensions, int64_t Kernel,
         std::optional<int64_t> Stride = std::nullopt) {
  Window W;
  W.Kernel = Op.integers("kernel_size", Dimensions, Kernel);
  W.Stride = Op.maybeIntegers("stride", Dimensions)
                 .value_or(Stride ? Sizes(Dimensions, *Stride) : W.Kernel);
  W.Padding = Op.integers("padding", Dimensions);
  W.Dilation = Op.integers("dilation", Dimensions, 1);
  return Op.areSmall({W.Kernel, W.Stride, W.Padding, W.Dilation})
             ? std::optional(W)
             : std::nullopt;
}

/// The pools of one dimension see it as two.
static GradientKind kindOfPooled(const OperatorCall &Op) {
  return Op.Dimensions == 1 ? GradientKind::Seen : GradientKind::Fresh;
}

/// Are the channels of \p T last, and does it not lie in order as well? One
/// dimension is seen as two.
static bool hasChannelsLast(unsigned Dimensions, const TensorPtr &T) {
  if (T->isContiguous() || T->hasChannelsLast())
    return !T->isContiguous();
  if (Dimensions != 1 || T->Strides.size() != 3)
    return false;
  const Sizes Of = T->sizes(), &Strides = T->Strides;
  return Of[1] > 1 && Strides[1] == 1 && Strides[2] == Of[1] &&
         (Of[0] == 1 || Strides[0] == Of[1] * Of[2]);
}

/// The largest elements of each window, and their places, which are kept.
static OperatorResult largest(OperatorCall &Op, const Tensor &X,
                              const Sizes &To) {
  const unsigned Dimensions = Op.Dimensions;
  const Tensor Out = Op.make(To, X), Indices = Op.make(To, Int64);
  const bool Last = Dimensions < 3 && hasChannelsLast(Dimensions, X);
  if (Last)
    Out->Strides = Indices->Strides = orderOf(To, {X->Strides});
  // The kernel of three dimensions reads by strides.
  else if (Dimensions < 3 || !Op.Base.starts_with("adaptive"))
    Op.copyInOrder(X);
  // Where what comes has other channels, the places and the gradient are copied
  // as well, or what comes alone.
  const bool IsAdaptive = Op.Base.starts_with("adaptive");
  const uint64_t Copies = !Last        ? 0
                          : IsAdaptive ? bytesOf(Out)
                                       : bytesOf(Indices) + bytesOf(X);
  const OperatorResult Values = Op.record(
      {Out}, {{X, kindOfPooled(Op)}}, {X, Indices},
      [=](const OperatorCall &, const GradientNode &, const TensorPtr &Come) {
        if (hasChannelsLast(Dimensions, Come))
          return uint64_t(0);
        const bool Reads = Come->isContiguous() || (Last && IsAdaptive);
        return Copies + (Reads ? 0 : bytesOf(Come));
      });
  if (Op.Name.ends_with("with_indices"))
    return std::vector<Tensor>{Out, Indices};
  return Values;
}

static OperatorResult pool(OperatorCall &Op) {
  const unsigned Dimensions = Op.Dimensions;
  const bool Max = Op.Base.contains("max"),
             Adaptive = Op.Base.starts_with("adaptive");
  const Tensor X = Op.self();
  Sizes To, Inside;
  if (!splitSizes(Op, X, To, Inside))
    return {};
  if (Adaptive) {
    if (!integersIn(Op.find("output_size")))
      return Op.notFollowed("output_size", "is not known");
    const Sizes Outside = Op.integers("output_size", Dimensions, 1);
    for (unsigned I = 0; I < Dimensions; ++I)
      To.push_back(Outside[I] < 0 ? Inside[I] : Outside[I]);
  } else {
    const std::optional<Window> W = windowOf(Op, Dimensions, 0);
    const bool Ceils = Op.flag("ceil_mode");
    if (!W)
      return {};
    for (unsigned I = 0; I < Dimensions; ++I) {
      const int64_t Stride = W->Stride[I], Room = W->room(I, Inside[I]);
      if (W->Kernel[I] <= 0 || Stride <= 0)
        return Op.notFollowed("kernel_size", "is not known");
      if (Room < 0 && !Ceils)
        Op.leavesNothing(X, W->Kernel);
      int64_t Out = (Room + (Ceils ? Stride - 1 : 0)) / Stride + 1;
      if (Ceils && (Out - 1) * Stride >= Inside[I] + W->Padding[I])
        --Out;
      To.push_back(Out);
    }
  }
  if (Op.Trouble)
    return {};
  const bool KeepsPlaces = Dimensions > 1 || Adaptive || Op.records({{X}}) ||
                           Op.Name.ends_with("with_indices");
  if (Max && KeepsPlaces)
    return largest(Op, X, To);
  // To one number it is a mean.
  if (Adaptive && productOf(lastOf(To, Dimensions)) == 1) {
    const Tensor Seen = Dimensions == 1 ? X.unsqueeze(-1) : X;
    Sizes Inner;
    for (int64_t D = -std::max<int64_t>(Dimensions, 2); D < 0; ++D)
      Inner.push_back(D);
    const Tensor Mean = Seen.run("mean", {{"dim", Inner}, {"keepdim", true}});
    return OperatorResult(Dimensions == 1 ? Mean.squeeze(-1) : Mean);
  }
  const Tensor Out = Op.make(To, X);
  const bool Last = !Max && Dimensions == 2 && hasChannelsLast(Dimensions, X);
  if (Last)
    Out->Strides = orderOf(To, {X->Strides});
  else if (!(Adaptive && Dimensions == 3))
    Op.copyInOrder(X);
  if (Max)
    return Out;
  const uint64_t Copies = Last ? bytesOf(X) : 0;
  return Op.record(
      {Out}, {{X, kindOfPooled(Op)}}, {X},
      [=](const OperatorCall &, const GradientNode &, const TensorPtr &Come) {
        if (hasChannelsLast(Dimensions, Come))
          return uint64_t(0);
        return Copies + (Come->isContiguous() ? 0 : bytesOf(Come));
      });
}

/// An image whose channels come last is resized as it lies, and since 2.0 so is
/// each small one: _use_vectorized_kernel_cond_2d() of
/// ATen/native/cpu/UpSampleKernel.cpp. What does not lie so is copied.
static bool resizesChannelsLast(const OperatorCall &Op, const Tensor &X,
                                const Sizes &To, int64_t Taps) {
  constexpr int64_t Small = 128;
  if (To.size() != 4 || Taps > 2)
    return false;
  if (!Op.isSince(2, 0))
    return X->hasChannelsLast();
  return (X->hasChannelsLast() && To[1] > 3) || To[2] + To[3] <= Small;
}

static OperatorResult interpolate(OperatorCall &Op) {
  const Tensor X = Op.self();
  const Sizes From = X->sizes();
  if (From.size() < 3)
    return Op.doesNotTake(X);
  const size_t Dimensions = From.size() - 2;
  Sizes To = {From[0], From[1]};
  if (std::optional<Sizes> Asked =
          Op.maybeIntegers("size output_size", Dimensions)) {
    To.insert(To.end(), Asked->begin(), Asked->end());
  } else {
    const Cell Factor = Op.find("scale_factor scale_factors");
    std::vector<double> Factors;
    if (isNumber(Factor))
      Factors = {realOf(Factor)};
    else if (Factor)
      for (const Cell &Each : Factor->Elements)
        Factors.push_back(realOf(Each));
    if (Factors.size() == 1)
      Factors.assign(Dimensions, Factors.front());
    if (Factors.size() != Dimensions)
      return Op.notFollowed("the size that '" + Op.Name +
                            "' makes is not known");
    for (size_t I = 0; I < Dimensions; ++I)
      To.push_back(static_cast<int64_t>(
          std::floor(static_cast<double>(From[2 + I]) * Factors[I])));
  }
  const StringRef Mode = Op.text("mode");
  if (Mode.contains_insensitive("area"))
    return X.run(("adaptive_avg_pool" + Twine(Dimensions) + "d").str(),
                 {{"output_size", lastOf(To, Dimensions)}});
  const Tensor Out = Op.make(To, X);
  Op.estimateChannelsLast(X,
                          "a gradient comes through an image that is resized, "
                          "whose channels are last",
                          /*OfGradient=*/true);
  // Which elements each one is made of: for each tap a number, and a weight
  // of the type of X.
  const int64_t Taps =
      Mode.contains_insensitive("cubic") || Op.Name.contains("cubic")     ? 4
      : Mode.contains_insensitive("linear") || Op.Name.contains("linear") ? 2
                                                                          : 1;
  if (resizesChannelsLast(Op, X, To, Taps)) {
    Op.scratch((X->hasChannelsLast() ? 0 : bytesOf(X)) +
               (Out->hasChannelsLast() ? 0 : bytesOf(Out)));
    return Op.record({Out}, {{X}}, {}, 0, bytesOf(Out));
  }
  uint64_t Table = 0;
  for (const int64_t Size : lastOf(To, Dimensions))
    Table += elementsOf(Taps * Size, Int64.Bytes + typeOf(X).Bytes);
  Op.scratch(Table);
  return Op.record({Out}, {{X}}, {}, 0, bytesOf(Out));
}

static OperatorResult pad(OperatorCall &Op) {
  const Tensor X = Op.self();
  Sizes To = X->sizes();
  std::optional<Sizes> By = Op.maybeIntegers("pad padding");
  if (!By)
    return Op.notFollowed("the width that '" + Op.Name + "' pads is not known");
  // The modules take one number for all sides.
  if (By->size() == 1 && Op.Name.ends_with("d"))
    By = Sizes(2 * (Op.Name[Op.Name.size() - 2] - '0'), By->front());
  if (By->size() % 2 || By->size() / 2 > To.size())
    return Op.throws("'" + Op.Name + "' is given " + Twine(By->size()) +
                     " widths");
  for (size_t I = 0; I < By->size() / 2; ++I)
    To[To.size() - 1 - I] += (*By)[2 * I] + (*By)[2 * I + 1];
  const StringRef Mode = Op.text("mode");
  const bool Reads = Mode.contains_insensitive("refl") ||
                     Mode.contains_insensitive("repl") ||
                     Op.Name.starts_with("refl") || Op.Name.starts_with("repl");
  const BlockPtr Ordered = Reads ? Op.copyInOrder(X) : nullptr;
  const Tensor Out = Op.make(To, X);
  if (!Reads && X->hasChannelsLast())
    Out->Strides = orderOf(To, {X->Strides});
  return Op.record({Out}, {{X}}, {Reads ? X : nullptr}, 0,
                   Reads ? bytesOf(Out) : 0);
}

/// fractional_max_pool2d and 3d: the places of its windows are drawn.
static OperatorResult fractionalPool(OperatorCall &Op) {
  const unsigned Dimensions = Op.Dimensions;
  const Tensor X = Op.self();
  Sizes To, Inside;
  if (!splitSizes(Op, X, To, Inside))
    return {};
  const int64_t Channels = productOf(To);
  const Cell Ratio = Op.find("output_ratio");
  if (const std::optional<Sizes> Asked =
          Op.maybeIntegers("output_size", Dimensions)) {
    To.insert(To.end(), Asked->begin(), Asked->end());
  } else if (Ratio && Ratio->What != Value::Null) {
    for (unsigned I = 0; I < Dimensions; ++I) {
      const Cell Each =
          Ratio->Elements.size() == Dimensions ? Ratio->Elements[I] : Ratio;
      if (Each->What != Value::Real)
        return Op.notFollowed("output_ratio", "is not known");
      To.push_back(static_cast<int64_t>(static_cast<double>(Inside[I]) *
                                        Each->RealNumber));
    }
  } else {
    return Op.throws("'" + Op.Name +
                     "' has neither an output_size nor an output_ratio");
  }
  const BlockPtr Samples =
      Op.maybeTensor("_random_samples")
          ? nullptr
          : Op.allocate(
                elementsOf(productOf({Channels, Dimensions}), typeOf(X).Bytes));
  return largest(Op, X, To);
}

/// max_unpool1d to 3d.
static OperatorResult unpool(OperatorCall &Op) {
  const unsigned Dimensions = Op.Dimensions;
  const Tensor X = Op.self(), Indices = Op.tensor("indices");
  const Sizes From = X->sizes();
  Sizes To, Inside;
  if (!splitSizes(Op, X, To, Inside))
    return {};
  if (std::optional<Sizes> Asked = Op.maybeIntegers("output_size");
      Asked && Asked->size() >= Dimensions) {
    const Sizes Outside = lastOf(*Asked, Dimensions);
    To.insert(To.end(), Outside.begin(), Outside.end());
  } else {
    const std::optional<Window> W = windowOf(Op, Dimensions, 1);
    if (!W)
      return {};
    for (unsigned I = 0; I < Dimensions; ++I)
      To.push_back((Inside[I] - 1) * W->Stride[I] + W->Kernel[I] -
                   2 * W->Padding[I]);
  }
  // Both are read in the order of X: with the channels last, or in order.
  const bool ChannelsLast = Dimensions < 3 && hasChannelsLast(Dimensions, X);
  auto Copied = [&](const Tensor &T) {
    const bool Lies =
        ChannelsLast ? hasChannelsLast(Dimensions, T) : T->isContiguous();
    return Op.scratch(Lies ? 0 : bytesOf(T));
  };
  const BlockPtr Ordered = Copied(X), Places = Copied(Indices);
  const Tensor Out = Op.make(To, X);
  // backward() gathers what comes, of which it read a copy in order before.
  const uint64_t Widened = Op.widened(elementsIn(X), typeOf(X));
  return Op.record(
      {Out}, {{X, kindOfPooled(Op), 0, {}, contiguousStrides(From)}}, {Indices},
      Widened, Widened + (Op.isSince(2, 14) ? 0 : bytesOf(Out)));
}

/// lp_pool1d and 2d, as torch/nn/functional/pooling.h has them.
static OperatorResult powerPool(OperatorCall &Op) {
  const double Power = Op.maybeReal("norm_type").value_or(2);
  Arguments With = Op.Given;
  With.erase("padding");
  const Tensor Out = Op.self().pow(Power).run(
      Op.Dimensions == 1 ? "avg_pool1d" : "avg_pool2d", With);
  const Tensor Sign = Out.sign(), Absolute = Out.abs(),
               Positive = Absolute.relu(), Product = Sign * Positive,
               Scaled = Product * 2;
  return Scaled.pow(1 / Power);
}

/// A result that is as large as \p X at first, and is resized: it keeps that
/// memory where it becomes smaller. So does the gradient of \p X.
static OperatorResult resizedFrom(OperatorCall &Op, const Tensor &X, Sizes To) {
  const bool Grows = productOf(To) > productOf(X->sizes());
  const BlockPtr Before = Grows ? Op.scratch(bytesOf(X)) : nullptr;
  const Tensor Out = Op.make(std::move(To), X);
  const uint64_t Size = bytesOf(Out);
  if (!Grows && !Op.isOnGpu()) {
    Out->Memory = nullptr; // Both are never there at once.
    Out->Memory = Op.allocate(bytesOf(X));
  }
  const uint64_t Scratch = bytesOf(X) > Size ? Size : 0;
  const bool Keeps =
      (Op.Name == "im2col" || Op.Name == "unfold") && !Op.isSince(2, 0);
  return Op.record({Out}, {{X, GradientKind::Fresh, Size}},
                   {Keeps ? X : nullptr}, Scratch, Scratch + Size);
}

/// im2col: each place that a kernel sees becomes a column.
static OperatorResult unfold(OperatorCall &Op) {
  if (Op.Base == "unfold" && !Op.find("kernel_size"))
    return {}; // The method of tensors.
  const Tensor X = Op.self();
  const Sizes From = X->sizes();
  const std::optional<Window> W = windowOf(Op, 2, 1, 1);
  if (!W)
    return {};
  if (From.size() != 3 && From.size() != 4)
    return Op.doesNotTake(X);
  const size_t C = From.size() - 3;
  int64_t Places = 1;
  for (size_t I = 0; I < 2; ++I) {
    const int64_t Room = W->room(I, From[C + 1 + I]);
    if (Room < 0 || W->Stride[I] <= 0)
      return Op.leavesNothing(X, W->Kernel);
    Places = productOf({Places, Room / W->Stride[I] + 1});
  }
  Sizes To(From.begin(), From.begin() + C);
  To.push_back(productOf({From[C], productOf(W->Kernel)}));
  To.push_back(Places);
  const BlockPtr Ordered = Op.copyInOrder(X);
  return resizedFrom(Op, X, std::move(To));
}

/// col2im, the other way round.
static OperatorResult fold(OperatorCall &Op) {
  const Tensor X = Op.self();
  const Sizes From = X->sizes(), Outside = Op.integers("output_size", 2, 1);
  const int64_t Taps = productOf(Op.integers("kernel_size", 2, 1));
  if ((From.size() != 2 && From.size() != 3) || Taps <= 0 ||
      From[From.size() - 2] % Taps)
    return Op.doesNotTake(X);
  Sizes To(From.begin(), From.end() - 1);
  To.back() /= Taps;
  To.insert(To.end(), Outside.begin(), Outside.end());
  const BlockPtr Ordered = Op.copyInOrder(X);
  return resizedFrom(Op, X, std::move(To));
}

static OperatorResult sampleGrid(OperatorCall &Op) {
  const Tensor X = Op.self(), Grid = Op.tensor("grid");
  const Sizes From = X->sizes(), OfGrid = Grid->sizes();
  if ((From.size() != 4 && From.size() != 5) || OfGrid.size() != From.size() ||
      OfGrid[0] != From[0] ||
      OfGrid.back() != static_cast<int64_t>(From.size()) - 2)
    return Op.throws("'" + Op.Name + "' is given tensors of " + shown(From) +
                     " and " + shown(OfGrid));
  Sizes To = {From[0], From[1]};
  To.insert(To.end(), OfGrid.begin() + 1, OfGrid.end() - 1);
  const Tensor Out = Op.make(To, X);
  // The gradient of the grid is made in any case.
  const uint64_t More = Grid->needsGradient() ? 0 : bytesOf(Grid);
  return Op.record({Out}, {{X}, {Grid}}, {X, Grid}, More,
                   More + (From.size() == 4 ? bytesOf(Out) : 0));
}

static OperatorResult affineGrid(OperatorCall &Op) {
  const Tensor Theta = Op.tensor("theta");
  const Sizes Of = Op.integers("size");
  if ((Of.size() != 4 && Of.size() != 5) || Theta->sizes().size() != 3)
    return Op.throws("'" + Op.Name + "' is given a tensor of " +
                     shown(Theta->sizes()) + " and a size of " + shown(Of));
  const auto Axes = static_cast<int64_t>(Of.size()) - 2;
  Sizes To = {Of[0]};
  To.insert(To.end(), Of.begin() + 2, Of.end());
  const int64_t Points = productOf(To);
  To.push_back(Axes);
  const uint64_t Base =
      elementsOf(productOf({Points, Axes + 1}), typeOf(Theta).Bytes);
  const BlockPtr Points4 = Op.scratch(Base);
  const Tensor Out = Op.make(To, Theta);
  return Op.record({Out}, {{Theta}}, {}, Base,
                   Base + (Of[0] > 0 ? bytesOf(Out) / Of[0] : 0));
}

static constexpr OperatorRule SpatialRows[] = {
    {"max_pool#d max_pool#d_with_indices avg_pool#d adaptive_max_pool#d "
     "adaptive_max_pool#d_with_indices adaptive_avg_pool#d",
     pool},
    {"fractional_max_pool#d fractional_max_pool#d_with_indices",
     fractionalPool},
    {"max_unpool#d", unpool},
    {"lp_pool#d", powerPool},
    {"pad constant_pad_nd constant_pad#d zero_pad#d reflection_pad#d "
     "replication_pad#d",
     pad},
    {"interpolate upsample upsample_nearest#d upsample_nearest_exact#d "
     "upsample_bilinear2d upsample_bicubic2d",
     interpolate},
    {"im2col unfold", unfold},
    {"col2im fold", fold},
    {"grid_sample grid_sampler", sampleGrid},
    {"affine_grid affine_grid_generator", affineGrid},
};
const RuleTable SpatialRules = {SpatialRows};

} // namespace libtorch_tidy::bytes
