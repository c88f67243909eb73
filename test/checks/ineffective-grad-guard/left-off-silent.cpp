// Gradient mode that comes back, or that nobody misses.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=2 -- -- -I%S/../Inputs
#include "net.h"
#include <thread>

using torch::GradMode;
using torch::Tensor;

void train(Net net, torch::optim::Optimizer &optimizer, const Tensor &x) {
  optimizer.zero_grad();
  Tensor loss = net(x).sum();
  loss.backward();
  optimizer.step();
}

void switched_back(Net net, const Tensor &x) {
  GradMode::set_enabled(false);
  std::cout << net(x);
  GradMode::set_enabled(true);
}

float saved(Net net, const Tensor &x) {
  const bool before = GradMode::is_enabled();
  GradMode::set_enabled(false);
  float sum = net(x).sum().item<float>();
  GradMode::set_enabled(before);
  return sum;
}

float below_guard(Net net, const Tensor &x) {
  torch::NoGradGuard guard;
  GradMode::set_enabled(false);
  return net(x).sum().item<float>();
}

// Objects that switch it for others.
struct Off {
  Off() : before(GradMode::is_enabled()) { GradMode::set_enabled(false); }
  ~Off() { GradMode::set_enabled(before); }
  bool before;
};
float scoped(Net net, const Tensor &x) {
  Off off;
  return net(x).sum().item<float>();
}
struct Predictor {
  explicit Predictor(Net net) : net(net) {
    GradMode::set_enabled(false);
    for (Tensor &parameter : net->parameters())
      parameter.zero_();
  }
  float operator()(const Tensor &x) { return net(x).sum().item<float>(); }
  Net net;
};

// The caller switches it on again.
void leaves(Net net, const Tensor &x) {
  GradMode::set_enabled(false);
  std::cout << net(x);
}
void calls_leaves(Net net, const Tensor &x) {
  leaves(net, x);
  GradMode::set_enabled(true);
}

// A thread of its own.
void serve(Net net, Tensor x) {
  GradMode::set_enabled(false);
  std::cout << net(x);
}
void starts(Net net, const Tensor &x) {
  std::thread thread(serve, net, x);
  std::thread lambda([&] {
    GradMode::set_enabled(false);
    std::cout << net(x);
  });
  thread.join();
  lambda.join();
}

// Saved for who comes later.
class Evaluation {
public:
  void begin(Net net) {
    before_ = GradMode::is_enabled();
    GradMode::set_enabled(false);
    for (Tensor &parameter : net->parameters())
      parameter.zero_();
  }
  void end() { GradMode::set_enabled(before_); }

private:
  bool before_ = true;
};

#define TEST(Suite, Name) void Suite##_##Name()
TEST(Mode, Off) {
  Net net;
  GradMode::set_enabled(false);
  std::cout << net(torch::ones({8, 4}));
}

// The last that a program does, and what lasts on purpose.
void deploys(Net net) {
  std::cout << net(torch::ones({8, 4}));
  GradMode::set_enabled(false);
}
int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  train(net, optimizer, torch::ones({8, 4}));
  GradMode::set_enabled(false);
  std::cout << net(torch::ones({8, 4}));
  leaves(net, torch::ones({8, 4}));
}
