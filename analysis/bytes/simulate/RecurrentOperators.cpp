//===- RecurrentOperators.cpp - LSTM, GRU, RNN ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What LibTorch composes of other operators, in its order, in
/// aten/src/ATen/native/RNN.cpp.

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

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
  /// In place of biases: LibTorch gives oneDNN zeros of the weights' sizes.
  std::vector<BlockPtr> Zeros;
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

/// Makes the result of \p Layer, of which each direction gave one of \p
/// Outputs, in place of \p X.
static void joinDirections(OperatorCall &Op, const Recurrence &R,
                           const std::vector<Tensor> &Outputs, int64_t Layer,
                           Tensor &X) {
  X = R.Directions == 1 ? Outputs.front() : cat(Outputs, -1);
  if (Op.maybeReal("dropout").value_or(0) > 0 && Layer + 1 < R.Layers &&
      Op.flag("training"))
    X = X.run("dropout", {{"train", 1}});
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
  joinDirections(Op, R, Outputs, Layer, X);
  return true;
}

//===----------------------------------------------------------------------===//
// oneDNN's LSTM, since 2.0
//===----------------------------------------------------------------------===//

namespace {

/// What one direction of a layer takes in oneDNN besides its tensors, as was
/// measured with 3.7 (LibTorch 2.6) and 3.12 (2.14): all in float32.
struct OneDnnLayer {
  int64_t Steps, Samples, Inputs, Units;
  bool IsLater; ///< oneDNN 3.12.

  /// What lies in rows of \p Count is padded to 64 bytes, and not to 1024.
  static int64_t padded(int64_t Count) {
    constexpr int64_t Lanes = 16, Bad = 256;
    const int64_t Rounded = llvm::alignTo(Count, Lanes);
    return Rounded % Bad ? Rounded : Rounded + Lanes;
  }
  static uint64_t bytes(int64_t Count) { return elementsOf(Count, 4); }
  /// Each part begins on a page.
  static constexpr uint64_t Page = 4096;
  static uint64_t pages(int64_t Count) {
    return llvm::alignTo(bytes(Count), Page);
  }

  int64_t gates() const { return padded(4 * Units); }
  int64_t units() const { return padded(Units); }
  /// States of each step, and of the one before, in and out.
  uint64_t states(int64_t Width) const {
    return pages(productOf({2, Steps + 1, Samples, Width}));
  }
  uint64_t statesOfBoth() const {
    return states(padded(std::max(Inputs, Units)));
  }

  /// What backward() needs of the forward pass in training.
  uint64_t workspace() const {
    return pages(productOf({Steps, Samples, gates()})) +
           pages(productOf({Steps, Samples, units()})) +
           (IsLater ? 3 : 5) * statesOfBoth() + 2 * states(Units);
  }
  /// The gates of so many steps at once, and \p Parts of a step's states.
  uint64_t scratch(int64_t Of, int64_t Parts) const {
    uint64_t Result = pages(productOf({Of, Samples, gates()})) + Page +
                      Parts * pages(Samples * units());
    if (!IsLater)
      Result += bytes(productOf({4, Samples, Of * gates() + Parts * units()}));
    return Result;
  }
  /// While a pass in training runs, and while backward() does.
  uint64_t ofTraining() const {
    constexpr int64_t Many = 128; // No steps are merged then.
    return scratch(Samples < Many ? Steps : 1, 2);
  }
  uint64_t ofInference() const {
    return scratch(Samples == 1 ? Steps : 1, 1) +
           (IsLater ? 1 : 3) * statesOfBoth() + states(Units);
  }
  /// The weights in the order of each pass.
  uint64_t weightsOfTraining() const {
    return bytes(productOf({Inputs + Units, gates()}));
  }
  uint64_t weightsOfInference() const {
    constexpr int64_t Block = 32;
    const auto Padded = static_cast<int64_t>(llvm::alignTo(Units, Block));
    return bytes(productOf({Inputs + Units, 4, Padded}));
  }
  uint64_t weightsOfBackward() const {
    uint64_t Result = weightsOfTraining(); // Their gradients.
    for (const int64_t Width : {Inputs, Units})
      if (padded(Width) != Width)
        Result += bytes(productOf({4, Units, padded(Width)}));
    return Result;
  }
};

} // namespace

