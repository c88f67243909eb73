//===- AttentionOperators.cpp - Attention ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// multi_head_attention_forward of torch::nn::functional, which multiplies
/// matrices in all versions, and scaled_dot_product_attention of 2.x, as
/// ATen/native/transformers/attention.cpp has it.

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// multi_head_attention_forward()
//===----------------------------------------------------------------------===//

/// Queries, keys and values, as the weights project them: in one product, where
/// they are one tensor.
static std::vector<Tensor> projected(const Tensor &Q, const Tensor &K,
                                     const Tensor &V, const Tensor &W,
                                     const Tensor &B) {
  if (Q == K && K == V)
    return linear(Q, W, B).chunk(3, -1);
  // By the weights from width \p From on. Each part is a node of its own, and
  // their order decides which gradient is there first.
  auto Part = [&](const Tensor &X, int64_t From, int64_t Widths) {
    const int64_t E = Q->sizes()[2];
    const Tensor OfB = B.narrow(0, From * E, Widths * E),
                 OfW = W.narrow(0, From * E, Widths * E);
    return linear(X, OfW, OfB);
  };
  if (K != V)
    return {Part(Q, 0, 1), Part(K, 1, 1), Part(V, 2, 1)};
  std::vector<Tensor> Result = {Part(Q, 0, 1)};
  llvm::append_range(Result, Part(K, 1, 2).chunk(2, -1));
  return Result;
}

/// \p Scores without those that masks take out. \p ByHead: samples, heads,
/// queries, keys.
static Tensor maskedScores(OperatorCall &Op, Tensor Scores,
                           const Sizes &ByHead) {
  if (const Tensor Mask = Op.maybeTensor("attn_mask"))
    Scores = Scores + Mask;
  const Tensor Mask = Op.maybeTensor("key_padding_mask");
  if (!Mask || Mask->sizes().size() != 2)
    return Scores;
  Scores = Scores.view(ByHead);
  Scores = Scores.masked_fill(Mask.view({ByHead[0], 1, 1, ByHead[3]}), 1);
  return Scores.view({ByHead[0] * ByHead[1], ByHead[2], ByHead[3]});
}

/// multi_head_attention_forward() of queries, keys and values of one width.
static OperatorResult multiHead(OperatorCall &Op) {
  const Tensor Q = Op.tensor("query"), K = Op.tensor("key"),
               V = Op.tensor("value");
  const Tensor W = Op.maybeTensor("in_proj_weight"),
               B = Op.maybeTensor("in_proj_bias");
  const int64_t Heads = Op.integer("num_heads", 1);
  if (Q->sizes().size() != 3 || K->sizes().size() != 3 || Heads < 1 || !W ||
      W->sizes().size() != 2 || Op.maybeTensor("bias_k") ||
      Op.flag("add_zero_attn"))
    return Op.notFollowed("this form of 'MultiheadAttention' is not followed");
  const int64_t T = Q->sizes()[0], N = Q->sizes()[1], E = Q->sizes()[2],
                From = K->sizes()[0];
  if (E % Heads)
    return Op.throws("'MultiheadAttention' of width " + Twine(E) + " has " +
                     Twine(Heads) + " heads");
  std::vector<Tensor> Projected = projected(Q, K, V, W, B);
  if (Op.Trouble || Projected.size() != 3)
    return OperatorResult();
  Projected[0] = Projected[0] * 1;
  auto SplitHeads = [&](Tensor &X, int64_t Length) {
    X = X.contiguous();
    X = X.view({Length, N * Heads, E / Heads});
    X = X.transpose(0, 1);
  };
  SplitHeads(Projected[0], T);
  SplitHeads(Projected[1], From);
  SplitHeads(Projected[2], From);
  Tensor Scores = bmm(Projected[0], Projected[1].transpose(1, 2));
  const Sizes ByHead = {N, Heads, T, From};
  Scores = maskedScores(Op, std::move(Scores), ByHead);
  Scores = Scores.softmax(-1);
  const Arguments Drop = {{"input", Scores},
                          {"training", Op.flag("training")},
                          {"p", Op.maybeReal("dropout").value_or(0)}};
  Scores = Op.run("dropout", Drop);
  Tensor Result = bmm(Scores, Projected[2]);
  Result = Result.transpose(0, 1);
  Result = Result.contiguous();
  Result = Result.view({T, N, E});
  Result = linear(Result, Op.maybeTensor("out_proj_weight"),
                  Op.maybeTensor("out_proj_bias"));
  if (!Op.flag("need_weights", true))
    return std::vector<Tensor>{Result, {Op, undefinedTensor()}};
  Tensor Weights = Scores.view(ByHead);
  Weights = Weights.sum(1);
  Weights = Weights / 1;
  return std::vector<Tensor>{Result, Weights};
}

