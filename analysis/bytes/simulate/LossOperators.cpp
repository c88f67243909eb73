//===- LossOperators.cpp - Losses -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

namespace {

enum class Reduction : unsigned char { None, Mean, Sum, BatchMean };

} // namespace

static Reduction reduction(OperatorCall &Op) {
  const StringRef Named = Op.text("reduction");
  // at::Reduction of the functions in torch.
  const int64_t Number = Op.integer("reduction", 1);
  return Number == 0 || Named.contains_insensitive("none")  ? Reduction::None
         : Number == 2 || Named.contains_insensitive("sum") ? Reduction::Sum
         : Named.contains_insensitive("batch") ? Reduction::BatchMean
                                               : Reduction::Mean;
}

/// As apply_loss_reduction() of aten/src/ATen/native/Loss.cpp.
static OperatorResult reduced(OperatorCall &Op, const Tensor &Each) {
  const Reduction How = reduction(Op);
  if (How == Reduction::None)
    return Each;
  if (How == Reduction::Mean)
    return Each.mean();
  const Tensor Sum = Each.sum();
  return How == Reduction::Sum ? Sum : Sum / 1;
}

//===----------------------------------------------------------------------===//
// Of an input and a target
//===----------------------------------------------------------------------===//

/// Means or sums of what a function of input and target gives.
static OperatorResult loss(OperatorCall &Op) {
  const Tensor Input = Op.self();
  const Tensor Target = Op.tensor("target");
  const bool IsReduced = reduction(Op) != Reduction::None;
  const uint64_t Size = bytesOf(Input);
  const std::optional<Sizes> Both = Op.fitted({Input, Target});
  if (!Both)
    return {};
  const Tensor Weight = Op.maybeTensor("weight"),
               Positive = Op.maybeTensor("pos_weight");
  const Tensor Out = Op.make(IsReduced ? Sizes() : *Both, Input);
  // What is kept, and what is needed meanwhile, in sizes of the input.
  std::vector<KeptMemory> Kept = {Input, Target};
  unsigned Forward = 0, Backward = 0;
  uint64_t More = 0; // In bytes.
  if (Op.Name == "l1_loss") {
    Kept = {Op.allocate(Size)};
    Forward = 1;
    // A mean divides first.
    Backward = reduction(Op) == Reduction::Mean ? 2 : 1;
  } else if (Op.Name == "kl_div") {
    Kept = {Target};
    Forward = 3;
    Backward = 1;
  } else if (Op.Name == "binary_cross_entropy_with_logits") {
    Forward = Positive ? 6 : 5;
    if (Op.isSince(2, 0)) { // By log_sigmoid().
      Forward = 2;
      More = Positive ? bytesOf(Positive) : 0;
    }
    Backward = Positive ? 2 : 0;
    Kept.push_back(Positive);
  } else if (Op.Name == "huber_loss") {
    Forward = 1;
  } else {
    // The scalar result keeps the buffer of the unreduced loss.
    if (IsReduced && !Op.isOnGpu())
      Out->Memory = Op.allocate(Size);
    Forward = Op.Name == "binary_cross_entropy" ? 0 : 1;
  }
  Kept.push_back(Weight);
  // The mean of what is there by then; kl_div has freed as much.
  if (reduction(Op) == Reduction::Mean && Op.Name != "kl_div")
    More += Op.widened(productOf(*Both), typeOf(Input));
  // Without a reduction the last one is the result.
  if (IsReduced || Forward > 1)
    Op.scratch((IsReduced ? Forward : Forward - 1) * Size + More);
  return Op.record({Out}, {{Input}, {Target}}, Kept, Backward * Size);
}

