// Guard classes of users' own that forget the cache.
// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t --level=1

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

class Autocast {
public:
  Autocast() : before(at::autocast::is_cpu_enabled()) {
    at::autocast::set_cpu_enabled(true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  }
  ~Autocast() { at::autocast::set_cpu_enabled(before); }
  // CHECK-FIXES: ~Autocast() { at::autocast::clear_cache(); at::autocast::set_cpu_enabled(before); }

private:
  bool before;
};

struct Switch {
  explicit Switch(bool enabled) : before(at::autocast::is_enabled()) {
    at::autocast::set_enabled(enabled);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  }
  ~Switch();
  bool before;
};
Switch::~Switch() {
  if (before)
    return;
    // CHECK-FIXES: at::autocast::clear_cache();
  at::autocast::set_enabled(before);
}

struct BeginEnd {
  void begin() { at::autocast::set_cpu_enabled(true); }
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  void end() { at::autocast::set_cpu_enabled(false); }
  // CHECK-FIXES: void end() { at::autocast::clear_cache(); at::autocast::set_cpu_enabled(false); }
};
