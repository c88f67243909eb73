// What a guard will guard, once the fix has given it a name, is one finding
// with one fix, not two.
// RUN: %check_libtorch_tidy --check-suffix=GUARD %s libtorch-ineffective-grad-guard,libtorch-inference-without-no-grad,libtorch-accumulated-history %t
// RUN: %check_libtorch_tidy --check-suffix=ALONE %s libtorch-inference-without-no-grad,libtorch-accumulated-history %t

#include <torch/torch.h>
#include <vector>

torch::Tensor predict(torch::nn::Linear net, torch::Tensor x) {
  // CHECK-FIXES-ALONE: torch::NoGradGuard no_grad;
  net->eval();
  torch::NoGradGuard();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:3: warning: this NoGradGuard has no name, so it ends with its own statement and guards nothing
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad_guard;
  auto y = net(x);
  // CHECK-MESSAGES-ALONE: :[[@LINE-1]]:12: warning: 'net' runs with gradient mode on in 'predict', but nothing back-propagates the result; its activations are kept as long as the result lives
  return y.argmax(1);
}

// Below the guard, also in what it is around.
double validate(torch::nn::Linear net, const std::vector<torch::Tensor> &data) {
  // CHECK-FIXES-ALONE: torch::NoGradGuard no_grad;
  torch::NoGradGuard guard();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:22: warning: 'guard' declares a function with return type NoGradGuard, not a guard, and guards nothing
  // CHECK-FIXES-GUARD: torch::NoGradGuard guard;
  torch::Tensor total = torch::zeros({});
  for (const auto &x : data)
    total += net(x).sum();
    // CHECK-MESSAGES-ALONE: :[[@LINE-1]]:11: warning: 'total' accumulates tensors with autograd history; nothing back-propagates through it, so the activations of every iteration stay in memory
    // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:14: warning: 'net' runs with gradient mode on in 'validate', but nothing back-propagates the result; its activations are kept as long as the result lives
  return total.item<double>();
}

// It does not reach what stands above it.
int64_t above(torch::nn::Linear net, torch::Tensor x) {
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad;
  // CHECK-FIXES-ALONE: torch::NoGradGuard no_grad;
  int64_t best = net(x).argmax().item<int64_t>();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:18: warning: 'net' runs with gradient mode on in 'above', but nothing back-propagates the result; its activations are kept as long as the result lives
  // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:18: warning: 'net' runs with gradient mode on in 'above', but nothing back-propagates the result; its activations are kept as long as the result lives
  torch::NoGradGuard();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:3: warning: this NoGradGuard has no name
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad_guard;
  return best + (x + 1).argmax().item<int64_t>();
}

// No fix gives it a name: the block is not its own.
int64_t without(torch::nn::Linear net, torch::Tensor x, bool quiet) {
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad;
  // CHECK-FIXES-ALONE: torch::NoGradGuard no_grad;
  if (quiet)
    torch::NoGradGuard();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:5: warning: this NoGradGuard has no name
  return net(x).argmax().item<int64_t>();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:10: warning: 'net' runs with gradient mode on in 'without', but nothing back-propagates the result; its activations are kept as long as the result lives
  // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:10: warning: 'net' runs with gradient mode on in 'without', but nothing back-propagates the result; its activations are kept as long as the result lives
}
