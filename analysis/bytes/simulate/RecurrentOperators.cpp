//===- RecurrentOperators.cpp - LSTM, GRU, RNN, attention -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What LibTorch composes of other operators, in its order: aten/src/ATen/
/// native/RNN.cpp, and multi_head_attention_forward of torch::nn::functional.
///
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

/// As many steps of all layers together are followed.
static constexpr int64_t MaxRecurrentSteps = 20'000;

/// Runs another operator; where it fails, that is this one's trouble.
std::vector<TensorPtr> Operator::parts(StringRef Which, Arguments With) {
  if (!Trouble) {
    OperatorResult Result = S.run(Which, With);
    if (Result.What == OperatorResult::One ||
        Result.What == OperatorResult::Several)
      return std::move(Result.Tensors);
    Trouble = std::move(Result);
  }
  return {};
}

TensorPtr Operator::part(StringRef Which, Arguments With) {
  std::vector<TensorPtr> All = parts(Which, std::move(With));
  return All.empty() ? S.make({}, Float32) : std::move(All.front());
}

TensorPtr Operator::apply(StringRef Which, const TensorPtr &X) {
  return part(Which, {{"self", argument(X)}});
}

TensorPtr Operator::apply(StringRef Which, const TensorPtr &A,
                          const TensorPtr &B) {
  return part(Which, {{"self", argument(A)}, {"other", argument(B)}});
}

TensorPtr Operator::apply(StringRef Which, const TensorPtr &A, double B) {
  return part(Which, {{"self", argument(A)}, {"other", realArgument(B)}});
}

TensorPtr Operator::apply(StringRef Which, double A, const TensorPtr &B) {
  return part(Which, {{"self", realArgument(A)}, {"other", argument(B)}});
}

TensorPtr Operator::along(StringRef Which, const TensorPtr &X,
                          int64_t Dimension) {
  return part(Which, {{"self", argument(X)}, {"dim", argument(Dimension)}});
}

TensorPtr Operator::linearOf(const TensorPtr &X, const TensorPtr &Weight,
                             const TensorPtr &Bias) {
  return part("linear", {{"input", argument(X)},
                         {"weight", argument(Weight)},
                         {"bias", argument(Bias)}});
}

TensorPtr Operator::transposeOf(const TensorPtr &X, int64_t A, int64_t B) {
  return part(
      "transpose",
      {{"self", argument(X)}, {"dim0", argument(A)}, {"dim1", argument(B)}});
}

TensorPtr Operator::viewOf(const TensorPtr &X, Sizes To) {
  return part("view",
              {{"self", argument(X)}, {"size", argument(std::move(To))}});
}

TensorPtr Operator::reshapeOf(const TensorPtr &X, Sizes To) {
  return part("reshape",
              {{"self", argument(X)}, {"shape", argument(std::move(To))}});
}

TensorPtr Operator::narrowOf(const TensorPtr &X, int64_t Start,
                             int64_t Length) {
  return !X ? X
            : part("narrow", {{"self", argument(X)},
                              {"dim", argument(0)},
                              {"start", argument(Start)},
                              {"length", argument(Length)}});
}

TensorPtr Operator::catOf(std::vector<TensorPtr> All, int64_t Dimension) {
  return part("cat", {{"tensors", argument(std::move(All))},
                      {"dim", argument(Dimension)}});
}

TensorPtr Operator::stackOf(std::vector<TensorPtr> All) {
  return part("stack",
              {{"tensors", argument(std::move(All))}, {"dim", argument(0)}});
}

std::vector<TensorPtr> Operator::unbindOf(const TensorPtr &X) {
  return parts("unbind", {{"self", argument(X)}, {"dim", argument(0)}});
}

std::vector<TensorPtr> Operator::chunksOf(const TensorPtr &X, int64_t Count,
                                          int64_t Dimension) {
  return parts("chunk", {{"self", argument(X)},
                         {"chunks", argument(Count)},
                         {"dim", argument(Dimension)}});
}

//===----------------------------------------------------------------------===//
// Recurrent layers
//===----------------------------------------------------------------------===//

/// What goes from step to step.
struct Operator::Hidden {
  TensorPtr H, C; ///< C of an LSTM only.
};

