// The first call decides what later ones build.
// RUN: %check_libtorch_tidy %s libtorch-jit-unguarded-warmup %t -- -- -I%S/../Inputs
#include "net.h"
#include <torch/script.h>

using torch::Tensor;

void warmed_up(const std::string &path, const Tensor &x) {
  torch::jit::script::Module module = torch::jit::load(path);
  module.eval();
  // CHECK-FIXES: torch::NoGradGuard warm_up_guard;
  module.forward({x});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: unguarded warm-up: the first call of TorchScript module 'module' runs with gradient mode on; its executor then builds the autograd graph in later calls, too, although they are guarded [libtorch-jit-unguarded-warmup]
  torch::NoGradGuard no_grad;
  std::cout << module.forward({x}).toTensor();
}

void in_loop(torch::jit::Module &module, const Batches &batches) {
  for (int i = 0; i < 10; ++i) {
  // CHECK-FIXES: torch::NoGradGuard warm_up_guard;
    Tensor out = module({torch::rand({1, 4})}).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: unguarded warm-up: the first call of TorchScript module 'module' runs with gradient mode on; its executor then builds the autograd graph in later calls, too, although they are guarded [libtorch-jit-unguarded-warmup]
    std::cout << out.sizes();
  }
  for (const Tensor &x : batches) {
    c10::InferenceMode mode;
    std::cout << module({x}).toTensor();
  }
}

void other_method(torch::jit::Module module, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard warm_up_guard;
  module.get_method("encode")({x});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: unguarded warm-up: the first call of TorchScript module 'module' runs with gradient mode on; its executor then builds the autograd graph in later calls, too, although they are guarded [libtorch-jit-unguarded-warmup]
  torch::NoGradGuard guard;
  std::cout << module.run_method("encode", x).toTensor();
}

class Detector {
public:
  explicit Detector(const std::string &path) : module_(torch::jit::load(path)) {
    module_.to(torch::kCPU);
    // CHECK-FIXES: torch::NoGradGuard warm_up_guard;
    module_.forward({torch::zeros({1, 4})});
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: unguarded warm-up: the first call of TorchScript module 'module_' runs with gradient mode on; its executor then builds the autograd graph in later calls, too, although they are guarded [libtorch-jit-unguarded-warmup]
  }
  Tensor detect(const Tensor &x) {
    torch::NoGradGuard guard;
    return module_.forward({x}).toTensor();
  }

private:
  torch::jit::script::Module module_;
};
