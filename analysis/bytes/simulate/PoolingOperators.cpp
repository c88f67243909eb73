//===- PoolingOperators.cpp - Pooling, resizing, padding, sampling --------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

OperatorResult Operator::pool(unsigned Dimensions, bool Max, bool Adaptive) {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  const std::optional<Sizes> Outer = outerSizes(X, Dimensions);
  if (!Outer)
    return *Trouble;
  const size_t Start = Outer->size();
  Sizes To = *Outer;
  if (Adaptive) {
    const Argument *Asked = find({"output_size"});
    if (!Asked ||
        (Asked->What != Argument::Integer && Asked->What != Argument::Integers))
      return notFollowed("'output_size' of '" + Name + "' is not known");
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
      if (Kernel[I] <= 0 || Stride[I] <= 0)
        return notFollowed("'kernel_size' of '" + Name + "' is not known");
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
  const bool GivesIndices = Name.ends_with("with_indices");
  if (Max && Dimensions == 1 && !records({{X}}) && !Adaptive && !GivesIndices)
    return one(Out);
  if (Max) {
    const TensorPtr Indices = make(To, Int64);
    scratch(Unordered);
    record({Out}, {{X}}, {X->Memory, Indices->Memory}, 0, bytesOf(Out));
    if (GivesIndices)
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
  if (From.size() < 3)
    return throws("'" + Name + "' is given a tensor of " + shown(From));
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
    if (Factors.size() != Dimensions)
      return notFollowed("the size that '" + Name + "' makes is not known");
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
  if (!By)
    return notFollowed("the width that '" + Name + "' pads is not known");
  // The modules take one number for all sides.
  if (By->size() == 1 && Name.ends_with("d"))
    By = Sizes(2 * (Name[Name.size() - 2] - '0'), By->front());
  if (By->size() % 2 || By->size() / 2 > To.size())
    return throws("'" + Name + "' is given " + Twine(By->size()) + " widths");
  for (size_t I = 0; I < By->size() / 2; ++I)
    To[To.size() - 1 - I] += (*By)[2 * I] + (*By)[2 * I + 1];
  const std::string Mode = text({"mode"});
  const bool Reads = StringRef(Mode).contains_insensitive("refl") ||
                     StringRef(Mode).contains_insensitive("repl") ||
                     Name.starts_with("refl") || Name.starts_with("repl");
  const BlockPtr Ordered = Reads ? copyInOrder(X) : nullptr;
  const TensorPtr Out = make(To, X);
  record({Out}, {{X}}, Reads ? ArrayRef(X->Memory) : ArrayRef<BlockPtr>(), 0,
         Reads ? bytesOf(Out) : 0);
  return one(Out);
}

/// fractional_max_pool2d and 3d: the places of its windows are drawn.
OperatorResult Operator::fractionalPool(unsigned Dimensions) {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  const std::optional<Sizes> Outer = outerSizes(X, Dimensions);
  if (!Outer)
    return *Trouble;
  const size_t Start = Outer->size();
  Sizes To = *Outer;
  const Argument *Ratio = find({"output_ratio"});
  if (const std::optional<Sizes> Asked =
          maybeIntegers({"output_size"}, Dimensions)) {
    To.insert(To.end(), Asked->begin(), Asked->end());
  } else if (Ratio && Ratio->What != Argument::None) {
    for (unsigned I = 0; I < Dimensions; ++I) {
      const Argument &Each =
          Ratio->Parts.size() == Dimensions ? Ratio->Parts[I] : *Ratio;
      if (Each.What != Argument::Real)
        return notFollowed("'output_ratio' of '" + Name + "' is not known");
      To.push_back(static_cast<int64_t>(static_cast<double>(From[Start + I]) *
                                        Each.RealNumber));
    }
  } else {
    return throws("'" + Name +
                  "' has neither an output_size nor an output_ratio");
  }
  const int64_t Channels = productOf(ArrayRef(From).take_front(Start));
  const BlockPtr Samples =
      maybeTensor({"_random_samples"})
          ? nullptr
          : S.allocate(
                elementsOf(productOf({Channels, Dimensions}), typeOf(X).Bytes));
  const TensorPtr Out = make(To, X), Indices = make(To, Int64);
  copyInOrder(X);
  record({Out}, {{X}}, {X->Memory, Indices->Memory}, 0, bytesOf(Out));
  if (Name.ends_with("with_indices"))
    return several({Out, Indices});
  return one(Out);
}

/// max_unpool1d to 3d.
OperatorResult Operator::unpool(unsigned Dimensions) {
  const TensorPtr X = self(), Indices = tensor({"indices"});
  const Sizes From = X->sizes();
  const std::optional<Sizes> Outer = outerSizes(X, Dimensions);
  if (!Outer)
    return *Trouble;
  const size_t Start = Outer->size();
  Sizes To = *Outer;
  if (std::optional<Sizes> Asked = maybeIntegers({"output_size"});
      Asked && Asked->size() >= Dimensions) {
    const Sizes Outside = lastOf(*Asked, Dimensions);
    To.insert(To.end(), Outside.begin(), Outside.end());
  } else {
    const Sizes Kernel = integers({"kernel_size"}, Dimensions, 1);
    const Sizes Stride = maybeIntegers({"stride"}, Dimensions).value_or(Kernel);
    const Sizes Padding = integers({"padding"}, Dimensions, 0);
    if (!areSmall({Kernel, Stride, Padding}))
      return *Trouble;
    for (unsigned I = 0; I < Dimensions; ++I)
      To.push_back((From[Start + I] - 1) * Stride[I] + Kernel[I] -
                   2 * Padding[I]);
  }
  const TensorPtr Out = make(To, X);
  copyInOrder(X);
  record({Out}, {{X}}, {Indices->Memory}, 0, bytesOf(Out));
  return one(Out);
}

/// lp_pool1d and 2d, as torch/nn/functional/pooling.h has them.
OperatorResult Operator::powerPool(unsigned Dimensions) {
  const double Power = maybeReal({"norm_type"}).value_or(2);
  Arguments With = Given;
  With.erase("self");
  With.erase("padding");
  TensorPtr Out;
  {
    With["input"] = argument(apply("pow", self(), Power));
    Out = part(Dimensions == 1 ? "avg_pool1d" : "avg_pool2d", With);
    With.clear();
  }
  const TensorPtr Sign = apply("sign", Out), Absolute = apply("abs", Out),
                  Positive = apply("relu", Absolute),
                  Product = apply("mul", Sign, Positive),
                  Scaled = apply("mul", Product, 2);
  return one(apply("pow", Scaled, 1 / Power));
}

/// A result that is as large as \p X at first, and is resized: it keeps that
/// memory where it becomes smaller. So does the gradient of \p X.
TensorPtr Operator::resizedFrom(const TensorPtr &X, Sizes To) {
  const bool Grows = productOf(To) > productOf(X->sizes());
  const BlockPtr Before = Grows ? S.scratch(bytesOf(X)) : nullptr;
  const TensorPtr Out = make(std::move(To), X);
  const uint64_t Size = bytesOf(Out);
  if (!Grows && S.Device == DeviceKind::Cpu) {
    Out->Memory = nullptr; // Both are never there at once.
    Out->Memory = S.allocate(bytesOf(X));
  }
  const uint64_t Scratch = bytesOf(X) > Size ? Size : 0;
  const bool Keeps = Name == "im2col" || Name == "unfold";
  record({Out}, {{X, GradientKind::Fresh, Size}},
         Keeps ? ArrayRef(X->Memory) : ArrayRef<BlockPtr>(), Scratch,
         Scratch + Size);
  return Out;
}

/// im2col: each place that a kernel sees becomes a column.
OperatorResult Operator::unfold() {
  const TensorPtr X = self();
  const Sizes From = X->sizes();
  const Sizes Kernel = integers({"kernel_size"}, 2, 1);
  const Sizes Stride = integers({"stride"}, 2, 1);
  const Sizes Padding = integers({"padding"}, 2, 0);
  const Sizes Dilation = integers({"dilation"}, 2, 1);
  if (!areSmall({Kernel, Stride, Padding, Dilation}))
    return *Trouble;
  if (From.size() != 3 && From.size() != 4)
    return throws("'" + Name + "' is given a tensor of " + shown(From));
  const size_t C = From.size() - 3;
  int64_t Places = 1;
  for (size_t I = 0; I < 2; ++I) {
    const int64_t Rest =
        From[C + 1 + I] + 2 * Padding[I] - Dilation[I] * (Kernel[I] - 1) - 1;
    if (Rest < 0 || Stride[I] <= 0)
      return throws("'" + Name + "' of " + shown(From) + " with a kernel of " +
                    shown(Kernel) + " leaves nothing");
    Places = productOf({Places, Rest / Stride[I] + 1});
  }
  Sizes To(From.begin(), From.begin() + C);
  To.push_back(productOf({From[C], productOf(Kernel)}));
  To.push_back(Places);
  const BlockPtr Ordered = copyInOrder(X);
  return one(resizedFrom(X, std::move(To)));
}

/// col2im, the other way round.
OperatorResult Operator::fold() {
  const TensorPtr X = self();
  const Sizes From = X->sizes(), Outside = integers({"output_size"}, 2, 1);
  const int64_t Taps = productOf(integers({"kernel_size"}, 2, 1));
  if ((From.size() != 2 && From.size() != 3) || Taps <= 0 ||
      From[From.size() - 2] % Taps)
    return throws("'" + Name + "' is given a tensor of " + shown(From));
  Sizes To(From.begin(), From.end() - 1);
  To.back() /= Taps;
  To.insert(To.end(), Outside.begin(), Outside.end());
  const BlockPtr Ordered = copyInOrder(X);
  return one(resizedFrom(X, std::move(To)));
}

OperatorResult Operator::sampleGrid() {
  const TensorPtr X = self(), Grid = tensor({"grid"});
  const Sizes From = X->sizes(), OfGrid = Grid->sizes();
  if ((From.size() != 4 && From.size() != 5) || OfGrid.size() != From.size() ||
      OfGrid[0] != From[0] ||
      OfGrid.back() != static_cast<int64_t>(From.size()) - 2)
    return throws("'" + Name + "' is given tensors of " + shown(From) +
                  " and " + shown(OfGrid));
  Sizes To = {From[0], From[1]};
  To.insert(To.end(), OfGrid.begin() + 1, OfGrid.end() - 1);
  const TensorPtr Out = make(To, X);
  // The gradient of the grid is made in any case.
  const uint64_t More = Grid->needsGradient() ? 0 : bytesOf(Grid);
  record({Out}, {{X}, {Grid}}, {X->Memory, Grid->Memory}, More,
         More + (From.size() == 4 ? bytesOf(Out) : 0));
  return one(Out);
}

OperatorResult Operator::affineGrid() {
  const TensorPtr Theta = tensor({"theta"});
  const Sizes Of = maybeIntegers({"size"}).value_or(Sizes());
  if ((Of.size() != 4 && Of.size() != 5) || Theta->sizes().size() != 3)
    return throws("'" + Name + "' is given a tensor of " +
                  shown(Theta->sizes()) + " and a size of " + shown(Of));
  const auto Axes = static_cast<int64_t>(Of.size()) - 2;
  Sizes To = {Of[0]};
  To.insert(To.end(), Of.begin() + 2, Of.end());
  const int64_t Points = productOf(To);
  To.push_back(Axes);
  const uint64_t Base =
      elementsOf(productOf({Points, Axes + 1}), typeOf(Theta).Bytes);
  const BlockPtr Points4 = S.scratch(Base);
  const TensorPtr Out = make(To, Theta);
  record({Out}, {{Theta}}, {}, Base,
         Base + (Of[0] > 0 ? bytesOf(Out) / Of[0] : 0));
  return one(Out);
}

std::optional<OperatorResult> Operator::runPooling() {
  StringRef Base = Name;
  Base.consume_back("_with_indices");
  if (const unsigned Dimensions = takeDimensions(Base)) {
    const bool Adaptive = Base.consume_front("adaptive_");
    if (Base == "max_pool" || Base == "avg_pool")
      return pool(Dimensions, Base == "max_pool", Adaptive);
    if (Base == "fractional_max_pool")
      return fractionalPool(Dimensions);
    if (Base == "max_unpool")
      return unpool(Dimensions);
    if (Base == "lp_pool")
      return powerPool(Dimensions);
    if (Base.ends_with("_pad"))
      return pad();
    if (Base.starts_with("upsample_nearest"))
      return interpolate();
  }
  if (Name == "interpolate" || Name == "upsample_bilinear2d" ||
      Name == "upsample_bicubic2d" || Name == "upsample")
    return interpolate();
  if (Name == "pad" || Name == "constant_pad_nd")
    return pad();
  if (Name == "im2col" || (Name == "unfold" && find({"kernel_size"})))
    return unfold();
  if (Name == "col2im" || Name == "fold")
    return fold();
  if (Name == "grid_sample" || Name == "grid_sampler")
    return sampleGrid();
  if (Name == "affine_grid" || Name == "affine_grid_generator")
    return affineGrid();
  return std::nullopt;
}

} // namespace libtorch_tidy::bytes
