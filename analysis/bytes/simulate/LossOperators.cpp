//===- LossOperators.cpp - Losses -----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

Operator::Reduction Operator::reduction() {
  const std::string Named = text({"reduction"});
  if (!Named.empty())
    return StringRef(Named).contains_insensitive("none")  ? Reduction::None
           : StringRef(Named).contains_insensitive("sum") ? Reduction::Sum
           : StringRef(Named).contains_insensitive("batch")
               ? Reduction::BatchMean
               : Reduction::Mean;
  // at::Reduction of the functions in torch.
  switch (integer({"reduction"}, 1)) {
  case 0:
    return Reduction::None;
  case 2:
    return Reduction::Sum;
  default:
    return Reduction::Mean;
  }
}

/// As apply_loss_reduction() of aten/src/ATen/native/Loss.cpp.
OperatorResult Operator::reduced(const TensorPtr &Each) {
  switch (reduction()) {
  case Reduction::None:
    return one(Each);
  case Reduction::Mean:
    return one(apply("mean", Each));
  case Reduction::Sum:
    return one(apply("sum", Each));
  case Reduction::BatchMean:
    return one(apply("div", apply("sum", Each), 1));
  }
  llvm_unreachable("all reductions are handled");
}

//===----------------------------------------------------------------------===//
// Of an input and a target
//===----------------------------------------------------------------------===//

/// Means or sums of what a function of input and target gives.
OperatorResult Operator::loss() {
  const TensorPtr Input = self();
  const TensorPtr Target = tensor({"target"});
  const bool IsReduced = reduction() != Reduction::None;
  const uint64_t Size = bytesOf(Input);
  const std::optional<Sizes> Both = fitted({Input, Target});
  if (!Both)
    return *Trouble;
  const TensorPtr Weight = maybeTensor({"weight"}),
                  Positive = maybeTensor({"pos_weight"});
  const TensorPtr Out = make(IsReduced ? Sizes() : *Both, Input);
  // What is kept, and what is needed meanwhile, in sizes of the input.
  std::vector<BlockPtr> Kept = {Input->Memory, Target->Memory};
  unsigned Forward = 0, Backward = 0;
  if (Name == "l1_loss") {
    Kept = {S.allocate(Size)};
    Forward = 1;
    // A mean divides first.
    Backward = reduction() == Reduction::Mean ? 2 : 1;
  } else if (Name == "kl_div") {
    Kept = {Target->Memory};
    Forward = 3;
    Backward = 1;
  } else if (Name == "binary_cross_entropy_with_logits") {
    Forward = Positive ? 6 : 5;
    Backward = Positive ? 2 : 0;
    if (Positive)
      Kept.push_back(Positive->Memory);
  } else if (Name == "huber_loss") {
    Forward = 1;
  } else {
    // The one number of the result lies in memory for all.
    if (IsReduced && S.Device == DeviceKind::Cpu)
      Out->Memory = S.allocate(Size);
    Forward = Name == "binary_cross_entropy" ? 0 : 1;
  }
  if (Weight)
    Kept.push_back(Weight->Memory);
  // Without a reduction the last one is the result.
  if (IsReduced || Forward > 1)
    scratch((IsReduced ? Forward : Forward - 1) * Size);
  record({Out}, {{Input}, {Target}}, Kept, Backward * Size);
  return one(Out);
}

OperatorResult Operator::poisson() {
  const TensorPtr Input = self(), Target = tensor({"target"});
  TensorPtr Loss;
  if (flag("log_input", true)) {
    const TensorPtr Product = apply("mul", Target, Input);
    Loss = apply("sub", apply("exp", Input), Product);
  } else {
    const TensorPtr Sum = apply("add", Input, 1e-8),
                    Logarithm = apply("log", Sum);
    Loss = apply("sub", Input, apply("mul", Target, Logarithm));
  }
  if (flag("full", false)) {
    // Stirling's formula, of which only the sizes matter.
    TensorPtr Term;
    {
      const TensorPtr A = apply("mul", Target, 2), B = apply("log", A),
                      C = apply("mul", B, 0.5), D = apply("log", Target),
                      E = apply("mul", Target, D), F = apply("sub", E, Target);
      Term = apply("add", F, C);
    }
    const TensorPtr Small =
        part("le", {{"self", argument(Target)}, {"other", argument(1)}});
    const TensorPtr Filled = part("masked_fill", {{"self", argument(Term)},
                                                  {"mask", argument(Small)},
                                                  {"value", argument(0)}});
    Loss = apply("add_", Loss, Filled);
  }
  return reduced(Loss);
}

