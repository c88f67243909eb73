//===- RecurrentOperators.cpp - LSTM, GRU, RNN ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What LibTorch composes of other operators, in its order, in
/// aten/src/ATen/native/RNN.cpp.

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

/// As many steps of all layers together are followed.
static constexpr int64_t MaxRecurrentSteps = 20'000;

//===----------------------------------------------------------------------===//
// Recurrent layers
//===----------------------------------------------------------------------===//

namespace {

/// What goes from step to step.
struct Hidden {
  Tensor H, C; ///< C of an LSTM only.
};

} // namespace

/// One step. \p FromInput makes what the input gives for it, in the place where
/// LibTorch does.
static Hidden step(StringRef Kind, const Hidden &Before,
                   llvm::function_ref<Tensor()> FromInput, const Tensor &W,
                   const Tensor &B) {
  if (Kind == "lstm") {
    Tensor Sum = linear(Before.H, W, B);
    Sum = Sum.add_(FromInput());
    const std::vector<Tensor> Gates = Sum.chunk(4, 1);
    Sum = nullptr;
    if (Gates.size() != 4)
      return Before;
    const Tensor In = Gates[0].sigmoid_(), Forget = Gates[1].sigmoid_(),
                 Cell = Gates[2].tanh_(), Out = Gates[3].sigmoid_();
    Hidden After;
    After.C = (Forget * Before.C).add_(In * Cell);
    After.H = Out * After.C.tanh();
    return After;
  }
  if (Kind == "gru") {
    const std::vector<Tensor> Pre = FromInput().chunk(3, 1),
                              FromHidden = linear(Before.H, W, B).chunk(3, 1);
    if (Pre.size() != 3 || FromHidden.size() != 3)
      return Before;
    const Tensor Reset = FromHidden[0].add_(Pre[0]).sigmoid_();
    const Tensor In = FromHidden[1].add_(Pre[1]).sigmoid_();
    const Tensor New = (Pre[2] + FromHidden[2].mul_(Reset)).tanh_();
    return {(Before.H - New).mul_(In).add_(New), nullptr};
  }
  const Tensor Sum = linear(Before.H, W, B);
  const Tensor Pre = FromInput(); // Lives until the end of the expression.
  Sum.add_(Pre);
  return {Sum.run(Kind == "rnn_relu" ? "relu" : "tanh"), nullptr};
}

namespace {

/// What the layers of an LSTM and the like have in common.
struct Recurrence {
  StringRef Kind;
  bool IsLstm = false, IsPacked = false;
  int64_t Layers = 1, Directions = 1, Steps = 0, Samples = 0;
  std::vector<Tensor> H, C; ///< The state from before, of each layer.
  std::vector<Tensor> LastH, LastC;
};

} // namespace

/// What each step is, from the name of the operator: "lstm", "rnn_relu".
static StringRef stepKind(OperatorCall &Op) {
  StringRef Kind = Op.Name;
  Kind.consume_back("_cell");
  return Kind == "rnn_tanh" &&
                 Op.text("nonlinearity").contains_insensitive("relu")
             ? "rnn_relu"
             : Kind;
}

static Tensor recurrentWeight(OperatorCall &Op, StringRef Of, int64_t Layer,
                              bool Back) {
  return Op.lowered(Op.maybeTensor(
      {(Of + "_l" + Twine(Layer) + (Back ? "_reverse" : "")).str()}));
}