//===----------------------------------------------------------------------===//
// scaled_dot_product_attention()
//===----------------------------------------------------------------------===//

namespace {

/// Its tensors. Sizes are samples, heads, a length and a width; the kernel
/// takes no others.
struct Attended {
  Tensor Q, K, V, Mask;
  bool IsCausal = false;
  double Dropout = 0;
  bool RepeatsHeads = false; ///< enable_gqa
};

} // namespace

/// Of booleans \p Mask is turned into numbers that are added.
static Tensor maskToAdd(OperatorCall &Op, const Tensor &Mask,
                        ElementType Type) {
  if (!Mask || typeOf(Mask).Name != Bool.Name)
    return Mask;
  const BlockPtr Numbers = Op.scratch(2 * Type.Bytes);
  return Op.makeLike(Mask, Type);
}

/// As use_flash_attention_cpp() of sdp_utils_cpp.cpp has it.
static bool takesKernel(OperatorCall &Op, const Attended &Of) {
  const Sizes Q = Of.Q->sizes(), K = Of.K->sizes(), V = Of.V->sizes();
  if (Of.Dropout > 0 || Q.size() != 4 || K.size() != 4 || V.size() != 4)
    return false;
  auto HasRows = [](const Tensor &T) { return T->Strides.back() == 1; };
  const bool SharesHeads = Op.isSince(2, 14) && K[1] > 0 &&
                           (K[1] == 1 || (Of.RepeatsHeads && Q[1] % K[1] == 0));
  if (Q[0] != K[0] || Q[0] != V[0] || K[1] != V[1] ||
      (Q[1] != K[1] && !SharesHeads) || Q[3] != K[3] || Q[3] != V[3] ||
      !HasRows(Of.Q) || !HasRows(Of.K) || !HasRows(Of.V))
    return false;
  if (!Of.Mask)
    return true;
  const Sizes M = Of.Mask->sizes();
  auto Fits = [](int64_t Size, int64_t To) { return Size == 1 || Size == To; };
  return !Of.Mask->needsGradient() && (HasRows(Of.Mask) || Op.isSince(2, 14)) &&
         Fits(M[M.size() - 2], Q[2]) && Fits(M.back(), K[2]) &&
         (M.size() == 2 ||
          (M.size() == 4 && Fits(M[0], Q[0]) && Fits(M[1], Q[1])));
}

