// Test code, and a program that only shows whether a model works: advice.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --check-suffix=L1 --level=1

#include "../Inputs/net.h"
#include <chrono>
#include <iostream>
#include <torch/script.h>

using torch::Tensor;

// As the frameworks write it.
#define TEST(suite, name)                                                      \
  struct suite##_##name##_Test {                                               \
    void TestBody();                                                           \
  };                                                                           \
  void suite##_##name##_Test::TestBody()
#define TEST_CASE(name) static void cAtChTeSt_1()
#define EXPECT_THROW(statement, type)                                          \
  try {                                                                        \
    statement;                                                                 \
    std::cerr << "no throw";                                                   \
  } catch (const type &) {                                                     \
  }

TEST(Net, Shape) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  auto y = net(torch::ones({2, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net' runs in a test case and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  std::cout << y.argmax();
}
TEST_CASE("a net in a lambda") {
  Net net;
  auto run = [&] { return net(torch::ones({2, 4})).argmax().item<int>(); };
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: inference without NoGradGuard: 'net' runs in a lambda and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: auto run = [&] { torch::NoGradGuard no_grad; return net(torch::ones({2, 4})).argmax().item<int>(); };
  std::cout << run();
}
void throws(Net net) { EXPECT_THROW(net(torch::ones({3})), c10::Error); }

// Modules that return no tensor, or have no parameters.
void no_tensor(torch::nn::AnyModule module, const Tensor &x) {
  std::cout << module.forward<int>(x) << module.forward<std::string>(x);
}
void sequence(torch::nn::Sequential layers, const Tensor &x) {
  std::cout << layers->forward<int>(x);
}
void function(const Tensor &x) {
  torch::nn::Functional scale([](const Tensor &t) { return t * 2; });
  std::cout << scale(x).argmax();
}
void pretrained(const Tensor &weight, const Tensor &ids) {
  auto words = torch::nn::Embedding::from_pretrained(weight);
  std::cout << words(ids).argmax();
}
void trainable(const Tensor &weight, const Tensor &ids) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  auto words = torch::nn::Embedding::from_pretrained(
      weight, torch::nn::EmbeddingFromPretrainedOptions().freeze(false));
  std::cout << words(ids).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'words' runs in 'trainable' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-MESSAGES-L1: :[[@LINE-2]]:16: warning: inference without NoGradGuard: 'words' runs in 'trainable' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

// A warm-up, a measurement. With one whose result is used, the guard is missing.
struct Warm {
  Warm() {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    net(torch::ones({2, 4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: inference without NoGradGuard: 'net' runs in 'Warm' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
  Net net;
};
long measured(const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  const auto begin = std::chrono::steady_clock::now();
  auto y = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net' runs in 'measured' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return (std::chrono::steady_clock::now() - begin).count();
}
long copied(torch::jit::Module &module, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  module.eval();
  const auto begin = std::chrono::steady_clock::now();
  auto y = module.forward({x}).toTensor().cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'module' runs in 'copied' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  y = y.squeeze();
  return (std::chrono::steady_clock::now() - begin).count();
}
// The number only waits for the device.
long waited(const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  const auto begin = std::chrono::steady_clock::now();
  net(x).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: inference without NoGradGuard: 'net' runs in 'waited' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return (std::chrono::steady_clock::now() - begin).count();
}
float warmed(const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  Net net;
  net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: inference without NoGradGuard: 'net' runs in 'warmed' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-MESSAGES-L1: :[[@LINE-2]]:3: warning: inference without NoGradGuard: 'net' runs in 'warmed' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return net(x).max().item<float>();
}
// Read under the names of its parts.
float parts(const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  torch::nn::GRU gru(4, 4);
  auto [output, hidden] = gru(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: inference without NoGradGuard: 'gru' runs in 'parts' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-MESSAGES-L1: :[[@LINE-2]]:27: warning: inference without NoGradGuard: 'gru' runs in 'parts' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return hidden.max().item<float>();
}

// What a loop runs over is read.
float in_a_loop(torch::jit::Module &module, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  module.eval();
  float sum = 0;
  for (const Tensor &y : module.forward({x}).toTensorVector())
    // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: inference without NoGradGuard: 'module' runs in 'in_a_loop' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-MESSAGES-L1: :[[@LINE-2]]:33: warning: inference without NoGradGuard: 'module' runs in 'in_a_loop' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    sum += y.max().item<float>();
  return sum;
}

int main() {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  auto y = net(torch::ones({2, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net' runs in 'main' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  std::cout << y.sizes() << y.size(0) << net(torch::ones({1, 4})).sizes();
  // Of what is computed of it, too.
  auto copied = net(torch::ones({2, 4})).cpu().squeeze();
  copied = copied.flatten();
  std::cout << copied.sizes() << copied.dtype() << copied.device();
  // What it was before is not the result.
  auto x = torch::ones({2, 4}).contiguous();
  x = net(x);
  std::cout << x.sizes();
}
#undef TEST_CASE
#define TEST_CASE(name) static void cAtChTeSt_2()
TEST_CASE("a net by itself") {
  Net net;
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << net(torch::ones({2, 4})).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in a test case and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