static OperatorResult poisson(OperatorCall &Op) {
  const Tensor Input = Op.self(), Target = Op.tensor("target");
  Tensor Loss;
  if (Op.flag("log_input", true)) {
    const Tensor Product = Target * Input;
    Loss = Input.exp() - Product;
  } else {
    Loss = Input - Target * (Input + 1e-8).log();
  }
  if (Op.flag("full")) {
    // Stirling's formula, of which only the sizes matter.
    Tensor Term;
    {
      const Tensor A = Target * 2, B = A.log(), C = B * 0.5, D = Target.log(),
                   E = Target * D, F = E - Target;
      Term = F + C;
    }
    const Tensor Small = Target.le(1), Filled = Term.masked_fill(Small, 0);
    Loss = Loss.add_(Filled);
  }
  return reduced(Op, Loss);
}

static OperatorResult softMargin(OperatorCall &Op) {
  const Tensor Input = Op.self(), Target = Op.tensor("target");
  const uint64_t Size = bytesOf(Input);
  const bool IsReduced = reduction(Op) != Reduction::None;
  const Tensor Out = Op.make(IsReduced ? Sizes() : Input->sizes(), Input);
  // The scalar result keeps the buffer of the unreduced loss.
  if (IsReduced)
    Out->Memory = Op.allocate(Size);
  if (reduction(Op) == Reduction::Mean)
    Op.scratch(Op.widened(elementsIn(Input), typeOf(Input)));
  return Op.record({Out}, {{Input}}, {Input, Target}, 2 * Size);
}

//===----------------------------------------------------------------------===//
// Of classes
//===----------------------------------------------------------------------===//

/// \p T with the weights of classes along \p Dimension.
static Tensor withClassWeights(const Tensor &T, const Tensor &Weight,
                               int64_t Dimension) {
  Sizes Shape(T->sizes().size(), 1);
  Shape[Dimension] = -1;
  return T * Weight.view(Shape);
}

/// cross_entropy with label_smoothing, of targets that are numbers.
static OperatorResult smoothedCrossEntropy(OperatorCall &Op,
                                           const Tensor &LogProbabilities,
                                           const Tensor &Target) {
  const int64_t Dimension = LogProbabilities->sizes().size() > 1;
  const Tensor Likelihood = LogProbabilities.run("nll_loss", Op.Given);
  const Tensor Weight = Op.maybeTensor("weight");
  const Tensor Smooth =
      -(Weight ? withClassWeights(LogProbabilities, Weight, Dimension)
               : LogProbabilities)
           .sum(Dimension);
  const Tensor Ignored = Target.eq(1);
  Smooth.masked_fill_(Ignored, 0);
  Tensor Result = Smooth;
  if (reduction(Op) == Reduction::Sum) {
    Result = Smooth.sum();
  } else if (reduction(Op) == Reduction::Mean && Weight) {
    const Tensor Each = Op.make(Target->sizes(), Weight);
    Result = Smooth.sum() / Each.sum();
  } else if (reduction(Op) == Reduction::Mean && Op.isSince(2, 0)) {
    Result = Smooth.sum() / Ignored.logical_not().sum();
  } else if (reduction(Op) == Reduction::Mean) {
    // Those that are not ignored: all, as far as one can know. Their places
    // are counted in eight bytes.
    const Tensor Others = Ignored.logical_not();
    Op.scratch(elementsOf(productOf(Target->sizes()), 8));
    const Tensor Picked = Op.make({productOf(Smooth->sizes())}, Smooth);
    Op.record({Picked}, {{Smooth}}, {Smooth, Others});
    Result = Picked.mean();
  }
  return (Likelihood * 0.9) + (Result * 0.1);
}

static OperatorResult crossEntropy(OperatorCall &Op) {
  const Tensor Input = Op.self(), Target = Op.tensor("target");
  const Sizes From = Input->sizes();
  if (From.empty())
    return Op.throws("'" + Op.Name + "' of a tensor without dimensions");
  const int64_t Dimension = From.size() > 1;
  const bool Smooths = Op.maybeReal("label_smoothing").value_or(0) > 0;
  Arguments With = Op.Given;
  With["dim"] = Dimension;
  const Tensor Log = Op.run("log_softmax", With);
  if (!isFloating(typeOf(Target))) {
    if (Smooths)
      return smoothedCrossEntropy(Op, Log, Target);
    return Log.run("nll_loss", Op.Given);
  }
  // Targets that are probabilities.
  if (Target->sizes() != From)
    Op.doesNotFit(Input, Target);
  if (Op.Trouble)
    return {};
  Tensor Expected = Target;
  if (Smooths)
    Expected = (Target * 0.9) + 0.1;
  Tensor Product = Log * Expected;
  const Tensor Before = Product; // Lives until the end of the expression.
  if (const Tensor Weight = Op.maybeTensor("weight"))
    Product = withClassWeights(Product, Weight, Dimension);
  if (reduction(Op) == Reduction::None)
    return -Product.sum(Dimension);
  const Tensor Sum = -Product.sum();
  return reduction(Op) == Reduction::Sum ? Sum : Sum / 2;
}

