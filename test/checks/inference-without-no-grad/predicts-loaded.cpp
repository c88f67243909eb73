// A TorchScript module that the file loads, and nothing in it trains.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include <torch/script.h>

using torch::Tensor;

struct Layer {
  Tensor output;
};

class Detector {
public:
  explicit Detector(const std::string &path)
      : module_(torch::jit::load(path)) {}

  Tensor detect(const Tensor &image) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return module_.forward({image}).toTensor();
    // CHECK-NOTES: :[[@LINE-1]]:20: warning: inference without NoGradGuard: 'module_' runs in 'detect' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-6]]:17: note: a TorchScript module is loaded here, and nothing in this file trains one
  }

  void fill(Layer *layers, int k, const Tensor &image) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    layers[k].output = module_.forward({image}).toTensor();
    // CHECK-NOTES: :[[@LINE-1]]:32: warning: inference without NoGradGuard: 'module_' runs in 'fill' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }

  Tensor guarded(const Tensor &image) {
    c10::InferenceMode guard;
    return module_.forward({image}).toTensor();
  }

private:
  torch::jit::Module module_;
};
