// What is held though nothing ever reads it has no last use.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"

using torch::Tensor;

float loop(Net net, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  auto first = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: wasted peak memory: nothing reads 'first', but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  // CHECK-FIXES: auto first = net(x);
  // CHECK-FIXES-NEXT: first = torch::Tensor();
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += net(x + i).sum().item<float>();
  return sum;
}

float one(Net net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor first;
  first = net(x);
  // CHECK-MESSAGES: :[[@LINE-2]]:10: warning: wasted peak memory: nothing reads 'first', but its memory stays allocated while 'net' runs; reset it first [libtorch-long-lived-intermediate]
  // CHECK-FIXES: first = net(x);
  // CHECK-FIXES-NEXT: first = torch::Tensor();
  return net(x + 1).sum().item<float>();
}

// The names of one piece of memory.
float two(Net net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor first = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'first' and 'rows' are last used before 'net' runs, but their memory stays allocated while it does; reset them first [libtorch-long-lived-intermediate]
  Tensor rows = first.view({-1});
  return net(x + 1).sum().item<float>();
}

// Read afterwards, or let go of.
float silent(Net net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor first = net(x);
  first = torch::Tensor();
  Tensor second = net(x + 1);
  return net(second).sum().item<float>();
}
