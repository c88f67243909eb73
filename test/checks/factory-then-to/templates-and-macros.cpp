// RUN: %check_libtorch_tidy %s libtorch-factory-then-to %t

#include <torch/torch.h>

using torch::Tensor;

// One report for all instantiations.
template <typename T> Tensor range(T end, torch::Device device) {
  auto mask = torch::ones({4}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted copy: 'ones' makes this tensor on the CPU
  // CHECK-FIXES: auto mask = torch::ones({4}, device);
  return torch::arange(end).to(device) * mask;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted copy: 'arange' makes this tensor on the CPU
}

void instantiate(torch::Device device) {
  range(3, device);
  range(3.5, device);
}

#define ZEROS(N) torch::zeros({N})
#define TO(DEVICE) to(DEVICE)
#define DEVICE torch::kCUDA

void in_macro(torch::Device device) {
  ZEROS(2).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: wasted copy: 'zeros' makes this tensor on the CPU
  torch::zeros({2}).TO(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: wasted copy: 'zeros' makes this tensor on the CPU
  torch::zeros({2}).to(DEVICE);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: wasted copy: 'zeros' makes this tensor on the CPU
}

void suppressed(torch::Device device) {
  torch::zeros({2}).to(device); // NOLINT(libtorch-factory-then-to)
  // NOLINTNEXTLINE
  torch::zeros({2}).to(device);
}
