// Gradients that are off by what a constructor did, by a guard in a list or an
// optional, or because whoever runs a lambda is guarded.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <algorithm>
#include <future>
#include <iostream>
#include <optional>
#include <torch/script.h>

using torch::Tensor;

class Server {
public:
  Server() { at::GradMode::set_enabled(false); }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }

private:
  Net net_;
};
class ByHelper {
public:
  ByHelper() { prepare(); }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }

private:
  static void prepare() { at::GradMode::set_enabled(false); }
  Net net_;
};
class OnAgain {
public:
  OnAgain() {
    at::GradMode::set_enabled(false);
    at::GradMode::set_enabled(true);
  }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: inference without NoGradGuard: 'net_' runs in 'run' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: int run(const Tensor &x) { torch::NoGradGuard no_grad; return net_(x).argmax().item<int>(); }

private:
  Net net_;
};

// Parameters that the constructor freezes.
class Frozen {
public:
  Frozen() {
    for (auto &p : net_->parameters())
      p.set_requires_grad(false);
  }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }

private:
  Net net_;
};
static void freeze_all(torch::nn::Module &module) {
  for (auto &p : module.parameters())
    p.requires_grad_(false);
}
class FrozenByHelper {
public:
  FrozenByHelper() { freeze_all(*net_); }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }

private:
  Net net_;
};
class FrozenByMethod {
public:
  FrozenByMethod() { lock(); }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }

private:
  void lock() {
    for (auto &p : net_->parameters())
      p.set_requires_grad(false);
  }
  Net net_;
};
class Optimized {
public:
  explicit Optimized(const std::string &path) {
    auto loaded = torch::jit::load(path);
    loaded.eval();
    module_ = torch::jit::optimize_for_inference(loaded);
  }
  int run(const Tensor &x) {
    return module_.forward({x}).toTensor().argmax().item<int>();
  }

private:
  torch::jit::Module module_;
};
int frozen_here(Net net, const Tensor &x) {
  freeze_all(*net);
  return net(x).argmax().item<int>();
}

// Frozen by one of two constructors, or until somebody lets it train.
class Sometimes {
public:
  Sometimes() {}
  explicit Sometimes(bool) { freeze_all(*net_); }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: inference without NoGradGuard: 'net_' runs in 'run' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: int run(const Tensor &x) { torch::NoGradGuard no_grad; return net_(x).argmax().item<int>(); }

private:
  Net net_;
};
class Thawed {
public:
  Thawed() { freeze_all(*net_); }
  void thaw() {
    for (auto &p : net_->parameters())
      p.set_requires_grad(true);
  }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: inference without NoGradGuard: 'net_' runs in 'run' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: int run(const Tensor &x) { torch::NoGradGuard no_grad; return net_(x).argmax().item<int>(); }

private:
  Net net_;
};
// What optimize_for_inference returns is dropped.
int dropped(torch::jit::Module &module, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  torch::jit::optimize_for_inference(module);
  return module.forward({x}).toTensor().argmax().item<int>();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: inference without NoGradGuard: 'module' runs in 'dropped' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

// Guards in a list, an optional, a member.
int listed(Net net, const Tensor &x) {
  std::vector<std::unique_ptr<torch::NoGradGuard>> guards;
  guards.push_back(std::make_unique<torch::NoGradGuard>());
  return net(x).argmax().item<int>();
}
int filled_later(Net net, const Tensor &x) {
  std::optional<torch::NoGradGuard> guard;
  guard.emplace();
  return net(x).argmax().item<int>();
}
class Guarded {
public:
  Guarded() { guard_.emplace(); }
  int run(const Tensor &x) { return net_(x).argmax().item<int>(); }

private:
  std::optional<torch::NoGradGuard> guard_;
  Net net_;
};
int gone(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  {
    std::vector<std::unique_ptr<torch::NoGradGuard>> guards;
    guards.push_back(std::make_unique<torch::NoGradGuard>());
  }
  return net(x).argmax().item<int>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'gone' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

// Lambdas that run here and now, or in the thread that waits.
void each(Net net, const Batches &data) {
  torch::NoGradGuard no_grad;
  std::for_each(data.begin(), data.end(),
                [&](const Tensor &x) { std::cout << net(x).argmax(); });
  auto deferred = std::async(std::launch::deferred,
                             [&] { return net(data[0]).argmax(); });
  std::cout << deferred.get();
}
template <typename F> static void twice(F run) {
  run();
  run();
}
void given(Net net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  auto once = [&] { std::cout << net(x).argmax(); };
  twice(once);
}
// In another thread, or kept for later.
void elsewhere(Net net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  auto result =
      std::async(std::launch::async, [&] { return net(x).argmax().item(); });
      // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: inference without NoGradGuard: 'net' runs in a lambda and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      // CHECK-FIXES: std::async(std::launch::async, [&] { torch::NoGradGuard no_grad; return net(x).argmax().item(); });
  std::cout << result.get().toInt();
}
