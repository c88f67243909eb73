// What the unit does elsewhere: a function that cleans up for others, a cache
// that is off, classes whose other half is not seen.
// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t
// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t -- -- -DCACHE_OFF

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;

struct Hidden {
  Hidden() { at::autocast::set_cpu_enabled(true); }
  ~Hidden();
  void pause() { at::autocast::set_cpu_enabled(false); }
};

#ifdef CACHE_OFF
void prepare() { at::autocast::set_autocast_cache_enabled(false); }
#else
void finish() { at::autocast::clear_cache(); }
#endif

Tensor region(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  Tensor y = torch::mm(x, weight);
  at::autocast::set_cpu_enabled(false);
  return y;
}
