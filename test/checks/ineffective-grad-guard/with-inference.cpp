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
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name, so it ends with its own statement and guards nothing; give it a name
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad_guard;
  auto y = net(x);
  // CHECK-MESSAGES-ALONE: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net' runs in 'predict' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
  return y.argmax(1);
}

// Below the guard, also in what it is around.
double validate(torch::nn::Linear net, const std::vector<torch::Tensor> &data) {
  // CHECK-FIXES-ALONE: torch::NoGradGuard no_grad;
  torch::NoGradGuard guard();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:22: warning: ineffective guard: 'guard' declares a function with return type NoGradGuard, not a guard (vexing parse): nothing is guarded
  // CHECK-FIXES-GUARD: torch::NoGradGuard guard;
  torch::Tensor total = torch::zeros({});
  for (const auto &x : data)
    total += net(x).sum();
    // CHECK-MESSAGES-ALONE: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
    // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:14: warning: inference without NoGradGuard: 'net' runs in 'validate' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
  return total.item<double>();
}

// It does not reach what stands above it.
int64_t above(torch::nn::Linear net, torch::Tensor x) {
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad;
  // CHECK-FIXES-ALONE: torch::NoGradGuard no_grad;
  int64_t best = net(x).argmax().item<int64_t>();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'above' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
  // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:18: warning: inference without NoGradGuard: 'net' runs in 'above' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
  torch::NoGradGuard();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad_guard;
  return best + (x + 1).argmax().item<int64_t>();
}

// No fix gives it a name: the block is not its own.
int64_t without(torch::nn::Linear net, torch::Tensor x, bool quiet) {
  // CHECK-FIXES-GUARD: torch::NoGradGuard no_grad;
  // CHECK-FIXES-ALONE: torch::NoGradGuard no_grad;
  if (quiet)
    torch::NoGradGuard();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:5: warning: ineffective guard: this NoGradGuard has no name
  return net(x).argmax().item<int64_t>();
  // CHECK-MESSAGES-GUARD: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'without' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
  // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:10: warning: inference without NoGradGuard: 'net' runs in 'without' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
}
