// What one function or class does about the cache in a region of its own says
// nothing of another one.
// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;

Tensor uncached(const Tensor &x, const Tensor &weight) {
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::set_cpu_enabled(true);
  Tensor y = torch::mm(x, weight);
  at::autocast::set_cpu_enabled(false);
  return y;
}

Tensor cached(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  Tensor y = torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(false);
  return y;
}

struct Scope {
  Scope() { at::autocast::set_cpu_enabled(true); }
  ~Scope() {
    at::autocast::set_cpu_enabled(false);
    at::autocast::clear_cache();
  }
};
struct LeakyScope {
  LeakyScope() { at::autocast::set_cpu_enabled(true); }
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  ~LeakyScope() { at::autocast::set_cpu_enabled(false); }
  // CHECK-FIXES: ~LeakyScope() { at::autocast::clear_cache(); at::autocast::set_cpu_enabled(false); }
};

// The other way round: a stretch without autocast.
struct FullPrecision {
  FullPrecision() { at::autocast::set_cpu_enabled(false); }
  ~FullPrecision() { at::autocast::set_cpu_enabled(true); }
};