/// Runs \p Layer over \p X, which becomes its result. False where weights are
/// missing.
static bool recurrentLayer(OperatorCall &Op, Recurrence &R, Tensor &X,
                           int64_t Layer) {
  auto Join = [&](std::vector<Tensor> All) {
    return R.IsPacked ? cat(All, 0) : stack(All);
  };
  std::vector<Tensor> Outputs;
  std::vector<std::vector<Tensor>> Steps;
  // Those of the first direction go when the second has its own.
  Tensor Pre;
  std::vector<Tensor> PreSteps;
  for (int64_t Direction = 0; Direction < R.Directions; ++Direction) {
    const bool Back = Direction == 1;
    {
      const Tensor Bias = recurrentWeight(Op, "bias_ih", Layer, Back),
                   Weight = recurrentWeight(Op, "weight_ih", Layer, Back);
      Pre = linear(X, Weight, Bias);
    }
    if (!R.IsPacked)
      PreSteps = Pre.unbind();
    const Tensor W = recurrentWeight(Op, "weight_hh", Layer, Back),
                 B = recurrentWeight(Op, "bias_hh", Layer, Back);
    const size_t Which = Layer * R.Directions + Direction;
    if (Op.Trouble || !W || Which >= R.H.size() ||
        (R.IsLstm && Which >= R.C.size()))
      return false;
    Hidden Now = {R.H[Which], R.IsLstm ? R.C[Which] : nullptr};
    std::vector<Tensor> Each;
    for (int64_t I = 0; I < R.Steps && !Op.Trouble; ++I) {
      const Tensor Step =
          R.IsPacked ? Pre.narrow(0, I * R.Samples, R.Samples) : PreSteps[I];
      Now = step(R.Kind, Now, [&] { return Step; }, W, B);
      Each.push_back(Now.H);
    }
    R.LastH.push_back(Now.H);
    if (R.IsLstm)
      R.LastC.push_back(Now.C);
    Outputs.push_back(Join(Each));
    if (R.IsPacked)
      Pre = nullptr;
    else if (R.Directions == 2)
      Steps.push_back(std::move(Each)); // Alive until both are joined.
  }
  if (Op.Trouble)
    return false;
  X = R.Directions == 1 ? Outputs.front() : cat(Outputs, -1);
  if (Op.maybeReal("dropout").value_or(0) > 0 && Layer + 1 < R.Layers &&
      Op.flag("training"))
    X = X.run("dropout", {{"train", 1}});
  return true;
}

/// lstm, gru, rnn_tanh and rnn_relu over a sequence.
static OperatorResult recurrent(OperatorCall &Op) {
  Recurrence R;
  R.Kind = stepKind(Op);
  R.IsLstm = R.Kind == "lstm";
  if (R.IsLstm && Op.S.Device == DeviceKind::CpuOneDnn && Op.isSince(2, 0))
    return Op.notFollowed("the memory of oneDNN's LSTM is not known");
  const bool BatchFirst = Op.flag("batch_first");
  R.Layers = Op.integer("num_layers", 1);
  R.Directions = Op.flag("bidirectional") ? 2 : 1;
  Tensor X = Op.self();
  R.IsPacked = X->PackedSteps > 0;
  if (X->sizes().size() != (R.IsPacked ? 2 : 3))
    return Op.notFollowed("'" + Op.Name + "' without a batch is not followed");
  if (BatchFirst && !R.IsPacked)
    X = X.transpose(0, 1);
  R.Steps = R.IsPacked ? X->PackedSteps : X->sizes()[0];
  R.Samples = R.IsPacked ? X->sizes()[0] / R.Steps : X->sizes()[1];
  if (R.Layers < 1 || R.Steps < 1 ||
      R.Layers * R.Directions * R.Steps > MaxRecurrentSteps ||
      Op.integer("proj_size") != 0)
    return Op.notFollowed("'" + Op.Name + "' of " + Twine(R.Steps) +
                          " steps in " + Twine(R.Layers) +
                          " layers is not followed");
  const Tensor First = recurrentWeight(Op, "weight_hh", 0, false);
  if (!First || First->sizes().size() != 2)
    return Op.notFollowed("the weights of '" + Op.Name + "' are not known");
  // The state from before: zeros, or what is given.
  {
    std::vector<Tensor> State;
    for (const TensorPtr &T : tensorsIn(Op.find("hx")))
      State.emplace_back(Op, T);
    while (State.size() < (R.IsLstm ? 2U : 1U))
      State.push_back(Op.make(
          {R.Layers * R.Directions, R.Samples, First->sizes()[1]}, typeOf(X)));
    R.H = State[0].unbind();
    if (R.IsLstm)
      R.C = State[1].unbind();
  }
  for (int64_t Layer = 0; Layer < R.Layers && !Op.Trouble; ++Layer)
    if (!recurrentLayer(Op, R, X, Layer))
      return Op.notFollowed("the weights of '" + Op.Name + "' are not known");
  if (Op.Trouble)
    return {};
  std::vector<Tensor> Results;
  if (R.IsPacked)
    X->PackedSteps = R.Steps;
  Results.push_back(BatchFirst && !R.IsPacked ? X.transpose(0, 1) : X);
  Results.push_back(stack(R.LastH));
  R.LastH.clear();
  if (R.IsLstm)
    Results.push_back(stack(R.LastC));
  return std::move(Results);
}

