// A class that is used like a module: who calls its forward() decides on gradient
// mode, as for a module. Functions with other names, and callers in the file, show
// what they are for.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=1

#include <torch/script.h>

using torch::Tensor;

class ReId {
public:
  explicit ReId(const std::string &path) : model_(torch::jit::load(path)) {
    model_.eval();
  }
  Tensor forward(const Tensor &x) { return model_.forward({x}).toTensor(); }
  Tensor operator()(const Tensor &x) { return forward(x); }

  // No tensor goes in.
  Tensor forward(const std::vector<float> &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return model_.forward({torch::tensor(x)}).toTensor();
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'model_' runs in 'forward' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-10]]:12: note: 'model_' is put in evaluation mode here, which leaves gradients on
  }
  // None comes out.
  float forward(const Tensor &x, int i) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return model_.forward({x}).toTensor()[i].item<float>();
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'model_' runs in 'forward' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
  // Not a way to run a module.
  Tensor embed(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return model_.forward({x}).toTensor();
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'model_' runs in 'embed' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-23]]:12: note: 'model_' is put in evaluation mode here, which leaves gradients on
  }

private:
  torch::jit::Module model_;
};

// A caller that hands the result on says no more than the class does; one that is
// no stand-in itself shows how the class is used.
class Used {
public:
  explicit Used(const std::string &path) : model_(torch::jit::load(path)) {
    model_.eval();
  }
  Tensor forward(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return model_.forward({x}).toTensor();
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'model_' runs in 'forward' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-6]]:12: note: 'model_' is put in evaluation mode here, which leaves gradients on
  }

private:
  torch::jit::Module model_;
};

int best(Used &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return net.forward(x).argmax(1).item<int>();
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'best' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