/// One direction of \p Layer over \p X: the output of each step, and the last
/// states. Nothing where weights are missing.
static std::vector<Tensor> oneDnnLayer(OperatorCall &Op, Recurrence &R,
                                       const Tensor &X, int64_t Layer,
                                       bool Back) {
  const size_t Which = Layer * R.Directions + Back;
  auto Weight = [&](StringRef Of) {
    return recurrentWeight(Op, Of, Layer, Back);
  };
  const Tensor FromInput = Weight("weight_ih"),
               FromHidden = Weight("weight_hh"), B = Weight("bias_ih"),
               OtherB = Weight("bias_hh");
  if (Op.Trouble || !FromInput || !FromHidden || Which >= R.H.size() ||
      Which >= R.C.size() || X->sizes().size() != 3)
    return {};
  const Tensor &H = R.H[Which], &C = R.C[Which];
  const OneDnnLayer Of = {R.Steps, R.Samples, X->sizes()[2],
                          FromHidden->sizes()[1], Op.isSince(2, 14)};
  const Tensor Out = Op.make({R.Steps, R.Samples, Of.Units}, X),
               LastH = Op.make(H->sizes(), H), LastC = Op.make(C->sizes(), C);
  const uint64_t Bias = Of.bytes(4 * Of.Units);
  const Differentiated Inputs[] = {{X},      {FromInput}, {FromHidden}, {B},
                                   {OtherB}, {H},         {C}};
  const bool Trains = Op.records(Inputs);
  const BlockPtr Workspace = Trains ? Op.allocate(Of.workspace()) : nullptr;
  Op.scratch(Bias + (Trains ? Of.weightsOfTraining() + Of.ofTraining()
                            : Of.weightsOfInference() + Of.ofInference()));
  // All gradients are made, and at the end a copy of that of the bias.
  uint64_t Scratch = Bias + Of.weightsOfBackward() + Of.ofTraining();
  for (const Tensor &T : {X, H, C, FromInput, FromHidden})
    Scratch += T->needsGradient() ? 0 : bytesOf(T);
  Scratch += Bias - gradientBytes(OtherB) + Bias - gradientBytes(B);
  const std::vector<Tensor> All = {Out, LastH, LastC};
  Op.record({Out, LastH, LastC}, Inputs,
            {X, H, C, R.Zeros[Which], Out, LastH, LastC, Workspace}, Scratch,
            Scratch + bytesOf(Out));
  if (Out->Maker)
    for (const Tensor &T : All) // backward() makes zeros of what is not used.
      Out->Maker->ResultShapes.push_back(T->Shape);
  return All;
}

/// Runs all layers over \p X, which becomes their result. False where weights
/// are missing.
static bool runInOneDnn(OperatorCall &Op, Recurrence &R, Tensor &X) {
  X = X.contiguous();
  for (int64_t I = 0; I < R.Layers * R.Directions; ++I) {
    auto Weight = [&](StringRef Of) {
      return recurrentWeight(Op, Of, I / R.Directions, I % R.Directions);
    };
    uint64_t Bytes = 0;
    if (!Weight("bias_ih"))
      for (const StringRef Of : {"weight_ih", "weight_hh"})
        if (const Tensor W = Weight(Of))
          Bytes += bytesOf(W);
    R.Zeros.push_back(Op.allocate(Bytes));
  }
  std::vector<Tensor> Outputs(R.Directions);
  for (int64_t Layer = 0; Layer < R.Layers; ++Layer) {
    for (int64_t Direction = 0; Direction < R.Directions; ++Direction) {
      const std::vector<Tensor> All =
          oneDnnLayer(Op, R, X, Layer, Direction == 1);
      if (All.empty())
        return false;
      Outputs[Direction] = All[0];
      R.LastH.push_back(All[1]);
      R.LastC.push_back(All[2]);
    }
    joinDirections(Op, R, Outputs, Layer, X);
  }
  return true;
}

/// lstm, gru, rnn_tanh and rnn_relu over a sequence.
static OperatorResult recurrent(OperatorCall &Op) {
  Recurrence R;
  R.Kind = stepKind(Op);
  R.IsLstm = R.Kind == "lstm";
  const bool BatchFirst = Op.flag("batch_first");
  R.Layers = Op.integer("num_layers", 1);
  R.Directions = Op.flag("bidirectional") ? 2 : 1;
  Tensor X = Op.self();
  R.IsPacked = X->PackedSteps > 0;
  const bool InOneDnn = R.IsLstm && !R.IsPacked && Op.isSince(2, 0) &&
                        Op.S.Device == DeviceKind::CpuOneDnn &&
                        typeOf(X).Name == Float32.Name;
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
  if (InOneDnn && !runInOneDnn(Op, R, X))
    return Op.notFollowed("the weights of '" + Op.Name + "' are not known");
  for (int64_t Layer = 0; Layer < R.Layers && !InOneDnn && !Op.Trouble; ++Layer)
    if (!recurrentLayer(Op, R, X, Layer))
      return Op.notFollowed("the weights of '" + Op.Name + "' are not known");
  if (Op.Trouble)
    return {};
  std::vector<Tensor> Results;
  if (R.IsPacked)
    X->PackedSteps = R.Steps;
  Results.push_back(BatchFirst && !R.IsPacked ? X.transpose(0, 1) : X);
  Results.push_back(stack(R.LastH));
  if (!InOneDnn)
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
