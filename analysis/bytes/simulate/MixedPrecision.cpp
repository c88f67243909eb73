//===- MixedPrecision.cpp - What autocast converts ------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The operators that LibTorch 1.13.1 registers for autocast (the kernels of
/// DispatchKey::AutocastCPU and AutocastCUDA), and what happens to their
/// tensors (ATen/autocast_mode.h).
///
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::bytes {

namespace {

/// What autocast does before an operator runs.
enum class CastPolicy : unsigned char {
  None,   ///< It does not know the operator: those inside may be cast.
  Lower,  ///< All tensors to the type of autocast.
  Single, ///< All to float32.
  Widest, ///< All to the widest type among them.
  Result, ///< The result is of float32, without a conversion of its own.
};

/// Operators, and losses by the names of their functionals, too.
struct CastRow {
  StringRef Names;
  CastPolicy OnCpu, OnCuda;
};

} // namespace

static constexpr CastRow CastRows[] = {
    {"conv1d conv2d conv3d conv_tbc linear matmul mm bmm addmm addbmm baddbmm",
     CastPolicy::Lower, CastPolicy::Lower},
    {"mv addmv addr einsum prelu gru_cell lstm_cell rnn_tanh_cell "
     "rnn_relu_cell",
     CastPolicy::None, CastPolicy::Lower},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", CastPolicy::Single,
     CastPolicy::Lower},
    {"mse_loss l1_loss smooth_l1_loss huber_loss nll_loss kl_div "
     "poisson_nll_loss binary_cross_entropy_with_logits soft_margin_loss "
     "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss "
     "multi_margin_loss multilabel_margin_loss triplet_margin_loss cdist",
     CastPolicy::Single, CastPolicy::Single},
    {"avg_pool3d max_pool3d adaptive_avg_pool3d adaptive_max_pool3d "
     "binary_cross_entropy cross_entropy cross_entropy_loss ctc_loss trace",
     CastPolicy::Single, CastPolicy::None},
    {"acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt "
     "sinh tan pow softplus layer_norm group_norm norm cosine_similarity dist "
     "logsumexp renorm",
     CastPolicy::None, CastPolicy::Single},
    {"cat stack index_copy", CastPolicy::Widest, CastPolicy::None},
    {"grid_sample grid_sampler", CastPolicy::Single, CastPolicy::Widest},
    {"addcdiv addcmul atan2 bilinear cross dot index_put scatter_add tensordot",
     CastPolicy::None, CastPolicy::Widest},
    {"prod", CastPolicy::Single, CastPolicy::Result},
    {"softmax log_softmax sum cumsum cumprod", CastPolicy::None,
     CastPolicy::Result},
};

static CastPolicy policyOf(StringRef Name, DeviceKind Device) {
  for (const CastRow &Row : CastRows)
    if (llvm::is_contained(llvm::split(Row.Names, ' '), Name))
      return Device == DeviceKind::Cpu ? Row.OnCpu : Row.OnCuda;
  return CastPolicy::None;
}

/// Autocast leaves float64, complex numbers and integers alone.
static bool isEligible(const TensorPtr &T) {
  return T && T->Shape.Defined && T->Shape.Type && isFloating(*T->Shape.Type) &&
         T->Shape.Type->Bytes <= 4 &&
         !StringRef(T->Shape.Type->Name).contains("complex");
}

static bool isEligible(const Cell &A) {
  return A->What == Value::Tensor && isEligible(A->Handle);
}

static TensorPtr converted(Simulation &S, const TensorPtr &T, ElementType To) {
  const OperatorResult Result =
      OperatorCall(S, "to", {{"self", T}, {"dtype", To}}).run();
  return Result.What == OperatorResult::One ? Result.Tensors.front() : T;
}

TensorPtr Simulation::cast(const TensorPtr &T, ElementType To) {
  if (!Autocast || InAutocast || !isEligible(T) ||
      T->Shape.Type->Name == To.Name)
    return T;
  // Those of parameters are kept, until the region of autocast ends.
  const bool IsKept = To.Name == Autocast->Name && !T->Maker &&
                      T->Shape.Type->Name == Float32.Name &&
                      T->RequiresGrad.value_or(false);
  if (IsKept)
    if (const auto It = Casts.find(T); It != Casts.end())
      return It->second;
  TensorPtr Result = converted(*this, T, To);
  if (IsKept)
    Casts[T] = Result;
  return Result;
}

/// torch::nn's linear() of what is not a matrix is matmul(), and the bias is
/// added to the result as it is.
static OperatorResult addBias(Simulation &S, Arguments Given) {
  const Argument Bias = Given["bias"];
  Given.erase("bias");
  OperatorResult Result = S.run("linear", Given);
  if (Result.What != OperatorResult::One)
    return Result;
  return S.run("add_", {{"self", Result.Tensors.front()}, {"other", Bias}});
}

OperatorResult Simulation::run(StringRef Name, const Arguments &Given) {
  const CastPolicy Policy =
      Autocast && !InAutocast ? policyOf(Name, Device) : CastPolicy::None;
  if (Policy == CastPolicy::None)
    return OperatorCall(*this, Name, Given).run();
  const auto Input = Given.find("input"), Bias = Given.find("bias");
  const bool IsLinear = Name == "linear" && Input != Given.end();
  if (IsLinear && Bias != Given.end() && isEligible(Bias->second) &&
      isEligible(Input->second) && Input->second->Handle->sizes().size() != 2)
    return addBias(*this, Given);
  Arguments With = Given;
  const ElementType To = Policy == CastPolicy::Lower ? *Autocast : Float32;
  std::vector<Cell *> Eligible;
  for (auto &[Of, A] : With) {
    if (A->What == Value::List)
      A = cell(*A);
    for (Cell &T : A->What == Value::List ? llvm::MutableArrayRef(A->Elements)
                                          : llvm::MutableArrayRef<Cell>(A))
      if (isEligible(T)) {
        // It is a transposed view that is cast, which is not kept.
        if (IsLinear && Of == "weight")
          T = tensorValue(converted(*this, T->Handle, To));
        else
          Eligible.push_back(&T);
      }
  }
  if (Policy == CastPolicy::Widest &&
      llvm::none_of(Eligible, [](const Cell *T) {
        return (*T)->Handle->Shape.Type->Bytes == Float32.Bytes;
      }))
    Eligible.clear();
  if (Policy == CastPolicy::Result) {
    if (!Eligible.empty() && !With.count("dtype"))
      With["dtype"] = Float32;
    Eligible.clear();
  }
  for (Cell *T : Eligible)
    *T = tensorValue(cast((*T)->Handle, To));
  // What the operator runs itself is not cast again.
  InAutocast = true;
  const auto Leave = llvm::make_scope_exit([&] { InAutocast = false; });
  return OperatorCall(*this, Name, With).run();
}

} // namespace libtorch_tidy::bytes