/// One step. \p FromInput makes what the input gives for it, in the place where
/// LibTorch does.
Operator::Hidden Operator::step(StringRef Kind, const Hidden &Before,
                                llvm::function_ref<TensorPtr()> FromInput,
                                const TensorPtr &W, const TensorPtr &B) {
  if (Kind == "lstm") {
    TensorPtr Sum = linearOf(Before.H, W, B);
    Sum = apply("add_", Sum, FromInput());
    const std::vector<TensorPtr> Gates = chunksOf(Sum, 4, 1);
    Sum = nullptr;
    if (Gates.size() != 4)
      return Before;
    const TensorPtr In = apply("sigmoid_", Gates[0]),
                    Forget = apply("sigmoid_", Gates[1]),
                    Cell = apply("tanh_", Gates[2]),
                    Out = apply("sigmoid_", Gates[3]);
    Hidden After;
    After.C =
        apply("add_", apply("mul", Forget, Before.C), apply("mul", In, Cell));
    After.H = apply("mul", Out, apply("tanh", After.C));
    return After;
  }
  if (Kind == "gru") {
    const std::vector<TensorPtr> Pre = chunksOf(FromInput(), 3, 1),
                                 FromHidden =
                                     chunksOf(linearOf(Before.H, W, B), 3, 1);
    if (Pre.size() != 3 || FromHidden.size() != 3)
      return Before;
    const TensorPtr Reset =
        apply("sigmoid_", apply("add_", FromHidden[0], Pre[0]));
    const TensorPtr In =
        apply("sigmoid_", apply("add_", FromHidden[1], Pre[1]));
    const TensorPtr New = apply(
        "tanh_", apply("add", Pre[2], apply("mul_", FromHidden[2], Reset)));
    return {apply("add_", apply("mul_", apply("sub", Before.H, New), In), New),
            nullptr};
  }
  const TensorPtr Sum = linearOf(Before.H, W, B);
  const TensorPtr Pre = FromInput(); // Lives until the end of the expression.
  apply("add_", Sum, Pre);
  return {apply(Kind == "rnn_relu" ? "relu" : "tanh", Sum), nullptr};
}

/// What the layers of an LSTM and the like have in common.
struct Operator::Recurrence {
  StringRef Kind;
  bool IsLstm = false, IsPacked = false;
  int64_t Layers = 1, Directions = 1, Steps = 0, Samples = 0;
  std::vector<TensorPtr> H, C; ///< The state from before, of each layer.
  std::vector<TensorPtr> LastH, LastC;
};

TensorPtr Operator::recurrentWeight(StringRef Of, int64_t Layer, bool Back) {
  return S.lowered(maybeTensor(
      {(Of + "_l" + Twine(Layer) + (Back ? "_reverse" : "")).str()}));
}

/// The state from before: zeros, or what is given.
void Operator::startRecurrence(Recurrence &R, const TensorPtr &X,
                               int64_t Width) {
  std::vector<TensorPtr> State;
  if (const Argument *Given = find({"hx"});
      Given && Given->What == Argument::Tensors)
    State = Given->Handles;
  else if (const TensorPtr Only = tensorIn(Given))
    State = {Only};
  while (State.size() < (R.IsLstm ? 2U : 1U))
    State.push_back(
        S.make({R.Layers * R.Directions, R.Samples, Width}, typeOf(X)));
  R.H = unbindOf(State[0]);
  if (R.IsLstm)
    R.C = unbindOf(State[1]);
}