/// The kernel for CPUs, which never has all weights at once: it goes over so
/// many queries and keys at a time. As FlashAttentionKernel.cpp has it.
static OperatorResult attendByKernel(OperatorCall &Op, const Attended &Of) {
  const Sizes To = Of.Q->sizes();
  const int64_t Length = To[2], From = Of.K->sizes()[2];
  if (Length == 0 || From == 0 || Of.V->sizes()[2] != From)
    return Op.notFollowed("'" + Op.Name + "' of keys of " +
                          shown(Of.K->sizes()) + " and values of " +
                          shown(Of.V->sizes()) + " is not followed");
  const ElementType Type = typeOf(Of.Q),
                    Sum = Type.Bytes < Float32.Bytes ? Float32 : Type;
  const bool IsHalf = Type.Name != Sum.Name;
  const int64_t Queries = std::min<int64_t>(Length, Length >= 768   ? 256
                                                    : Length >= 192 ? 64
                                                                    : 32),
                Weights = Queries * std::min<int64_t>(From, 512);
  const Tensor Mask = maskToAdd(Op, Of.Mask, Type);
  // Gradients lie as samples, lengths, heads.
  auto WithHeads = [&](const Sizes &S) {
    const Sizes Own = contiguousStrides({S[0], S[2], S[1], S[3]});
    return Sizes{Own[0], Own[2], Own[1], Own[3]};
  };
  const Tensor Made = Op.make(To, Type),
               Out = Op.view(Made, To, orderOf(To, {Of.Q->Strides})),
               Logarithms = Op.make({To[0], Length, To[1]}, Sum);
  // A mask whose rows do not lie in order, which the kernel takes since 2.14.
  const uint64_t OfMask =
      Mask && Mask->Strides.back() != 1 && !Mask->isContiguous() ? bytesOf(Mask)
                                                                 : 0;
  Op.scratch(OfMask + elementsOf(Weights + Queries * (2 + To[3]), Sum.Bytes) +
             (IsHalf ? elementsOf(Weights, Type.Bytes) : 0));
  // All three gradients are made, whichever is asked for.
  uint64_t Scratch = OfMask + elementsOf(2 * Weights + Queries, Sum.Bytes) +
                     (IsHalf ? elementsOf(2 * Weights, Type.Bytes) : 0);
  std::vector<Differentiated> Inputs;
  for (const Tensor &T : {Of.Q, Of.K, Of.V}) {
    Scratch += bytesOf(T) - gradientBytes(T);
    Inputs.push_back({T, GradientKind::Fresh, 0, {}, WithHeads(T->sizes())});
  }
  const OperatorResult Result =
      Op.record({Out}, Inputs, {Of.Q, Of.K, Of.V, Mask, Made, Logarithms},
                Scratch, Scratch + bytesOf(Out));
  if (Out->Maker)
    Out->Maker->Reads = [](const TensorInstance &Gradient) {
      TensorInstance T = Gradient;
      const Sizes S = T.sizes();
      T.Shape.Sizes = std::vector<Size>{S[0], S[2], S[1], S[3]};
      std::swap(T.Strides[1], T.Strides[2]);
      return T.isContiguous();
    };
  return Result;
}

/// _scaled_dot_product_attention_math(): of halves in floats.
static OperatorResult attendByProducts(OperatorCall &Op, const Attended &Of) {
  const ElementType Type = typeOf(Of.Q),
                    Inner = Type.Bytes < Float32.Bytes ? Float32 : Type;
  auto Converted = [&](const Tensor &T, ElementType To) {
    return typeOf(T).Name == To.Name ? T : T.run("to", {{"dtype", To}});
  };
  Tensor Mask = maskToAdd(Op, Of.Mask, Type);
  const Tensor Q = Converted(Of.Q, Inner), OwnK = Converted(Of.K, Inner),
               OwnV = Converted(Of.V, Inner);
  Tensor K = OwnK, V = OwnV;
  const Tensor Scaled = Q * 1;
  const Sizes OfQ = Q->sizes(), OfK = K->sizes(), OfV = V->sizes();
  if (Of.IsCausal) {
    const Sizes Square = {OfQ[OfQ.size() - 2], OfK[OfK.size() - 2]};
    Op.scratch(2 * bytesOf(Op.make(Square, Bool)));
    Mask = maskToAdd(Op, Op.make(Square, Bool), Inner);
  }
  if (const size_t D = OfQ.size() - 3; Of.RepeatsHeads && OfQ.size() > 2 &&
                                       (OfQ[D] != OfK[D] || OfK[D] != OfV[D])) {
    auto Repeated = [&](const Tensor &T) {
      const int64_t Own = std::max<int64_t>(T->sizes()[D], 1);
      return T.run("repeat_interleave",
                   {{"repeats", OfQ[D] / Own}, {"dim", -3}});
    };
    K = Repeated(K);
    V = Repeated(V);
  }
  auto Product = [](const Tensor &A, const Tensor &B) {
    return A.run("matmul", {{"other", B}});
  };
  Tensor Weights = Product(Scaled, K.transpose(-2, -1) * 1);
  if (Mask)
    Weights = Weights.add_(Mask);
  // _safe_softmax(): rows of which all is masked are set to 0.
  Tensor Soft = Weights.softmax(-1);
  const int64_t Rows =
      elementsIn(Soft) / std::max<int64_t>(Soft->sizes().back(), 1);
  Op.scratch(elementsIn(Soft) + Rows + Inner.Bytes);
  Weights = std::move(Soft);
  if (Of.Dropout > 0)
    Weights = Weights.run("dropout", {{"train", true}, {"p", Of.Dropout}});
  const Tensor Given = Converted(Weights, Type);
  return Converted(Product(Weights, V), Type);
}

