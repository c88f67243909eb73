// The step that makes state again.
// RUN: %check_libtorch_tidy %s libtorch-stale-optimizer-state %t --level=1

#include <torch/torch.h>

using torch::Tensor;

Tensor parameter() { return torch::zeros({256}, torch::requires_grad()); }
void train(torch::optim::Optimizer &optimizer) { optimizer.step(); }

void loops(torch::optim::Adam &adam) {
  for (int i = 0; i < 100; ++i) {
    train(adam);
    adam.param_groups()[0].params() = {parameter()};
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    // CHECK-NOTES: :[[@LINE-7]]:50: note: this step makes state for the new parameters, in addition to that of the old ones
  }
  for (int i = 0; i < 100; ++i) {
    adam.add_param_group(torch::optim::OptimizerParamGroup({parameter()}));
    // CHECK-NOTES: :[[@LINE-1]]:10: warning: memory growth: every iteration adds parameters to the optimizer: the groups of earlier parameters remain, with their state; make a new optimizer, or add them once [libtorch-stale-optimizer-state]
    // CHECK-NOTES: :[[@LINE-3]]:3: note: the optimizer outlives this loop
    // CHECK-NOTES: :[[@LINE+1]]:5: note: this step makes state for what was added
    adam.step();
  }
}

// Level 2 only.
void once(torch::optim::Optimizer &optimizer) {
  optimizer.param_groups()[0].params() = {parameter()};
}
