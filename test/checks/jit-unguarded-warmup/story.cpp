// The call that comes too late.
// RUN: %check_libtorch_tidy %s libtorch-jit-unguarded-warmup %t
#include <torch/script.h>
#include <torch/torch.h>

#define RUN(Module, Input) Module.forward({Input})

void warmed_up(torch::jit::Module &module, const torch::Tensor &x) {
  RUN(module, x);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: unguarded warm-up: the first call of TorchScript module 'module' runs with gradient mode on; its executor then builds the autograd graph in later calls, too, although they are guarded [libtorch-jit-unguarded-warmup]
  // CHECK-NOTES: :[[@LINE+3]]:10: note: this later call is guarded, but its result still requires grad; under InferenceMode it throws
  torch::NoGradGuard no_grad;
  // A comment between the two.
  module.forward({x});
}