/// pack_padded_sequence(), as if all sequences were of full length.
static OperatorResult packed(OperatorCall &Op) {
  Tensor X = Op.self();
  const bool BatchFirst = Op.flag("batch_first");
  if (X->sizes().size() < 2)
    return Op.doesNotTake(X);
  if (!Op.flag("enforce_sorted", true))
    X = X.index_select(BatchFirst ? 0 : 1, Op.tensor("lengths"));
  if (Op.Trouble)
    return {};
  Sizes To = X->sizes();
  const int64_t Steps = To[BatchFirst ? 1 : 0];
  To.erase(To.begin());
  To[0] = productOf({X->sizes()[0], X->sizes()[1]});
  if (BatchFirst)
    Op.scratch(bytesOf(X)); // The steps one after the other.
  const Tensor Out = Op.make(To, X);
  Out->PackedSteps = Steps;
  Op.S.atMost("all sequences count as long as the longest");
  return Op.record({Out}, {{X}}, {});
}

/// pad_packed_sequence(): the tensor, and the lengths.
static OperatorResult padded(OperatorCall &Op) {
  const Tensor X = Op.tensor("sequence");
  if (X->PackedSteps <= 0)
    return Op.notFollowed("what '" + Op.Name + "' is given is not followed");
  const int64_t Length = std::max(Op.integer("total_length"), X->PackedSteps);
  Sizes To = X->sizes();
  To[0] /= X->PackedSteps;
  const int64_t N = To[0];
  To.insert(To.begin(), Length);
  Tensor Out = Op.make(To, X);
  Op.record({Out}, {{X}}, {}, 2 * bytesOf(Out));
  if (Op.flag("batch_first"))
    Out = Out.transpose(0, 1);
  return std::vector<Tensor>{Out, Op.make({N}, Int64)};
}

/// LSTMCell, GRUCell, RNNCell: one step.
static OperatorResult recurrentCell(OperatorCall &Op) {
  const StringRef Kind = stepKind(Op);
  const Tensor X = Op.self(), W = Op.tensor("weight_hh");
  if (X->sizes().size() != 2 || W->sizes().size() != 2)
    return Op.notFollowed("'" + Op.Name + "' without a batch is not followed");
  Hidden Before;
  if (const std::vector<TensorPtr> State = tensorsIn(Op.find("hx"));
      !State.empty()) {
    Before.H = {Op, State.front()};
    if (State.size() > 1)
      Before.C = {Op, State.back()};
  } else {
    Before.H = Op.make({X->sizes()[0], W->sizes()[1]}, typeOf(X));
    Before.C = Kind == "lstm" ? Before.H : nullptr;
  }
  if (Kind == "lstm" && !Before.C)
    return Op.notFollowed("the state of '" + Op.Name + "' is not known");
  auto FromInput = [&] {
    const Tensor Bias = Op.lowered(Op.maybeTensor("bias_ih")),
                 Weight = Op.lowered(Op.tensor("weight_ih"));
    return linear(X, Weight, Bias);
  };
  const Tensor Bias = Op.lowered(Op.maybeTensor("bias_hh")),
               Weight = Op.lowered(W);
  const Hidden After = step(Kind, Before, FromInput, Weight, Bias);
  if (Kind != "lstm")
    return After.H;
  return std::vector<Tensor>{After.H, After.C};
}

static constexpr OperatorRule RecurrentRows[] = {
    {"lstm gru rnn_tanh", recurrent},
    {"lstm_cell gru_cell rnn_tanh_cell", recurrentCell},
    {"pack_padded_sequence", packed},
    {"pad_packed_sequence", padded},
};
const RuleTable RecurrentRules = {RecurrentRows};

} // namespace libtorch_tidy::bytes
