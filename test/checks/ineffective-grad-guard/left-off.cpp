// GradMode::set_enabled(false) with no way back.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t -- -- -I%S/../Inputs
#include "net.h"

using torch::GradMode;
using torch::Tensor;

// Training goes on with the mode that this leaves.
void copy_weights(torch::nn::Module &from, torch::nn::Module &to) {
  torch::autograd::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients left off: nothing switches gradient mode on again, and what trains afterwards records no autograd graph; a NoGradGuard ends with its block [libtorch-ineffective-grad-guard]
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
  auto weights = from.named_parameters();
  for (auto &parameter : to.named_parameters())
    parameter.value().copy_(weights[parameter.key()]);
}

void trains(Net net, Net target, const Batches &batches) {
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (const Tensor &x : batches) {
    optimizer.zero_grad();
    Tensor loss = net(x).sum();
    loss.backward();
    optimizer.step();
    copy_weights(*net, *target);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: note: gradient mode is off after this
    // CHECK-MESSAGES: :[[@LINE-5]]:19: note: training runs with gradient mode off here
  }
}

// What is restored on one way is left on another.
float returns_early(Net net, const Tensor &x) {
  GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients left off: 'returns_early' returns with gradient mode off, for all that its thread runs afterwards, training too; a NoGradGuard ends with its block
  Tensor y = net(x);
  if (y.numel() == 0)
    return 0;
  float sum = y.sum().item<float>();
  GradMode::set_enabled(true);
  return sum;
}

float saved(Net net, const Tensor &x) {
  const bool before = GradMode::is_enabled();
  GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients left off: 'saved' returns
  Tensor y = net(x);
  if (y.numel() == 0)
    return 0;
  GradMode::set_enabled(before);
  return y.sum().item<float>();
}

// The guard brings back what it found.
void guard_below(Net net) {
  GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients left off: 'guard_below' returns
  torch::NoGradGuard guard;
  for (Tensor &parameter : net->parameters())
    parameter.zero_();
  GradMode::set_enabled(true);
}

class Trainer {
public:
  void step(const Tensor &x) {
    optimizer_.zero_grad();
    Tensor loss = net_(x).sum();
    loss.backward();
    optimizer_.step();
  }
  float validate(const Tensor &x) {
    net_->eval();
    GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients left off: 'validate' returns
    // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
    float sum = net_(x).sum().item<float>();
    net_->train();
    return sum;
  }
  float validate_if(const Tensor &x, bool all) {
    if (all) {
      GradMode::set_enabled(false);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients left off: 'validate_if' returns
      return net_(x).sum().item<float>();
    }
    return 0;
  }

private:
  Net net_;
  torch::optim::SGD optimizer_{net_->parameters(), 0.1};
};

// A function that does nothing else: the call of it is what is forgotten.
void gradients_off() { GradMode::set_enabled(false); }

void forgets(Net net, torch::optim::Optimizer &optimizer) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    optimizer.zero_grad();
    net(torch::ones({8, 4})).sum().backward();
    optimizer.step();
    gradients_off();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients left off: nothing switches gradient mode on again
    // CHECK-MESSAGES: :[[@LINE-4]]:5: note: training runs with gradient mode off here
    std::cout << net(torch::ones({8, 4}));
  }
}

// A function that trains, and is called again.
void epoch(Net net, torch::optim::Optimizer &optimizer, const Batches &batches) {
  for (const Tensor &x : batches) {
    optimizer.zero_grad();
    net(x).sum().backward();
    optimizer.step();
  }
  GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients left off: nothing switches gradient mode on again
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
  std::cout << net(batches.front());
}
void epochs(Net net, torch::optim::Optimizer &optimizer, const Batches &batches) {
  for (int i = 0; i < 3; ++i)
    epoch(net, optimizer, batches);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: note: gradient mode is off after this
  // CHECK-MESSAGES: :[[@LINE-2]]:5: note: training runs with gradient mode off here
}

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    optimizer.zero_grad();
    net(torch::ones({8, 4})).sum().backward();
    optimizer.step();
    GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients left off: nothing switches gradient mode on again
    // CHECK-MESSAGES: :[[@LINE-4]]:5: note: training runs with gradient mode off here
    // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
    std::cout << net(torch::ones({8, 4}));
  }
}
