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

#include "checks/torch/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::torch {

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

/// lstm, gru, rnn_tanh and rnn_relu over a sequence.
OperatorResult Operator::recurrent() {
  const bool IsLstm = Name == "lstm";
  const StringRef Kind =
      StringRef(text({"nonlinearity"})).contains_insensitive("relu")
          ? "rnn_relu"
          : Name;
  const bool BatchFirst = flag("batch_first", false);
  const int64_t Layers = integer({"num_layers"}, 1);
  const int64_t Directions = flag("bidirectional", false) ? 2 : 1;
  TensorPtr X = self();
  const bool IsPacked = X->PackedSteps > 0;
  if (X->sizes().size() != (IsPacked ? 2 : 3))
    return notFollowed("'" + Name + "' without a batch is not followed");
  if (BatchFirst && !IsPacked)
    X = transposeOf(X, 0, 1);
  const int64_t T = IsPacked ? X->PackedSteps : X->sizes()[0],
                N = IsPacked ? X->sizes()[0] / T : X->sizes()[1];
  if (Layers < 1 || T < 1 || Layers * Directions * T > MaxRecurrentSteps ||
      integer({"proj_size"}, 0) != 0) {
    return notFollowed("'" + Name + "' of " + llvm::Twine(T) + " steps in " +
                       llvm::Twine(Layers) + " layers is not followed");
  }
  auto Weight = [&](StringRef Of, int64_t Layer, bool Back) {
    return S.lowered(maybeTensor(
        {(Of + "_l" + llvm::Twine(Layer) + (Back ? "_reverse" : "")).str()}));
  };
  const TensorPtr First = Weight("weight_hh", 0, false);
  if (!First || First->sizes().size() != 2)
    return notFollowed("the weights of '" + Name + "' are not known");
  const int64_t Width = First->sizes()[1];
  // The state from before: zeros, or what is given.
  std::vector<TensorPtr> H, C;
  std::vector<TensorPtr> State;
  if (const Argument *Given = find({"hx"});
      Given && Given->What == Argument::Tensors)
    State = Given->Handles;
  else if (Given && Given->What == Argument::Tensor)
    State = {Given->Handles.front()};
  while (State.size() < (IsLstm ? 2U : 1U))
    State.push_back(S.make({Layers * Directions, N, Width}, typeOf(X)));
  auto Unbind = [&](const TensorPtr &Of) {
    return parts("unbind", {{"self", argument(Of)}, {"dim", argument(0)}});
  };
  H = Unbind(State[0]);
  if (IsLstm)
    C = Unbind(State[1]);
  State.clear();
  auto Stack = [&](std::vector<TensorPtr> All) {
    return part("stack",
                {{"tensors", argument(std::move(All))}, {"dim", argument(0)}});
  };
  auto Join = [&](std::vector<TensorPtr> All) {
    return IsPacked ? part("cat", {{"tensors", argument(std::move(All))},
                                   {"dim", argument(0)}})
                    : Stack(std::move(All));
  };
  std::vector<TensorPtr> LastH, LastC;
  for (int64_t Layer = 0; Layer < Layers && !Trouble; ++Layer) {
    std::vector<TensorPtr> Outputs;
    std::vector<std::vector<TensorPtr>> Steps;
    // Those of the first direction go when the second has its own.
    TensorPtr Pre;
    std::vector<TensorPtr> PreSteps;
    for (int64_t Direction = 0; Direction < Directions; ++Direction) {
      const bool Back = Direction == 1;
      Pre = linearOf(X, Weight("weight_ih", Layer, Back),
                     Weight("bias_ih", Layer, Back));
      PreSteps = IsPacked ? std::vector<TensorPtr>(T) : Unbind(Pre);
      const TensorPtr W = Weight("weight_hh", Layer, Back),
                      B = Weight("bias_hh", Layer, Back);
      const size_t Which = Layer * Directions + Direction;
      if (Trouble || !W || Which >= H.size() || (IsLstm && Which >= C.size()))
        break;
      Hidden Now = {H[Which], IsLstm ? C[Which] : nullptr};
      std::vector<TensorPtr> Each;
      for (size_t I = 0; I < PreSteps.size() && !Trouble; ++I) {
        TensorPtr Step = PreSteps[I];
        if (IsPacked)
          Step = part("narrow", {{"self", argument(Pre)},
                                 {"dim", argument(0)},
                                 {"start", argument(I * N)},
                                 {"length", argument(N)}});
        Now = step(
            Kind, Now, [&] { return Step; }, W, B);
        Each.push_back(Now.H);
      }
      LastH.push_back(Now.H);
      if (IsLstm)
        LastC.push_back(Now.C);
      Outputs.push_back(Join(Each));
      if (IsPacked)
        Pre = nullptr;
      else if (Directions == 2)
        Steps.push_back(std::move(Each)); // Alive until both are joined.
    }
    if (Trouble || Outputs.size() != static_cast<size_t>(Directions))
      return notFollowed("the weights of '" + Name + "' are not known");
    X = Directions == 1 ? Outputs.front()
                        : part("cat", {{"tensors", argument(Outputs)},
                                       {"dim", argument(-1)}});
    if (maybeReal({"dropout"}).value_or(0) > 0 && Layer + 1 < Layers &&
        flag("training", false)) {
      Arguments With = {{"input", argument(X)}, {"train", argument(1)}};
      X = part("dropout", With);
    }
  }
  if (Trouble)
    return *Trouble;
  std::vector<TensorPtr> Results;
  if (IsPacked)
    X->PackedSteps = T;
  Results.push_back(BatchFirst && !IsPacked ? transposeOf(X, 0, 1) : X);
  Results.push_back(Stack(std::move(LastH)));
  if (IsLstm)
    Results.push_back(Stack(std::move(LastC)));
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
  } else if (Given && Given->What == Argument::Tensor) {
    Before.H = Given->Handles.front();
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

/// multi_head_attention_forward() of queries, keys and values of one width.
OperatorResult Operator::attention() {
  const TensorPtr Q = tensor({"query"}), K = tensor({"key"}),
                  V = tensor({"value"});
  const TensorPtr W = maybeTensor({"in_proj_weight"}),
                  B = maybeTensor({"in_proj_bias"});
  const int64_t Heads = integer({"num_heads"}, 1);
  if (Q->sizes().size() != 3 || K->sizes().size() != 3 || Heads < 1 || !W ||
      W->sizes().size() != 2 || maybeTensor({"bias_k"}) ||
      flag("add_zero_attn", false)) {
    return notFollowed("this form of 'MultiheadAttention' is not followed");
  }
  const int64_t T = Q->sizes()[0], N = Q->sizes()[1], E = Q->sizes()[2],
                From = K->sizes()[0];
  if (E % Heads)
    return throws("'MultiheadAttention' of width " + llvm::Twine(E) + " has " +
                  llvm::Twine(Heads) + " heads");
  auto Narrow = [&](const TensorPtr &X, int64_t Start, int64_t Length) {
    return !X ? X
              : part("narrow", {{"self", argument(X)},
                                {"dim", argument(0)},
                                {"start", argument(Start)},
                                {"length", argument(Length)}});
  };
  std::vector<TensorPtr> Projected;
  if (Q == K && K == V) {
    Projected = chunksOf(linearOf(Q, W, B), 3, -1);
  } else if (K == V) {
    Projected = {linearOf(Q, Narrow(W, 0, E), Narrow(B, 0, E))};
    llvm::append_range(
        Projected,
        chunksOf(linearOf(K, Narrow(W, E, 2 * E), Narrow(B, E, 2 * E)), 2, -1));
  } else {
    Projected = {linearOf(Q, Narrow(W, 0, E), Narrow(B, 0, E)),
                 linearOf(K, Narrow(W, E, E), Narrow(B, E, E)),
                 linearOf(V, Narrow(W, 2 * E, E), Narrow(B, 2 * E, E))};
  }
  if (Trouble || Projected.size() != 3)
    return Trouble ? *Trouble : OperatorResult();
  Argument Scale;
  Scale.What = Argument::Real;
  Scale.RealNumber = 1;
  Projected[0] =
      part("mul", {{"self", argument(Projected[0])}, {"other", Scale}});
  auto Heads3 = [&](TensorPtr &X, int64_t Length) {
    X = part("contiguous", {{"self", argument(X)}});
    X = viewOf(X, {Length, N * Heads, E / Heads});
    X = transposeOf(X, 0, 1);
  };
  Heads3(Projected[0], T);
  Heads3(Projected[1], From);
  Heads3(Projected[2], From);
  TensorPtr Scores =
      part("bmm", {{"self", argument(Projected[0])},
                   {"mat2", argument(transposeOf(Projected[1], 1, 2))}});
  if (const TensorPtr Mask = maybeTensor({"attn_mask"}))
    Scores =
        part("add", {{"self", argument(Scores)}, {"other", argument(Mask)}});
  if (const TensorPtr Mask = maybeTensor({"key_padding_mask"});
      Mask && Mask->sizes().size() == 2) {
    Scores = viewOf(Scores, {N, Heads, T, From});
    Scores =
        part("masked_fill", {{"self", argument(Scores)},
                             {"mask", argument(viewOf(Mask, {N, 1, 1, From}))},
                             {"value", Scale}});
    Scores = viewOf(Scores, {N * Heads, T, From});
  }
  Scores = part("softmax", {{"self", argument(Scores)}, {"dim", argument(-1)}});
  Arguments Drop = {{"input", argument(Scores)},
                    {"training", argument(flag("training", false))}};
  Drop["p"] = Scale;
  Drop["p"].RealNumber = maybeReal({"dropout"}).value_or(0);
  Scores = part("dropout", Drop);
  TensorPtr Result = part(
      "bmm", {{"self", argument(Scores)}, {"mat2", argument(Projected[2])}});
  Result = transposeOf(Result, 0, 1);
  Result = part("contiguous", {{"self", argument(Result)}});
  Result = viewOf(Result, {T, N, E});
  Result = linearOf(Result, maybeTensor({"out_proj_weight"}),
                    maybeTensor({"out_proj_bias"}));
  if (!flag("need_weights", true)) {
    auto Undefined = std::make_shared<TensorInstance>();
    Undefined->Shape.Defined = false;
    return several({Result, Undefined});
  }
  TensorPtr Weights = viewOf(Scores, {N, Heads, T, From});
  Weights = part("sum", {{"self", argument(Weights)}, {"dim", argument(1)}});
  Weights = part("div", {{"self", argument(Weights)}, {"other", Scale}});
  return several({Result, Weights});
}

std::optional<OperatorResult> Operator::runRecurrent() {
  if (Name == "lstm" || Name == "gru" || Name == "rnn_tanh")
    return recurrent();
  if (Name == "lstm_cell" || Name == "gru_cell" || Name == "rnn_tanh_cell")
    return recurrentCell();
  if (Name == "pack_padded_sequence")
    return packed();
  if (Name == "pad_packed_sequence")
    return padded();
  if (Name == "multi_head_attention_forward")
    return attention();
  return std::nullopt;
}

} // namespace libtorch_tidy::torch