/// The length of the longest target, which no list says.
static int64_t atMostOf(OperatorCall &Op, int64_t Width) {
  Op.S.atMost("the longest target counts as long as the matrix is wide");
  return Width;
}

/// ctc_loss(log_probs, targets, input_lengths, target_lengths).
static OperatorResult connectionist(OperatorCall &Op) {
  const Tensor Log = Op.tensor("log_probs"), Targets = Op.tensor("targets");
  const Sizes From = Log->sizes(), OfTargets = Targets->sizes();
  if (From.size() != 3)
    return Op.doesNotTake(Log);
  int64_t Longest = 0;
  // A matrix is as wide as the longest of them, unless a list says more.
  if (const std::optional<Sizes> Lengths =
          integersIn(Op.find("target_lengths"));
      Lengths && !Lengths->empty())
    Longest = *std::max_element(Lengths->begin(), Lengths->end());
  else if (OfTargets.size() == 2)
    Longest = atMostOf(Op, OfTargets[1]);
  else
    Op.notFollowed("how long the longest target of 'ctc_loss' is depends on "
                   "values");
  if (Op.Trouble)
    return {};
  const Tensor Each = Op.make({From[1]}, Log);
  const Tensor Alpha =
      Op.make({From[1], From[0], productOf({2, Longest}) + 1}, Log);
  Op.record({Each}, {{Log}}, {Log, Alpha, Each, Targets}, bytesOf(Alpha));
  if (reduction(Op) == Reduction::Mean) {
    const Tensor Divisor = Op.make({From[1]}, Log);
    return (Each / Divisor).mean();
  }
  return reduced(Op, Each);
}

/// nll_loss: of the probabilities of all classes, one.
static OperatorResult likelihood(OperatorCall &Op) {
  const Tensor Input = Op.self(), Target = Op.tensor("target"),
               Weight = Op.maybeTensor("weight");
  const Tensor Out = Op.make(
      reduction(Op) == Reduction::None ? Target->sizes() : Sizes(), Input);
  const BlockPtr Total = Op.allocate(4);
  return Op.record({Out}, {{Input}}, {Input, Target, Total, Weight});
}

static OperatorResult divergence(OperatorCall &Op) {
  if (!Op.flag("log_target"))
    return loss(Op);
  const Tensor Input = Op.self(), Target = Op.tensor("target");
  const Tensor Each = Target.exp() * (Target - Input);
  return reduced(Op, Each);
}

//===----------------------------------------------------------------------===//
// With a margin
//===----------------------------------------------------------------------===//

static OperatorResult classMargin(OperatorCall &Op) {
  const Tensor Input = Op.self(), Target = Op.tensor("target");
  Sizes To;
  if (reduction(Op) == Reduction::None && Input->sizes().size() > 1) {
    To = Input->sizes();
    To.erase(To.begin() + 1);
  }
  const Tensor Out = Op.make(To, Input);
  // Which ones are targets.
  const bool IsMultilabel = Op.Base.starts_with("multilabel");
  const BlockPtr Labels = IsMultilabel ? Op.allocate(bytesOf(Input)) : nullptr;
  const Tensor Weight = IsMultilabel ? nullptr : Op.maybeTensor("weight");
  Op.copyInOrder(Input);
  return Op.record({Out}, {{Input}}, {Input, Target, Labels, Weight});
}

