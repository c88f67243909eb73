// What a method of the class has left off is off in the others, when it ran before them.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"

using torch::Tensor;

// A caller in another file, or a template that this one does not use, calls both.
struct Runner {
  template <typename Loader> void epoch(Loader &loader) {
    start();
    for (auto &batch : loader)
      step(batch);
  }
  virtual ~Runner() = default;
  virtual void start();
  virtual void step(const Tensor &x);
  Net net;
  float loss = 0;
};
void Runner::start() {
  net->eval();
  torch::autograd::GradMode::set_enabled(false);
}
void Runner::step(const Tensor &x) { loss = net(x).mean().item<float>(); }
struct Validator : Runner {
  void step(const Tensor &x) override { loss = net(x * 2).sum().item<float>(); }
};
struct Served {
  explicit Served(Net n) : net(n) { c10::GradMode::set_enabled(false); }
  int answer(const Tensor &x) { return net(x).argmax().item<int>(); }
  Net net;
};

// Switched on again; switched off by calls in sight, after the pass; of another class.
struct Back {
  void start() {
    torch::autograd::GradMode::set_enabled(false);
    net(torch::ones({1, 4}));
    torch::autograd::GradMode::set_enabled(true);
  }
  float step(const Tensor &x) { return net(x).mean().item<float>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: inference without NoGradGuard: 'net' runs in 'step'
  // CHECK-FIXES: float step(const Tensor &x) { torch::NoGradGuard no_grad; return net(x).mean().item<float>(); }
  Net net;
};
struct Late {
  void stop() { torch::autograd::GradMode::set_enabled(false); }
  float step(const Tensor &x) { return net(x).mean().item<float>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: inference without NoGradGuard: 'net' runs in 'step'
  // CHECK-FIXES: float step(const Tensor &x) { torch::NoGradGuard no_grad; return net(x).mean().item<float>(); }
  Net net;
};
float last(Late &late, const Tensor &x) {
  float loss = late.step(x);
  late.stop();
  return loss;
}
struct Other {
  float step(const Tensor &x) { return net(x).mean().item<float>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: inference without NoGradGuard: 'net' runs in 'step'
  // CHECK-FIXES: float step(const Tensor &x) { torch::NoGradGuard no_grad; return net(x).mean().item<float>(); }
  Net net;
};
