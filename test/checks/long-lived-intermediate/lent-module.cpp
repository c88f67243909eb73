// What keeps the graph of a pass without a guard is no stronger than the finding that
// asks for the guard: both are advice where the module is lent.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate,libtorch-inference-without-no-grad %t --level=1 --expect-none
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate,libtorch-inference-without-no-grad %t --level=2

#include "../Inputs/net.h"

using torch::Tensor;

float best(Net net, const Batches &data) {
  // CHECK-FIXES: float best(Net net, const Batches &data) {
  // CHECK-FIXES-NEXT: torch::NoGradGuard no_grad;
  float most = 0;
  Tensor scores;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'scores' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    scores = net(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'best' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-FIXES: Tensor scores = net(x);
    most = std::max(most, scores.max().item<float>());
  }
  return most;
}

// Whoever calls a method that hands history on decides whether there is a graph.
struct PriorImpl : torch::nn::Module {
  torch::nn::Linear out{nullptr};
  PriorImpl() { out = register_module("out", torch::nn::Linear(64, 10)); }

  Tensor sample(Net net, int64_t n) {
    Tensor drawn = torch::zeros({1, 64});
    Tensor logits;
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted peak memory: 'logits' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
    for (int64_t i = 0; i < n; i++) {
      logits = net(drawn);
      // CHECK-FIXES: Tensor logits = net(drawn);
      drawn.select(1, i).copy_(torch::softmax(logits, 1).multinomial(1).squeeze());
    }
    return out(drawn);
  }
};
