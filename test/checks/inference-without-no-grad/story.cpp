// RUN: %clang-tidy -load %plugin --checks=-*,libtorch-inference-without-no-grad %s -- %torch_flags 2>&1 | %FileCheck %s -implicit-check-not='{{warning|error|note}}:'

// A story of many steps keeps its beginning and its end.

#include <iostream>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
};
TORCH_MODULE(Net);

static void eight(Net net, torch::Tensor x) {
  std::cout << net(x) << net(x);
  std::cout << net(x) << net(x);
  std::cout << net(x) << net(x);
  std::cout << net(x) << net(x);
}

static void ten(Net net, torch::Tensor x) {
  std::cout << net(x) << net(x);
  std::cout << net(x) << net(x);
  std::cout << net(x) << net(x);
  std::cout << net(x) << net(x);
  std::cout << net(x) << net(x);
}

// CHECK: :16:16: warning: inference without NoGradGuard: 'net' runs in
// CHECK: :16:26: note: 'net' runs
// CHECK: :17:16: note: 'net' runs
// CHECK: :17:26: note: 'net' runs
// CHECK: :18:16: note: 'net' runs
// CHECK: :18:26: note: 'net' runs
// CHECK: :19:16: note: 'net' runs
// CHECK: :19:26: note: 'net' runs
// CHECK: :23:16: warning: inference without NoGradGuard: 'net' runs in
// CHECK: :23:26: note: 'net' runs
// CHECK: :24:16: note: 'net' runs
// CHECK: :24:26: note: 'net' runs
// CHECK: :25:16: note: 'net' runs
// CHECK: :25:26: note: (2 steps like these are left out)
// CHECK: :26:26: note: 'net' runs
// CHECK: :27:16: note: 'net' runs
// CHECK: :27:26: note: 'net' runs
