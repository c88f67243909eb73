// A virtual call runs what overrides the method: all of that counts, where it is in
// sight. Calls through pointers and function objects count as those of what they hold.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t -- -- -I%S/../Inputs
#include "net.h"
#include <functional>
#include <iostream>
#include <memory>

struct Policy {
  virtual ~Policy() = default;
  virtual torch::Tensor next(torch::Tensor scores) = 0;
};
struct Greedy : Policy {
  torch::Tensor next(torch::Tensor scores) override { return scores.argmax(1); }
};
struct Sampled : Policy {
  torch::Tensor next(torch::Tensor scores) override {
    return scores.softmax(1).multinomial(1);
  }
};

struct Agent {
  Net net;
  Policy &policy;
  torch::Tensor act(const torch::Tensor &state) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    torch::Tensor scores = net(state);
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: inference without NoGradGuard: 'net' runs in 'act' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    return policy.next(scores);
  }
};

// What is made here is known, as long as nobody changes it.
struct Runner {
  virtual ~Runner() = default;
  virtual torch::Tensor go(torch::Tensor x) { return x; }
};
struct Guarded : Runner {
  Net net;
  torch::Tensor go(torch::Tensor x) override {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    torch::NoGradGuard no_grad;
    return net(x);
  }
};
struct Bare : Runner {
  Net net;
  torch::Tensor go(torch::Tensor x) override { return net(x); }
};
int64_t made(torch::Tensor x) {
  std::unique_ptr<Runner> runner = std::make_unique<Guarded>();
  std::shared_ptr<Runner> shared(new Guarded);
  Guarded guarded;
  Runner &named = guarded;
  return runner->go(x).argmax().item<int64_t>() + shared->go(x).argmax().item<int64_t>() +
         named.go(x).argmax().item<int64_t>();
}
int64_t set_anew(torch::Tensor x, bool bare) {
  std::unique_ptr<Runner> runner = std::make_unique<Guarded>();
  if (bare)
    runner.reset(new Bare);
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return runner->go(x).argmax().item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'go' runs a module in 'set_anew' and
}
int64_t bare(torch::Tensor x) {
  std::unique_ptr<Runner> runner = std::make_unique<Bare>();
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return runner->go(x).argmax().item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'go' runs a module in 'bare' and
}

// One of them back-propagates.
struct Sink {
  virtual ~Sink() = default;
  virtual void take(torch::Tensor t) = 0;
};
struct Prints : Sink {
  void take(torch::Tensor t) override { std::cout << t.item<float>(); }
};
struct Trains : Sink {
  void take(torch::Tensor t) override { t.backward(); }
};
void give(Net net, Sink &sink, const torch::Tensor &x) { sink.take(net(x)); }
void named(Net net, Trains &sink, const torch::Tensor &x) {
  sink.take(x);
  Prints prints;
  prints.take(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: inference without NoGradGuard: 'net' runs in 'named' and
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-NEXT: prints.take(net(x));
}

// The pass is in an override, the guard in a caller of the base.
struct Model {
  virtual ~Model() = default;
  virtual float score(const torch::Tensor &x) = 0;
};
struct Small : Model {
  Net net;
  float score(const torch::Tensor &x) override { return net(x).sum().item<float>(); }
};
float guarded(Model &model, const torch::Tensor &x) {
  torch::NoGradGuard off;
  return model.score(x);
}

// A pointer to a function, and what else holds one.
static torch::Tensor helper(Net net, const torch::Tensor &x) { return net(x); }
void pointer(Net net, const torch::Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto *run = helper;
  std::cout << run(net, x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'run' runs a module in 'pointer' and
}
void object(Net net, const torch::Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::function<torch::Tensor(Net, const torch::Tensor &)> run = helper;
  std::cout << run(net, x).argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'run' runs a module in 'object' and
}
void either(Net net, const torch::Tensor &x, bool trains,
            torch::Tensor (*other)(Net, const torch::Tensor &)) {
  auto *run = helper;
  if (trains)
    run = other;
  std::cout << run(net, x).argmax();
}