/// Runs \p Layer over \p X, which becomes its result. False where weights are
/// missing.
bool Operator::recurrentLayer(Recurrence &R, TensorPtr &X, int64_t Layer) {
  auto Join = [&](std::vector<TensorPtr> All) {
    return R.IsPacked ? catOf(std::move(All), 0) : stackOf(std::move(All));
  };
  std::vector<TensorPtr> Outputs;
  std::vector<std::vector<TensorPtr>> Steps;
  // Those of the first direction go when the second has its own.
  TensorPtr Pre;
  std::vector<TensorPtr> PreSteps;
  for (int64_t Direction = 0; Direction < R.Directions; ++Direction) {
    const bool Back = Direction == 1;
    Pre = linearOf(X, recurrentWeight("weight_ih", Layer, Back),
                   recurrentWeight("bias_ih", Layer, Back));
    PreSteps = R.IsPacked ? std::vector<TensorPtr>(R.Steps) : unbindOf(Pre);
    const TensorPtr W = recurrentWeight("weight_hh", Layer, Back),
                    B = recurrentWeight("bias_hh", Layer, Back);
    const size_t Which = Layer * R.Directions + Direction;
    if (Trouble || !W || Which >= R.H.size() ||
        (R.IsLstm && Which >= R.C.size()))
      return false;
    Hidden Now = {R.H[Which], R.IsLstm ? R.C[Which] : nullptr};
    std::vector<TensorPtr> Each;
    for (size_t I = 0; I < PreSteps.size() && !Trouble; ++I) {
      TensorPtr Step = PreSteps[I];
      if (R.IsPacked)
        Step = narrowOf(Pre, I * R.Samples, R.Samples);
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
  if (Trouble)
    return false;
  X = R.Directions == 1 ? Outputs.front() : catOf(Outputs, -1);
  if (maybeReal({"dropout"}).value_or(0) > 0 && Layer + 1 < R.Layers &&
      flag("training", false))
    X = part("dropout", {{"input", argument(X)}, {"train", argument(1)}});
  return true;
}

/// lstm, gru, rnn_tanh and rnn_relu over a sequence.
OperatorResult Operator::recurrent() {
  Recurrence R;
  R.IsLstm = Name == "lstm";
  R.Kind = StringRef(text({"nonlinearity"})).contains_insensitive("relu")
               ? "rnn_relu"
               : Name;
  const bool BatchFirst = flag("batch_first", false);
  R.Layers = integer({"num_layers"}, 1);
  R.Directions = flag("bidirectional", false) ? 2 : 1;
  TensorPtr X = self();
  R.IsPacked = X->PackedSteps > 0;
  if (X->sizes().size() != (R.IsPacked ? 2 : 3))
    return notFollowed("'" + Name + "' without a batch is not followed");
  if (BatchFirst && !R.IsPacked)
    X = transposeOf(X, 0, 1);
  R.Steps = R.IsPacked ? X->PackedSteps : X->sizes()[0];
  R.Samples = R.IsPacked ? X->sizes()[0] / R.Steps : X->sizes()[1];
  if (R.Layers < 1 || R.Steps < 1 ||
      R.Layers * R.Directions * R.Steps > MaxRecurrentSteps ||
      integer({"proj_size"}, 0) != 0)
    return notFollowed("'" + Name + "' of " + Twine(R.Steps) + " steps in " +
                       Twine(R.Layers) + " layers is not followed");
  const TensorPtr First = recurrentWeight("weight_hh", 0, false);
  if (!First || First->sizes().size() != 2)
    return notFollowed("the weights of '" + Name + "' are not known");
  startRecurrence(R, X, First->sizes()[1]);
  for (int64_t Layer = 0; Layer < R.Layers && !Trouble; ++Layer)
    if (!recurrentLayer(R, X, Layer))
      return notFollowed("the weights of '" + Name + "' are not known");
  if (Trouble)
    return *Trouble;
  std::vector<TensorPtr> Results;
  if (R.IsPacked)
    X->PackedSteps = R.Steps;
  Results.push_back(BatchFirst && !R.IsPacked ? transposeOf(X, 0, 1) : X);
  Results.push_back(stackOf(std::move(R.LastH)));
  if (R.IsLstm)
    Results.push_back(stackOf(std::move(R.LastC)));
  return several(std::move(Results));
}

/// pack_padded_sequence(), as if all sequences were of full length.
OperatorResult Operator::packed() {
  TensorPtr X = self();
  const bool BatchFirst = flag("batch_first", false);
  if (X->sizes().size() < 2)
    return throws("'" + Name + "' is given a tensor of " + shown(X->sizes()));
  if (!flag("enforce_sorted", true))
    X = part("index_select", {{"self", argument(X)},
                              {"dim", argument(BatchFirst ? 0 : 1)},
                              {"index", argument(tensor({"lengths"}))}});
  if (Trouble)
    return *Trouble;
  Sizes To = X->sizes();
  const int64_t Steps = To[BatchFirst ? 1 : 0];
  To.erase(To.begin());
  To[0] = productOf({X->sizes()[0], X->sizes()[1]});
  if (BatchFirst)
    scratch(bytesOf(X)); // The steps one after the other.
  const TensorPtr Out = make(To, X);
  Out->PackedSteps = Steps;
  record({Out}, {{X}}, {});
  return one(Out);
}

/// pad_packed_sequence(): the tensor, and the lengths.
OperatorResult Operator::padded() {
  const TensorPtr X = tensor({"sequence"});
  if (X->PackedSteps <= 0)
    return notFollowed("what '" + Name + "' is given is not followed");
  const int64_t Length = std::max(integer({"total_length"}, 0), X->PackedSteps);
  Sizes To = X->sizes();
  To[0] /= X->PackedSteps;
  const int64_t N = To[0];
  To.insert(To.begin(), Length);
  TensorPtr Out = make(To, X);
  record({Out}, {{X}}, {}, 2 * bytesOf(Out));
  if (flag("batch_first", false))
    Out = transposeOf(Out, 0, 1);
  return several({Out, S.make({N}, Int64)});
}

/// LSTMCell, GRUCell, RNNCell: one step.
OperatorResult Operator::recurrentCell() {
  const StringRef Kind =
      Name == "lstm_cell"  ? "lstm"
      : Name == "gru_cell" ? "gru"
      : StringRef(text({"nonlinearity"})).contains_insensitive("relu")
          ? "rnn_relu"
          : "rnn_tanh";
  const TensorPtr X = self(), W = tensor({"weight_hh"});
  if (X->sizes().size() != 2 || W->sizes().size() != 2)
    return notFollowed("'" + Name + "' without a batch is not followed");
  Hidden Before;
  if (const Argument *Given = find({"hx"});
      Given && Given->What == Argument::Tensors && !Given->Handles.empty()) {
    Before.H = Given->Handles.front();
    Before.C = Given->Handles.back();
  } else if (TensorPtr Only = tensorIn(Given)) {
    Before.H = std::move(Only);
  } else {
    Before.H = S.make({X->sizes()[0], W->sizes()[1]}, typeOf(X));
    Before.C = Kind == "lstm" ? Before.H : nullptr;
  }
  if (Kind == "lstm" && !Before.C)
    return notFollowed("the state of '" + Name + "' is not known");
  auto FromInput = [&] {
    return linearOf(X, S.lowered(tensor({"weight_ih"})),
                    S.lowered(maybeTensor({"bias_ih"})));
  };
  const Hidden After = step(Kind, Before, FromInput, S.lowered(W),
                            S.lowered(maybeTensor({"bias_hh"})));
  if (Kind != "lstm")
    return one(After.H);
  return several({After.H, After.C});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Queries, keys and values, as the weights project them: in one product, where
/// they are one tensor.
std::vector<TensorPtr>
Operator::projected(const TensorPtr &Q, const TensorPtr &K, const TensorPtr &V,
                    const TensorPtr &W, const TensorPtr &B) {
  if (Q == K && K == V)
    return chunksOf(linearOf(Q, W, B), 3, -1);
  const int64_t E = Q->sizes()[2];
  if (K != V)
    return {linearOf(Q, narrowOf(W, 0, E), narrowOf(B, 0, E)),
            linearOf(K, narrowOf(W, E, E), narrowOf(B, E, E)),
            linearOf(V, narrowOf(W, 2 * E, E), narrowOf(B, 2 * E, E))};
  std::vector<TensorPtr> Result = {
      linearOf(Q, narrowOf(W, 0, E), narrowOf(B, 0, E))};
  llvm::append_range(Result, chunksOf(linearOf(K, narrowOf(W, E, 2 * E),
                                               narrowOf(B, E, 2 * E)),
                                      2, -1));
  return Result;
}

/// \p Scores without those that masks take out. \p ByHead: samples, heads,
/// queries, keys.
TensorPtr Operator::maskedScores(TensorPtr Scores, const Sizes &ByHead) {
  if (const TensorPtr Mask = maybeTensor({"attn_mask"}))
    Scores = apply("add", Scores, Mask);
  const TensorPtr Mask = maybeTensor({"key_padding_mask"});
  if (!Mask || Mask->sizes().size() != 2)
    return Scores;
  Scores = viewOf(Scores, ByHead);
  Scores = part("masked_fill",
                {{"self", argument(Scores)},
                 {"mask", argument(viewOf(Mask, {ByHead[0], 1, 1, ByHead[3]}))},
                 {"value", realArgument(1)}});
  return viewOf(Scores, {ByHead[0] * ByHead[1], ByHead[2], ByHead[3]});
}

/// multi_head_attention_forward() of queries, keys and values of one width.
OperatorResult Operator::attention() {
  const TensorPtr Q = tensor({"query"}), K = tensor({"key"}),
                  V = tensor({"value"});
  const TensorPtr W = maybeTensor({"in_proj_weight"}),
                  B = maybeTensor({"in_proj_bias"});
  const int64_t Heads = integer({"num_heads"}, 1);
  if (Q->sizes().size() != 3 || K->sizes().size() != 3 || Heads < 1 || !W ||
      W->sizes().size() != 2 || maybeTensor({"bias_k"}) ||
      flag("add_zero_attn", false))
    return notFollowed("this form of 'MultiheadAttention' is not followed");
  const int64_t T = Q->sizes()[0], N = Q->sizes()[1], E = Q->sizes()[2],
                From = K->sizes()[0];
  if (E % Heads)
    return throws("'MultiheadAttention' of width " + Twine(E) + " has " +
                  Twine(Heads) + " heads");
  std::vector<TensorPtr> Projected = projected(Q, K, V, W, B);
  if (Trouble || Projected.size() != 3)
    return Trouble ? *Trouble : OperatorResult();
  Projected[0] = apply("mul", Projected[0], 1);
  auto SplitHeads = [&](TensorPtr &X, int64_t Length) {
    X = apply("contiguous", X);
    X = viewOf(X, {Length, N * Heads, E / Heads});
    X = transposeOf(X, 0, 1);
  };
  SplitHeads(Projected[0], T);
  SplitHeads(Projected[1], From);
  SplitHeads(Projected[2], From);
  TensorPtr Scores =
      part("bmm", {{"self", argument(Projected[0])},
                   {"mat2", argument(transposeOf(Projected[1], 1, 2))}});
  const Sizes ByHead = {N, Heads, T, From};
  Scores = maskedScores(std::move(Scores), ByHead);
  Scores = along("softmax", Scores, -1);
  const Arguments Drop = {
      {"input", argument(Scores)},
      {"training", argument(flag("training", false))},
      {"p", realArgument(maybeReal({"dropout"}).value_or(0))}};
  Scores = part("dropout", Drop);
  TensorPtr Result = part(
      "bmm", {{"self", argument(Scores)}, {"mat2", argument(Projected[2])}});
  Result = transposeOf(Result, 0, 1);
  Result = apply("contiguous", Result);
  Result = viewOf(Result, {T, N, E});
  Result = linearOf(Result, maybeTensor({"out_proj_weight"}),
                    maybeTensor({"out_proj_bias"}));
  if (!flag("need_weights", true)) {
    auto Undefined = std::make_shared<TensorInstance>();
    Undefined->Shape.Defined = false;
    return several({Result, Undefined});
  }
  TensorPtr Weights = viewOf(Scores, ByHead);
  Weights = along("sum", Weights, 1);
  Weights = apply("div", Weights, 1);
  return several({Result, Weights});
}

std::optional<OperatorResult> Operator::runRecurrent() {
  return runRule(llvm::StringSwitch<Rule>(Name)
                     .Cases("lstm", "gru", "rnn_tanh", &Operator::recurrent)
                     .Cases("lstm_cell", "gru_cell", "rnn_tanh_cell",
                            &Operator::recurrentCell)
                     .Case("pack_padded_sequence", &Operator::packed)
                     .Case("pad_packed_sequence", &Operator::padded)
                     .Case("multi_head_attention_forward", &Operator::attention)
                     .Default(nullptr));
}

} // namespace libtorch_tidy::bytes
