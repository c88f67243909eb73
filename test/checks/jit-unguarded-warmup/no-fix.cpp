// Told, but not edited.
// RUN: %check_libtorch_tidy %s libtorch-jit-unguarded-warmup %t -- -- -I%S/../Inputs
#include "net.h"
#include <torch/script.h>

using torch::Tensor;

// A guard in this block would reach the training behind it.
void then_train(torch::jit::Module &module, Net &net, const Tensor &x) {
  module.forward({x});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: unguarded warm-up: the first call of TorchScript module 'module' runs with gradient mode on; its executor then builds the autograd graph in later calls, too, although they are guarded [libtorch-jit-unguarded-warmup]
  {
    torch::NoGradGuard no_grad;
    std::cout << module.forward({x}).toTensor();
  }
  net(x).sum().backward();
}

#define RUN(Module, Input) Module.forward({Input})
void by_macro(torch::jit::Module &module, const Tensor &x) {
  RUN(module, x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: unguarded warm-up: the first call of TorchScript module 'module' runs with gradient mode on; its executor then builds the autograd graph in later calls, too, although they are guarded [libtorch-jit-unguarded-warmup]
  torch::NoGradGuard no_grad;
  std::cout << module.forward({x}).toTensor();
}

void wanted(torch::jit::Module &module, const Tensor &x) {
  module.forward({x}); // NOLINT(libtorch-jit-unguarded-warmup)
  torch::NoGradGuard no_grad;
  std::cout << module.forward({x}).toTensor();
}
