// One missing guard is one finding: where one guard covers all, with the other
// calls as notes. A call that gives no tensor to its caller is not one.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <chrono>
#include <functional>
#include <iostream>
#include <thread>

using torch::Tensor;

enum class Digit { Zero, One };
struct Score {
  int label;
  float value;
};
void unseen_setup(Net &net);

// What a classifier keeps for itself is reported where it runs its module, and not
// at each call of it, up to main().
class Classifier {
public:
  std::string name(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    last_ = net_(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: inference without NoGradGuard: 'net_' runs in 'name' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    return std::to_string(last_.argmax().item<int>());
  }
  Digit digit(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    last_ = net_(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: inference without NoGradGuard: 'net_' runs in 'digit' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    return Digit(last_.argmax().item<int>());
  }
  Score score(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    last_ = net_(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: inference without NoGradGuard: 'net_' runs in 'score' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    return {last_.argmax().item<int>(), last_.max().item<float>()};
  }
  void update(const Tensor &x) { last_ = net_(x); }
  // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: inference without NoGradGuard: 'net_' runs in 'update' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: void update(const Tensor &x) { torch::NoGradGuard no_grad; last_ = net_(x); }

private:
  Net net_;
  Tensor last_;
};
static std::string classify(Classifier &c, const Tensor &x) {
  return c.name(x);
}
static void report(Classifier &c, const Tensor &x) {
  std::cout << classify(c, x) << int(c.digit(x)) << c.score(x).value;
  c.update(x);
}
int shown(const Tensor &x) {
  Classifier c;
  report(c, x);
  return c.score(x).label;
}

// An object that hands its tensor out: what callers do with it decides, and a
// call of void carries nothing.
class Cached {
public:
  void run(const Tensor &x) { out_ = net_(x); }
  const Tensor &out() const { return out_; }

private:
  Net net_;
  Tensor out_;
};
void cached(Cached &c, const Tensor &x) { c.run(x); }

// A tensor comes back through a parameter.
static void fill(Net &net, const Tensor &x, Tensor &out) { out = net(x); }
int filled(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Tensor out;
  fill(net, x, out);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: inference without NoGradGuard: 'fill' runs a module in 'filled' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return out.argmax().item<int>();
}

// Attempts next to each other, and a call between them that cannot be seen.
void attempts(Net net, const Tensor &x) {
  try {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    std::cout << net(x).argmax();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'attempts' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  } catch (const std::exception &e) {
    std::cerr << e.what();
  }
  unseen_setup(net);
  try {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    std::cout << net(x).argmin();
  } catch (const std::exception &e) {
    std::cerr << e.what();
  }
}

// The lambdas of a benchmark.
template <typename F> static double seconds(F run) {
  auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}
void benchmark(Net small, Net large, const Tensor &x) {
  auto warm_up = [&] { small(x); };
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: inference without NoGradGuard: 'small' runs in a lambda and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: auto warm_up = [&] { torch::NoGradGuard no_grad; small(x); };
  warm_up();
  std::cout << seconds(warm_up);
  std::cout << seconds([&] { large(x); });
  // CHECK-FIXES: std::cout << seconds([&] { torch::NoGradGuard no_grad; large(x); });
}

// Training between them: two guards.
void trained(Net net, const Tensor &x, torch::optim::Optimizer &opt) {
  {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    std::cout << net(x).argmax();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'trained' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
  net(x).sum().backward();
  opt.step();
  {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    std::cout << net(x).argmax();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'trained' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
}

// Handlers that somebody else runs, perhaps in threads of their own.
void unseen_handler(std::function<int(const Tensor &)> handler);
void serve(Net net) {
  unseen_handler([&](const Tensor &x) { return net(x).argmax().item<int>(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: inference without NoGradGuard: 'net' runs in a lambda and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  unseen_handler([&](const Tensor &x) { return net(x).argmin().item<int>(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: inference without NoGradGuard: 'net' runs in a lambda and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: unseen_handler([&](const Tensor &x) { torch::NoGradGuard no_grad; return net(x).argmax().item<int>(); });
  // CHECK-FIXES: unseen_handler([&](const Tensor &x) { torch::NoGradGuard no_grad; return net(x).argmin().item<int>(); });
}

// What comes before may need gradients: a guard from the first pass on covers
// the loop below it.
Tensor decode(Net net, Tensor &in, int rounds) {
  in = unseen_metric(in);
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  const Tensor memory = net(in);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: inference without NoGradGuard: 'net' runs in 'decode' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  Tensor said = torch::ones({1});
  for (int i = 0; i < rounds; ++i)
    said = torch::cat({said, net(memory * said[-1]).argmax().reshape({1})});
  return said;
}
