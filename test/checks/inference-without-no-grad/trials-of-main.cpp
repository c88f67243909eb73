// Functions that are given no data and read nothing but shapes try something out: advice,
// and one finding for all that main calls.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t-L1 --check-suffix=L1 --level=1

#include <iostream>
#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  Tensor forward(const Tensor &x) { return layer(x); }
  torch::nn::Linear layer{register_module("layer", torch::nn::Linear(4, 2))};
};
TORCH_MODULE(Net);

void test_one() {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  auto y = net(torch::randn({1, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net' runs in 'test_one' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-MESSAGES: :[[@LINE+6]]:12: note: 'layer' runs with gradient mode on here
  std::cout << y.sizes() << "\n";
}
void test_two() {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  torch::nn::Linear layer(4, 2);
  auto y = layer(torch::randn({1, 4}));
  if (y.size(0) != 1)
    std::cerr << "wrong size";
}

// Nobody calls it.
void test_three() {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  std::cout << net(torch::randn({1, 4})).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in 'test_three'
}

// Its numbers are for somebody.
void scores() {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  Net net;
  std::cout << net(torch::ones({1, 4})).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in 'scores'
  // CHECK-MESSAGES-L1: :[[@LINE-2]]:16: warning: inference without NoGradGuard: 'net' runs in 'scores'
}
// It is given data.
void sizes(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  std::cout << net(x).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in 'sizes'
  // CHECK-MESSAGES-L1: :[[@LINE-2]]:16: warning: inference without NoGradGuard: 'net' runs in 'sizes'
}

int main() {
  test_one();
  test_two();
  scores();
  sizes(Net(), torch::ones({1, 4}));
}
