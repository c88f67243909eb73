// Where it is switched off, and where the weights change.
// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

void region(const torch::Tensor &x, const torch::Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  // CHECK-NOTES: :[[@LINE+3]]:3: note: autocast is switched off here, which leaves its cache as it is
  torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(false);
}

int main() {
  torch::Tensor weight = torch::rand({4, 4}, torch::requires_grad());
  torch::optim::SGD optimizer({weight}, 0.1);
  at::autocast::set_enabled(true);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: stale casts: autocast stays on while the optimizer changes the weights, without clear_cache(): the casts of weights that it has cached stay in memory, and the next forward uses the old ones; call it after each step [libtorch-autocast-cache]
  // CHECK-NOTES: :[[@LINE+2]]:3: note: the weights change here
  torch::mm(weight, weight).sum().backward();
  optimizer.step();
}
