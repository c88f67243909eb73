// The cache is cleared, or there is no saying that it is not.
// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;

// Only this one has a region of its own beside the call.
Tensor cleared(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  Tensor y = torch::mm(x, weight);
  at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(false);
  return y;
}

Tensor nested(const Tensor &x, const Tensor &weight) {
  bool before = at::autocast::is_cpu_enabled();
  at::autocast::increment_nesting();
  at::autocast::set_cpu_enabled(true);
  Tensor y = torch::mm(x, weight);
  if (at::autocast::decrement_nesting() == 0)
    at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(before);
  return y;
}

#define AUTOCAST_BEGIN at::autocast::set_cpu_enabled(true);
#define AUTOCAST_END                                                           \
  at::autocast::clear_cache();                                                 \
  at::autocast::set_cpu_enabled(false);
Tensor macros(const Tensor &x, const Tensor &weight) {
  AUTOCAST_BEGIN
  Tensor y = torch::mm(x, weight);
  AUTOCAST_END
  return y;
}

class Guard {
public:
  Guard() { at::autocast::set_cpu_enabled(true); }
  ~Guard() {
    at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(false);
  }
};

struct Trainer {
  void begin() { at::autocast::set_cpu_enabled(true); }
  void step(const Tensor &x, const Tensor &weight) {
    begin();
    torch::mm(x, weight);
    end();
  }
  void end() {
    at::autocast::set_cpu_enabled(false);
    if (++steps % 8 == 0)
      at::autocast::clear_cache();
  }
  int steps = 0;
};

// A stretch without it, inside someone else's region.
Tensor inFullPrecision(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(false);
  Tensor y = torch::mm(x, weight);
  at::autocast::set_cpu_enabled(true);
  return y;
}
struct FullPrecision {
  FullPrecision() { at::autocast::set_cpu_enabled(false); }
  ~FullPrecision() { at::autocast::set_cpu_enabled(true); }
};

// Weights that stay as they are are cast once.
void server(torch::nn::Conv2d net, const std::vector<Tensor> &requests) {
  at::autocast::set_cpu_enabled(true);
  for (const Tensor &x : requests)
    net(x);
}
void inFullPrecisionIf(bool half, const Tensor &x, const Tensor &weight) {
  bool before = at::autocast::is_cpu_enabled();
  at::autocast::set_cpu_enabled(half);
  torch::mm(x, weight);
  at::autocast::set_cpu_enabled(before);
}

// A method that is not in this file may clear the cache.
struct Hidden {
  void begin() { at::autocast::set_cpu_enabled(true); }
  void end() { at::autocast::set_cpu_enabled(false); }
  void clean();
};

// Which of the two ends it depends on callers.
struct TwoEnds {
  void begin() { at::autocast::set_cpu_enabled(true); }
  void end() { at::autocast::set_cpu_enabled(false); }
  void abandon() { at::autocast::set_cpu_enabled(false); }
};
