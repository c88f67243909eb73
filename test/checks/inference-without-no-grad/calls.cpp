// Every way to run a module whose result nobody back-propagates.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <algorithm>
#include <iostream>
#include <numeric>
#include <torch/script.h>

using torch::Tensor;

int arrow(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  net->eval();
  Tensor out = net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: inference without NoGradGuard: 'net' runs in 'arrow' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return out.argmax(1).item<int>();
}
void holder(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << net(x).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in 'holder' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void sequential(torch::nn::Sequential layers, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << layers->forward(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: inference without NoGradGuard: 'layers' runs in 'sequential' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void any(torch::nn::AnyModule &module, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << module.forward<Tensor>(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: inference without NoGradGuard: 'module' runs in 'any' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void plain_object(NetImpl &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << net.forward(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: inference without NoGradGuard: 'net' runs in 'plain_object' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void dereferenced(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << (*net).forward(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: inference without NoGradGuard: 'net' runs in 'dereferenced' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void shared(std::shared_ptr<NetImpl> net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << net->forward(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: inference without NoGradGuard: 'net' runs in 'shared' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void holder_behind_pointer(Net *net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << (*net)->forward(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: inference without NoGradGuard: 'net' runs in 'holder_behind_pointer' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void got_from_holder(std::unique_ptr<Net> net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << net->get()->forward(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: inference without NoGradGuard: 'net' runs in 'got_from_holder' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void library_layer(torch::nn::Conv2d conv, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << conv(x).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'conv' runs in 'library_layer' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
int script(torch::jit::Module &module, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto out = module.forward({x}).toTensor();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: inference without NoGradGuard: 'module' runs in 'script' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return out.argmax(1).item<int>();
}
void script_method(torch::jit::script::Module &module, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << module.get_method("encode")({x}).toTensor().argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'module' runs in 'script_method' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
struct Predictor {
  int operator()(const Tensor &x) { return net(x).argmax().item<int>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:44: warning: inference without NoGradGuard: 'net' runs in 'Predictor' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: int operator()(const Tensor &x) { torch::NoGradGuard no_grad; return net(x).argmax().item<int>(); }
  Net net;
};

// The result is dropped, detached, or only its number is read.
void dropped(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: inference without NoGradGuard: 'net' runs in 'dropped' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
Tensor detached(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return net(x).detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'detached' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
double number(Net net, const Tensor &x, const Tensor &y) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto out = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'number' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  auto loss = torch::mse_loss(out, y);
  return loss.item<double>();
}

// Methods that are not called forward, and helpers that return the result.
struct CoderImpl : torch::nn::Module {
  CoderImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  Tensor encode(const Tensor &x) { return fc(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Coder);
void other_names(Coder coder, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << coder->encode(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: inference without NoGradGuard: 'coder' runs in 'other_names' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
static Tensor run(Net net, const Tensor &x) { return net(x); }
void by_helper(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << run(net, x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'run' runs a module in 'by_helper' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
auto in_lambda = [](Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << net(x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in a lambda and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
};

// What algorithms run, and where its results go.
float captured(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  std::for_each(batches.begin(), batches.end(), [&](const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    total += net(x).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in a lambda and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  });
  return total.item<float>();
}
float transformed(Net net, const Batches &batches) {
  std::vector<Tensor> outputs;
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::transform(batches.begin(), batches.end(), std::back_inserter(outputs),
                 [&](const auto &x) { return net(x); });
  // CHECK-MESSAGES: :[[@LINE-2]]:3: warning: inference without NoGradGuard: 'transform' runs a module in 'transformed' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return torch::cat(outputs).sum().item<float>();
}
float generated(Net net) {
  std::vector<Tensor> outputs(8);
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::generate(outputs.begin(), outputs.end(),
                [&] { return net(torch::rand({4, 16})); });
  // CHECK-MESSAGES: :[[@LINE-2]]:3: warning: inference without NoGradGuard: 'generate' runs a module in 'generated' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return torch::cat(outputs).sum().item<float>();
}
float folded(Net net, const Batches &batches) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return std::accumulate(batches.begin(), batches.end(), torch::zeros({}),
                         [&](Tensor sum, const Tensor &x) {
                           return sum + net(x).mean();
                         })
      // CHECK-MESSAGES: :[[@LINE-4]]:10: warning: inference without NoGradGuard: 'accumulate' runs a module in 'folded' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      .item<float>();
}
