// Files whose training sets the mode that it needs, or has none.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=2 -- -- -I%S/../Inputs
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=2 -- -- -I%S/../Inputs -DTRAINS
#include "net.h"

using torch::GradMode;
using torch::Tensor;

#ifdef TRAINS
void train(Net net, torch::optim::Optimizer &optimizer, const Tensor &x) {
  GradMode::set_enabled(true);
  optimizer.zero_grad();
  Tensor loss = net(x).sum();
  loss.backward();
  optimizer.step();
}
#endif

void validate(Net net, const Tensor &x) {
  GradMode::set_enabled(false);
  std::cout << net(x);
}

#ifdef TRAINS
void fit(Net net, torch::optim::Optimizer &optimizer, const Batches &batches) {
  for (const Tensor &x : batches) {
    train(net, optimizer, x);
    validate(net, x);
  }
}
void alternates(Net net, torch::optim::Optimizer &optimizer, const Batches &batches) {
  for (const Tensor &x : batches) {
    GradMode::set_enabled(true);
    optimizer.zero_grad();
    net(x).sum().backward();
    optimizer.step();
    GradMode::set_enabled(false);
    std::cout << net(x);
  }
  GradMode::set_enabled(true);
}
#endif

// Switched on by somebody else.
void begins(Net net, const Tensor &x) {
  GradMode::set_enabled(false);
  std::cout << net(x);
}
void ends() { GradMode::set_enabled(true); }