OperatorResult Operator::softMargin() {
  const TensorPtr Input = self(), Target = tensor({"target"});
  const uint64_t Size = bytesOf(Input);
  const bool IsReduced = reduction() != Reduction::None;
  const TensorPtr Out = make(IsReduced ? Sizes() : Input->sizes(), Input);
  // The one number of the result lies in memory for all.
  if (IsReduced)
    Out->Memory = S.allocate(Size);
  record({Out}, {{Input}}, {Input->Memory, Target->Memory}, 2 * Size);
  return one(Out);
}

//===----------------------------------------------------------------------===//
// Of classes
//===----------------------------------------------------------------------===//

/// cross_entropy with label_smoothing, of targets that are numbers.
OperatorResult Operator::smoothedCrossEntropy(const TensorPtr &LogProbabilities,
                                              const TensorPtr &Target) {
  const Sizes From = LogProbabilities->sizes();
  const int64_t Dimension = From.size() == 1 ? 0 : 1;
  Arguments With = Given;
  With.erase("self");
  With["input"] = argument(LogProbabilities);
  const TensorPtr Likelihood = part("nll_loss", With);
  const TensorPtr Weight = maybeTensor({"weight"});
  auto SumOf = [&](const TensorPtr &T) {
    return apply("neg", along("sum", T, Dimension));
  };
  auto Weighed = [&] {
    Sizes Shape(From.size(), 1);
    Shape[Dimension] = -1;
    return SumOf(apply("mul", LogProbabilities, viewOf(Weight, Shape)));
  };
  const TensorPtr Smooth = Weight ? Weighed() : SumOf(LogProbabilities);
  const TensorPtr Ignored =
      part("eq", {{"self", argument(Target)}, {"other", argument(1)}});
  part("masked_fill_", {{"self", argument(Smooth)},
                        {"mask", argument(Ignored)},
                        {"value", argument(0)}});
  TensorPtr Result = Smooth;
  if (reduction() == Reduction::Sum) {
    Result = apply("sum", Smooth);
  } else if (reduction() == Reduction::Mean && Weight) {
    const TensorPtr Each = make(Target->sizes(), Weight);
    Result = apply("div", apply("sum", Smooth), apply("sum", Each));
  } else if (reduction() == Reduction::Mean) {
    // Those that are not ignored: all, as far as one can know. Their places
    // are counted in eight bytes.
    const TensorPtr Others = apply("logical_not", Ignored);
    scratch(elementsOf(productOf(Target->sizes()), 8));
    const TensorPtr Picked = make({productOf(Smooth->sizes())}, Smooth);
    record({Picked}, {{Smooth}}, {Smooth->Memory, Others->Memory});
    Result = apply("mean", Picked);
  }
  return one(
      apply("add", apply("mul", Likelihood, 0.9), apply("mul", Result, 0.1)));
}

OperatorResult Operator::crossEntropy() {
  const TensorPtr Input = self(), Target = tensor({"target"});
  const Sizes From = Input->sizes();
  if (From.empty())
    return throws("'" + Name + "' of a tensor without dimensions");
  const int64_t Dimension = From.size() == 1 ? 0 : 1;
  const bool Smooths = maybeReal({"label_smoothing"}).value_or(0) > 0;
  Arguments With = Given;
  With["dim"] = argument(Dimension);
  const TensorPtr Log = part("log_softmax", With);
  if (!isFloating(typeOf(Target))) {
    if (Smooths)
      return smoothedCrossEntropy(Log, Target);
    With = Given;
    With.erase("self");
    With["input"] = argument(Log);
    return one(part("nll_loss", With));
  }
  // Targets that are probabilities.
  if (Target->sizes() != From)
    doesNotFit(Input, Target);
  if (Trouble)
    return *Trouble;
  TensorPtr Expected = Target;
  if (Smooths)
    Expected = apply("add", apply("mul", Target, 0.9), 0.1);
  TensorPtr Product = apply("mul", Log, Expected);
  const TensorPtr Before = Product; // Lives until the end of the expression.
  if (const TensorPtr Weight = maybeTensor({"weight"})) {
    Sizes Shape(From.size(), 1);
    Shape[Dimension] = -1;
    Product = apply("mul", Product, viewOf(Weight, Shape));
  }
  if (reduction() == Reduction::None)
    return one(apply("neg", along("sum", Product, Dimension)));
  const TensorPtr Sum = apply("neg", apply("sum", Product));
  return one(reduction() == Reduction::Sum ? Sum : apply("div", Sum, 2));
}

