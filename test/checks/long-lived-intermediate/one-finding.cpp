// One missing guard is one finding: what a member keeps of an unguarded forward pass is
// told there, where that is reported as strongly, and here where it is not.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate,libtorch-inference-without-no-grad %t --level=2

#include <torch/script.h>

class Predictor {
public:
  explicit Predictor(const std::string &File) : net_(torch::jit::load(File)) {}
  void predict(const torch::Tensor &x) {
    // CHECK-FIXES: void predict(const torch::Tensor &x) {
    // CHECK-FIXES-NEXT: torch::NoGradGuard no_grad;
    scores_ = torch::softmax(net_.forward({x}).toTensor(), 1);
    // CHECK-NOTES: :[[@LINE-1]]:35: warning: inference without NoGradGuard: 'net_' runs in 'predict' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-2]]:13: note: 'scores_' keeps the result and its graph from here on
  }
  float best() const { return scores_.max().item<float>(); }

private:
  torch::jit::Module net_;
  torch::Tensor scores_;
};

void measure(torch::jit::Module &net, const torch::Tensor &x) {
  // CHECK-FIXES: void measure(torch::jit::Module &net, const torch::Tensor &x) {
  // CHECK-FIXES-NEXT: torch::NoGradGuard no_grad;
  c10::IValue output;
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: wasted peak memory: 'output' is declared outside the loop that makes it, so the tensor stays alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  // CHECK-NOTES: :[[@LINE+2]]:5: note: each iteration assigns 'output' here before it reads it
  for (int i = 0; i < 10; ++i) {
    output = net.forward({x});
    // CHECK-NOTES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'measure' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-FIXES: c10::IValue output = net.forward({x});
    if (output.toTensor().argmax().item<int64_t>() == 0)
      break;
  }
}
