// A guard that would switch gradients on, had it a name, does not stand for what runs
// with gradients on. The driver so applies one of the two fixes only.
// REQUIRES: driver
// RUN: %libtorch-tidy --config={} --no-cache --fail-on=never %s -- %torch_flags > %t.out
// RUN: %FileCheck %s --input-file=%t.out --implicit-check-not=warning:

#include <torch/torch.h>

static int64_t on(torch::nn::Linear net, torch::Tensor x) {
  torch::AutoGradMode(true);
  // CHECK: :[[#@LINE-1]]:3: warning: ineffective guard: this AutoGradMode has no name
  return net(x).argmax().item<int64_t>();
  // CHECK: :[[#@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'on' and records an autograd graph that nothing back-propagates
}