static OperatorResult labelSoftMargin(OperatorCall &Op) {
  const Tensor Input = Op.self(), Target = Op.tensor("target");
  Tensor Loss;
  {
    // In this order, with all of it alive until the sum is there.
    const Tensor A = Input.log_sigmoid(), OfTargets = Target * A,
                 Others = 1 - Target, Negated = -Input,
                 B = Negated.log_sigmoid(), OfOthers = Others * B;
    Loss = -(OfTargets + OfOthers);
  }
  if (const Tensor Weight = Op.maybeTensor("weight"))
    Loss = Loss * Weight;
  Loss = Loss.sum(-1) / 2;
  return reduced(Op, Loss);
}

static OperatorResult hinge(OperatorCall &Op) {
  const Tensor Input = Op.self(), Target = Op.tensor("target"),
               Zeros = Op.makeLike(Input);
  const Tensor Margin = (1 - Input).clamp_min_();
  const Tensor A = where(Target.ne(1), Margin, Zeros),
               B = where(Target.ne(-1), Input, Zeros);
  return reduced(Op, A + B);
}

static OperatorResult ranking(OperatorCall &Op) {
  const Tensor Target = Op.tensor("target");
  Tensor Loss;
  {
    const Tensor Difference = Op.tensor("input1") - Op.tensor("input2");
    Loss = -Target * Difference + 1;
  }
  return reduced(Op, Loss.clamp_min_());
}

static OperatorResult cosineEmbedding(OperatorCall &Op) {
  const Tensor A = Op.tensor("input1"), B = Op.tensor("input2"),
               Target = Op.tensor("target");
  const auto Dimension = static_cast<int64_t>(Target->sizes().size());
  // Products live until 1e-12 is added.
  const Tensor Products = (A * B).sum(Dimension),
               SquareA = (A * A).sum(Dimension) + 1e-12,
               SquareB = (B * B).sum(Dimension) + 1e-12,
               Root = (SquareA * SquareB).sqrt_(), Cosine = Products / Root,
               Zeros = Op.makeLike(Cosine);
  const Tensor Positive = 1 - Cosine, Negative = (Cosine - 0.0).clamp_min_();
  const Tensor X = where(Target.eq(1), Positive, Zeros),
               Y = where(Target.eq(-1), Negative, Zeros);
  return reduced(Op, X + Y);
}

static OperatorResult triplet(OperatorCall &Op) {
  if (const Cell Own = Op.find("distance_function");
      Own && Own->What != Value::Null)
    Op.notFollowed("'distance_function' of '" + Op.Name + "' is not followed");
  const Tensor Anchor = Op.tensor("anchor"), Near = Op.tensor("positive"),
               Far = Op.tensor("negative");
  auto Distance = [&](const Tensor &A, const Tensor &B) {
    return Op.run("pairwise_distance", {{"x1", A}, {"x2", B}});
  };
  const Tensor ToNear = Distance(Anchor, Near);
  Tensor ToFar = Distance(Anchor, Far);
  if (Op.flag("swap"))
    ToFar = ToFar.minimum(Distance(Near, Far));
  const Tensor Margin = ToNear - ToFar + 1;
  return reduced(Op, Margin.clamp_min());
}

static constexpr OperatorRule LossRows[] = {
    {"cross_entropy cross_entropy_loss", crossEntropy},
    {"nll_loss nll_loss2d", likelihood},
    {"kl_div", divergence},
    {"poisson_nll_loss", poisson},
    {"soft_margin_loss", softMargin},
    {"multi_margin_loss multilabel_margin_loss", classMargin},
    {"multilabel_soft_margin_loss", labelSoftMargin},
    {"ctc_loss", connectionist},
    {"mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
     "binary_cross_entropy_with_logits",
     loss},
    {"hinge_embedding_loss", hinge},
    {"margin_ranking_loss", ranking},
    {"cosine_embedding_loss", cosineEmbedding},
    {"triplet_margin_loss triplet_margin_with_distance_loss", triplet},
};
const RuleTable LossRules = {LossRows};

} // namespace libtorch_tidy::bytes
