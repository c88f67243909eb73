// One missing guard is one finding: what a member keeps of an unguarded forward pass is
// told there, where that is reported as strongly, and here where it is not.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate,libtorch-inference-without-no-grad %t

#include <torch/script.h>

class Predictor {
public:
  explicit Predictor(const std::string &File) : net_(torch::jit::load(File)) {}
  void predict(const torch::Tensor &x) {
    // CHECK-FIXES: void predict(const torch::Tensor &x) {
    // CHECK-FIXES-NEXT: torch::NoGradGuard no_grad;
    scores_ = torch::softmax(net_.forward({x}).toTensor(), 1);
    // CHECK-NOTES: :[[@LINE-1]]:35: warning: 'net_' runs with gradient mode on in 'predict', but nothing back-propagates the result; its activations are kept as long as the result lives [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-2]]:35: note: 'net_' runs with gradient mode on here, so its result carries autograd history
  }
  float best() const { return scores_.max().item<float>(); }

private:
  torch::jit::Module net_;
  torch::Tensor scores_;
};