/// Of one dimension less than the input, of which each is a class.
static Sizes withoutClasses(const TensorPtr &Input) {
  Sizes To = Input->sizes();
  if (To.size() > 1)
    To.erase(To.begin() + 1);
  else
    To.clear();
  return To;
}

std::optional<OperatorResult> Operator::runMarginLoss() {
  auto Ones = [&](const TensorPtr &Target, int64_t Of, StringRef How = "ne") {
    return part(How, {{"self", argument(Target)}, {"other", argument(Of)}});
  };
  auto Where = [&](const TensorPtr &Condition, const TensorPtr &A,
                   const TensorPtr &B) {
    return part("where", {{"condition", argument(Condition)},
                          {"self", argument(A)},
                          {"other", argument(B)}});
  };
  if (Name == "hinge_embedding_loss") {
    const TensorPtr Input = self(), Target = tensor({"target"});
    const TensorPtr Zeros = makeLike(Input);
    const TensorPtr Margin = apply("clamp_min_", apply("sub", 1, Input));
    const TensorPtr A = Where(Ones(Target, 1), Margin, Zeros);
    const TensorPtr B = Where(Ones(Target, -1), Input, Zeros);
    return reduced(apply("add", A, B));
  }
  if (Name == "margin_ranking_loss") {
    const TensorPtr Target = tensor({"target"});
    TensorPtr Loss;
    {
      const TensorPtr Difference =
          apply("sub", tensor({"input1"}), tensor({"input2"}));
      const TensorPtr Negated = apply("neg", Target),
                      Product = apply("mul", Negated, Difference);
      Loss = apply("add", Product, 1);
    }
    return reduced(apply("clamp_min_", Loss));
  }
  if (Name == "cosine_embedding_loss") {
    const TensorPtr A = tensor({"input1"}), B = tensor({"input2"}),
                    Target = tensor({"target"});
    const auto Dimension = static_cast<int64_t>(Target->sizes().size());
    auto Sum = [&](const TensorPtr &X, const TensorPtr &Y) {
      return along("sum", apply("mul", X, Y), Dimension);
    };
    const TensorPtr Products = Sum(A, B);
    const TensorPtr SquareA = apply("add", Sum(A, A), 1e-12),
                    SquareB = apply("add", Sum(B, B), 1e-12);
    const TensorPtr Root = apply("sqrt_", apply("mul", SquareA, SquareB));
    const TensorPtr Cosine = apply("div", Products, Root);
    const TensorPtr Zeros = makeLike(Cosine);
    const TensorPtr Positive = apply("sub", 1, Cosine),
                    Negative = apply("clamp_min_", apply("sub", Cosine, 0.0));
    const TensorPtr X = Where(Ones(Target, 1, "eq"), Positive, Zeros);
    const TensorPtr Y = Where(Ones(Target, -1, "eq"), Negative, Zeros);
    return reduced(apply("add", X, Y));
  }
  if (Name == "triplet_margin_loss" ||
      Name == "triplet_margin_with_distance_loss") {
    if (const Argument *Own = find({"distance_function"});
        Own && Own->What != Argument::None)
      notFollowed("'distance_function' of '" + Name + "' is not followed");
    const TensorPtr Anchor = tensor({"anchor"}), Near = tensor({"positive"}),
                    Far = tensor({"negative"});
    auto Distance = [&](const TensorPtr &A, const TensorPtr &B) {
      return part("pairwise_distance",
                  {{"x1", argument(A)}, {"x2", argument(B)}});
    };
    const TensorPtr ToNear = Distance(Anchor, Near);
    TensorPtr ToFar = Distance(Anchor, Far);
    if (flag("swap", false))
      ToFar = apply("minimum", ToFar, Distance(Near, Far));
    const TensorPtr Margin = apply("add", apply("sub", ToNear, ToFar), 1);
    return reduced(apply("clamp_min", Margin));
  }
  return std::nullopt;
}

