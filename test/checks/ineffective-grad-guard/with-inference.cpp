// Both fixes of one place, applied together, compile.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard,libtorch-inference-without-no-grad %t

#include <torch/torch.h>

torch::Tensor predict(torch::nn::Linear net, torch::Tensor x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  net->eval();
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this NoGradGuard has no name
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
  auto y = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'net' runs with gradient mode on in 'predict', but nothing back-propagates the result; its activations are kept as long as the result lives
  return y.argmax(1);
}
