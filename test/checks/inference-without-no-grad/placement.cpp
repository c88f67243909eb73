// Where the guard goes: a block that trains nothing, as far out as can be.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

// A validation loop inside a training function.
void train(Net net, const Batches &data, const Batches &valid,
           torch::optim::Optimizer &opt) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    net->train();
    for (const Tensor &x : data) {
      opt.zero_grad();
      auto loss = net(x).sum();
      loss.backward();
      opt.step();
    }
    net->eval();
    int64_t correct = 0;
    for (const Tensor &x : valid) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
      auto out = net(x);
      // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'train' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      correct += out.argmax(1).sum().item<int64_t>();
    }
    std::cout << correct;
  }
}

// No block of its own: the guard begins below what trains.
void preview(Net net, const Batches &data, torch::optim::Optimizer &opt) {
  for (const Tensor &x : data) {
    auto loss = net(x).sum();
    loss.backward();
    opt.step();
    auto sample = net(data[0]);
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    // CHECK-FIXES-NEXT: auto sample = net(data[0]);
    // CHECK-MESSAGES: :[[@LINE-3]]:19: warning: inference without NoGradGuard: 'net' runs in 'preview' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    std::cout << sample.argmax();
  }
}

// One guard covers both, so there is one report.
void both(Net encoder, Net decoder, const Batches &data) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << data.size();
  for (const Tensor &x : data) {
    auto code = encoder(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: inference without NoGradGuard: 'encoder' runs in 'both' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    auto out = decoder(code);
    std::cout << out.argmax();
  }
}

// The name is taken.
void taken(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad2;
  bool no_grad = true;
  if (no_grad)
    std::cout << net(x).argmax();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'taken' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

// Two blocks, two guards.
void branches(Net net, const Tensor &x, bool training) {
  if (training) {
    net(x).sum().backward();
  } else {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
    std::cout << net(x).argmax();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'branches' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
  {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
    std::cout << net(x).argmin();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'branches' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
}

// A block in one line, and none at all.
void one_line(Net net, const Tensor &x) { std::cout << net(x).argmax(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:56: warning: inference without NoGradGuard: 'net' runs in 'one_line' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: void one_line(Net net, const Tensor &x) { torch::NoGradGuard no_grad; std::cout << net(x).argmax(); }
struct Holder {
  Holder(Net net, const Tensor &x) : best(net(x).argmax()) {}
  // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: inference without NoGradGuard: 'net' runs in 'Holder' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  Tensor best;
};

// Inside a macro nothing is edited.
#define RUN(net, x) std::cout << (net)(x).argmax()
#define BLOCK(body)                                                            \
  {                                                                            \
    body                                                                       \
  }
void macro(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  RUN(net, x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: inference without NoGradGuard: 'net' runs in 'macro' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void macro_block(Net net, const Tensor &x) BLOCK(std::cout << net(x).argmax();)
  // CHECK-MESSAGES: :[[@LINE-1]]:63: warning: inference without NoGradGuard: 'net' runs in 'macro_block' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]

// A comment after the brace stays there.
void commented(Net net, const Tensor &x) { // Prints the best.
  // CHECK-FIXES: void commented(Net net, const Tensor &x) { // Prints the best.
  // CHECK-FIXES-NEXT: torch::NoGradGuard no_grad;
  std::cout << net(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in 'commented' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

// A template is reported once.
template <typename Model> void predict(Model model, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model->forward(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: inference without NoGradGuard: 'model' runs in 'predict' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void use(Net a, torch::nn::Linear b, const Tensor &x) {
  predict(a, x);
  predict(b, x);
}

void suppressed(Net net, const Tensor &x) {
  std::cout << net(x).argmax(); // NOLINT(libtorch-inference-without-no-grad)
}