/// ctc_loss(log_probs, targets, input_lengths, target_lengths).
OperatorResult Operator::connectionist() {
  const TensorPtr Log = tensor({"log_probs"}), Targets = tensor({"targets"});
  const Sizes From = Log->sizes(), OfTargets = Targets->sizes();
  if (From.size() != 3)
    return throws("'ctc_loss' is given a tensor of " + shown(From));
  int64_t Longest = 0;
  // A matrix is as wide as the longest of them, unless a list says more.
  const Argument *Lengths = find({"target_lengths"});
  if (Lengths && Lengths->What == Argument::Integers &&
      !Lengths->Numbers.empty())
    Longest =
        *std::max_element(Lengths->Numbers.begin(), Lengths->Numbers.end());
  else if (OfTargets.size() == 2)
    Longest = OfTargets[1];
  else
    notFollowed("how long the longest target of 'ctc_loss' is depends on "
                "values");
  if (Trouble)
    return *Trouble;
  const TensorPtr Each = make({From[1]}, Log);
  const TensorPtr Alpha =
      make({From[1], From[0], productOf({2, Longest}) + 1}, Log);
  record({Each}, {{Log}},
         {Log->Memory, Alpha->Memory, Each->Memory, Targets->Memory},
         bytesOf(Alpha));
  if (reduction() == Reduction::Mean) {
    const TensorPtr Divisor = make({From[1]}, Log);
    return one(apply("mean", apply("div", Each, Divisor)));
  }
  return reduced(Each);
}

std::optional<OperatorResult> Operator::runLoss() {
  if (Name == "cross_entropy" || Name == "cross_entropy_loss")
    return crossEntropy();
  if (Name == "nll_loss" || Name == "nll_loss2d") {
    const TensorPtr Input = self(), Target = tensor({"target"}),
                    Weight = maybeTensor({"weight"});
    const TensorPtr Out =
        make(reduction() == Reduction::None ? Target->sizes() : Sizes(), Input);
    const BlockPtr Total = S.allocate(4);
    record({Out}, {{Input}},
           {Input->Memory, Target->Memory, Total,
            Weight ? Weight->Memory : nullptr});
    return one(Out);
  }
  if (Name == "kl_div" && flag("log_target", false)) {
    const TensorPtr Input = self(), Target = tensor({"target"});
    const TensorPtr Difference = apply("sub", Target, Input);
    return reduced(apply("mul", apply("exp", Target), Difference));
  }
  if (Name == "poisson_nll_loss")
    return poisson();
  if (Name == "soft_margin_loss")
    return softMargin();
  if (Name == "multi_margin_loss" || Name == "multilabel_margin_loss") {
    const TensorPtr Input = self(), Target = tensor({"target"});
    Sizes To;
    if (reduction() == Reduction::None)
      To = withoutClasses(Input);
    const TensorPtr Out = make(To, Input);
    std::vector<BlockPtr> Kept = {Input->Memory, Target->Memory};
    if (Name == "multilabel_margin_loss") // Which ones are targets.
      Kept.push_back(S.allocate(bytesOf(Input)));
    else if (const TensorPtr Weight = maybeTensor({"weight"}))
      Kept.push_back(Weight->Memory);
    copyInOrder(Input);
    record({Out}, {{Input}}, Kept);
    return one(Out);
  }
  if (Name == "multilabel_soft_margin_loss") {
    const TensorPtr Input = self(), Target = tensor({"target"});
    TensorPtr Loss;
    {
      const TensorPtr LogA = apply("log_sigmoid", Input),
                      A = apply("mul", Target, LogA),
                      Others = apply("sub", 1, Target),
                      Negated = apply("neg", Input),
                      LogB = apply("log_sigmoid", Negated),
                      B = apply("mul", Others, LogB), Sum = apply("add", A, B);
      Loss = apply("neg", Sum);
    }
    if (const TensorPtr Weight = maybeTensor({"weight"}))
      Loss = apply("mul", Loss, Weight);
    {
      const TensorPtr Sum = along("sum", Loss, -1);
      Loss = apply("div", Sum, 2);
    }
    return reduced(Loss);
  }
  if (Name == "ctc_loss")
    return connectionist();
  if (llvm::StringSwitch<bool>(Name)
          .Cases("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", true)
          .Cases("binary_cross_entropy", "kl_div", true)
          .Case("binary_cross_entropy_with_logits", true)
          .Default(false))
    return loss();
  return runMarginLoss();
}

} // namespace libtorch_tidy::bytes
