// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t --level=1

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;

#define ON at::autocast::set_cpu_enabled(true)
#define OFF at::autocast::set_cpu_enabled(false)

// No fix reaches into a macro.
Tensor macros(const Tensor &x, const Tensor &weight) {
  ON;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  Tensor y = torch::mm(x, weight);
  OFF;
  return y;
}

template <typename T> void run(T x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(false);
}
void instances(const Tensor &x) {
  run(x, x);
  run(torch::OptionalTensorRef(x).getTensorRef(), x);
}

void silenced(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true); // NOLINT(libtorch-autocast-cache)
  torch::mm(x, weight);
  at::autocast::set_cpu_enabled(false);
}

// A region of its own, cleared; it has nothing to do with the others.
void other(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  torch::mm(x, weight);
  at::autocast::set_cpu_enabled(false);
  at::autocast::clear_cache();
}

// This one calls it at last.
void callsOther(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  torch::mm(x, weight);
  at::autocast::set_cpu_enabled(false);
  other(x, weight);
}
