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
    // CHECK-NOTES: :[[@LINE-1]]:20: warning: 'module_' runs with gradient mode on in 'detect', but nothing in this file back-propagates the result; its activations are kept as long as the result lives [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-6]]:17: note: a TorchScript module is loaded here, and nothing in this file trains one
  }

  void fill(Layer *layers, int k, const Tensor &image) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    layers[k].output = module_.forward({image}).toTensor();
    // CHECK-NOTES: :[[@LINE-1]]:32: warning: 'module_' runs with gradient mode on in 'fill', but nothing back-propagates the result; its activations are kept as long as the result lives [libtorch-inference-without-no-grad]
  }

  Tensor guarded(const Tensor &image) {
    c10::InferenceMode guard;
    return module_.forward({image}).toTensor();
  }

private:
  torch::jit::Module module_;
};