static OperatorResult scaledDotProduct(OperatorCall &Op) {
  Attended Of = {Op.tensor("query"),   Op.tensor("key"),
                 Op.tensor("value"),   Op.maybeTensor("attn_mask"),
                 Op.flag("is_causal"), Op.maybeReal("dropout_p").value_or(0),
                 Op.flag("enable_gqa")};
  if (Op.Trouble || !Op.isReal(Of.Q))
    return {};
  const size_t Dimensions = Of.Q->sizes().size();
  if (!Op.isSince(2, 0) || Op.isOnGpu())
    return Op.notFollowed("'" + Op.Name + "' " +
                          (Op.isOnGpu() ? "on a GPU is not followed"
                                        : "is not there before LibTorch 2.0"));
  auto HasOneType = [&](const Tensor &T) {
    return typeOf(T).Name == typeOf(Of.Q).Name;
  };
  if (Dimensions < 2 || Of.K->sizes().size() != Dimensions ||
      Of.V->sizes().size() != Dimensions || !HasOneType(Of.K) ||
      !HasOneType(Of.V))
    return Op.throws("'" + Op.Name + "' is given queries, keys and values of " +
                     shown(Of.Q->sizes()) + ", " + shown(Of.K->sizes()) +
                     " and " + shown(Of.V->sizes()));
  if (Of.Mask && (Of.Mask->sizes().size() < 2 ||
                  (!HasOneType(Of.Mask) && typeOf(Of.Mask).Name != Bool.Name &&
                   typeOf(Of.Mask).Name != Float32.Name)))
    return Op.throws("'" + Op.Name + "' is given a mask of " +
                     shown(Of.Mask->sizes()));
  // Since 2.14 one sample has a dimension of its own meanwhile.
  const bool IsOne = Dimensions == 3 && Op.isSince(2, 14);
  if (IsOne)
    for (Tensor *T : {&Of.Q, &Of.K, &Of.V, &Of.Mask})
      if (*T && (*T)->sizes().size() == 3)
        *T = T->unsqueeze(0);
  const bool UsesKernel = takesKernel(Op, Of);
  if (Of.IsCausal && Of.Mask && (!UsesKernel || Op.isSince(2, 14)))
    return Op.throws("'" + Op.Name + "' is causal and is given a mask");
  const OperatorResult Result =
      UsesKernel ? attendByKernel(Op, Of) : attendByProducts(Op, Of);
  if (!IsOne || Op.Trouble || Result.What != OperatorResult::One)
    return Result;
  return Tensor(Op, Result.Tensors.front()).squeeze(0);
}

static constexpr OperatorRule AttentionRows[] = {
    {"multi_head_attention_forward", multiHead},
    {"scaled_dot_product_attention", scaledDotProduct},
};
const RuleTable AttentionRules = {AttentionRows};

} // namespace libtorch_tidy::bytes
