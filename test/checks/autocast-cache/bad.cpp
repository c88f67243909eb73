// Autocast goes off and its cache stays.
// RUN: %check_libtorch_tidy %s libtorch-autocast-cache %t --level=1

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;

// Of 2.4 and later.
namespace at::autocast {
void set_autocast_enabled(at::DeviceType device, bool enabled);
} // namespace at::autocast

Tensor region(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  Tensor y = torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  // CHECK-FIXES-NEXT: at::autocast::set_cpu_enabled(false);
  at::autocast::set_cpu_enabled(false);
  return y;
}

void loop(torch::nn::Conv2d net, torch::optim::Optimizer &optimizer,
          const std::vector<Tensor> &batches) {
  for (const Tensor &x : batches) {
    torch::autocast::set_enabled(true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
    Tensor loss = net(x).sum();
    // CHECK-FIXES: torch::autocast::clear_cache();
    // CHECK-FIXES-NEXT: torch::autocast::set_enabled(false);
    torch::autocast::set_enabled(false);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void device(const Tensor &x, const Tensor &weight) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  // CHECK-FIXES-NEXT: at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::set_autocast_enabled(at::kCPU, false);
}

void shortNames(const Tensor &x, const Tensor &weight) {
  using namespace at::autocast;
  set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  torch::mm(x, weight);
  // CHECK-FIXES: clear_cache();
  // CHECK-FIXES-NEXT: set_cpu_enabled(false); // as it was
  set_cpu_enabled(false); // as it was
}

// What was before is put back.
Tensor restored(const Tensor &x, const Tensor &weight) {
  bool before = at::autocast::is_cpu_enabled();
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  Tensor y = torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  // CHECK-FIXES-NEXT: at::autocast::set_cpu_enabled(before);
  at::autocast::set_cpu_enabled(before);
  return y;
}

// As an option says.
void optional(bool half, const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(half);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  // CHECK-FIXES-NEXT: at::autocast::set_cpu_enabled(false);
  at::autocast::set_cpu_enabled(false);
}

// Two regions, each with its end.
void twice(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  // CHECK-FIXES-NEXT: at::autocast::set_cpu_enabled(false);
  at::autocast::set_cpu_enabled(false);
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  // CHECK-FIXES-NEXT: at::autocast::set_cpu_enabled(false);
  at::autocast::set_cpu_enabled(false);
}

// Where the region ends is not the same block: no fix.
Tensor conditional(bool half, const Tensor &x, const Tensor &weight) {
  if (half)
    at::autocast::set_cpu_enabled(true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  Tensor y = torch::mm(x, weight);
  if (half) {
    at::autocast::set_cpu_enabled(false);
  }
  return y;
}

Tensor twoEnds(const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  Tensor y = torch::mm(x, weight);
  if (y.numel() > 10) {
    at::autocast::set_cpu_enabled(false);
    return y;
  }
  at::autocast::set_cpu_enabled(false);
  return x;
}

auto lambda = [](const Tensor &x, const Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast is switched on and off again without clear_cache(): the casts of weights that it has cached stay in memory, and are used again even when the weights have changed; call it first [libtorch-autocast-cache]
  torch::mm(x, weight);
  // CHECK-FIXES: at::autocast::clear_cache();
  // CHECK-FIXES-NEXT: at::autocast::set_cpu_enabled(false);
  at::autocast::set_cpu_enabled(false);
};

// On until the program ends, while the weights change.
int main() {
  torch::nn::Conv2d net(torch::nn::Conv2dOptions(3, 8, 3));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  at::autocast::set_enabled(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: stale casts: autocast stays on while the optimizer changes the weights, without clear_cache(): the casts of weights that it has cached stay in memory, and the next forward uses the old ones; call it after each step [libtorch-autocast-cache]
  for (int i = 0; i < 100; ++i) {
    optimizer.zero_grad();
    net(torch::rand({8, 3, 9, 9})).sum().backward();
    optimizer.step();
  }
}
