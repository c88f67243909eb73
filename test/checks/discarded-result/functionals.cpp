// Functions of torch::nn::functional, and results that name what they were meant
// for.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t

#include <torch/torch.h>

namespace F = torch::nn::functional;
using torch::Tensor;

Tensor embed(Tensor x, F::DropoutFuncOptions given) {
  F::normalize(x, F::NormalizeFuncOptions().dim(1));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'normalize' is discarded; 'x' stays as it is [libtorch-discarded-result]
  F::dropout(x, F::DropoutFuncOptions().p(0.2).training(false));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'dropout' is discarded; 'x' stays as it is [libtorch-discarded-result]
  F::relu(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'relu' is discarded; 'x' stays as it is [libtorch-discarded-result]
  // These write, or may.
  F::relu(x, F::ReLUFuncOptions().inplace(true));
  F::dropout(x, given);
  F::batch_norm(x, torch::zeros({4}), torch::ones({4}));
  // Run for the time it takes.
  F::linear(x, torch::rand({4, 4}));
  x = F::normalize(x);
  return x;
}

void clip(Tensor &grad, Tensor &scores) {
  torch::nan_to_num(grad);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'nan_to_num' is discarded; 'grad' stays as it is [libtorch-discarded-result]
  // CHECK-FIXES: grad = torch::nan_to_num(grad);
  torch::nan_to_num_(grad);
  scores.masked_fill(torch::eye(4, torch::kBool), -1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'masked_fill' is discarded; 'scores' stays as it is [libtorch-discarded-result]
  scores.masked_fill(grad.isnan(), -1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'masked_fill' is discarded; 'scores' stays as it is [libtorch-discarded-result]
}

// Values and indices.
void select(Tensor scores, Tensor values, Tensor indices) {
  scores.max(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'max' is discarded; 'scores' stays as it is [libtorch-discarded-result]
  torch::sort(scores, 1, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'sort' is discarded; 'scores' stays as it is [libtorch-discarded-result]
  scores.topk(5);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'topk' is discarded; 'scores' stays as it is [libtorch-discarded-result]
  std::tie(values, indices) = scores.max(1);
  torch::max_out(values, indices, scores, 1);
  auto [best, at] = scores.sort();
}
