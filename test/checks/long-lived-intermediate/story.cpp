// Where the tensor is used last, and what runs while it is still there.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

double exposure(Net &net, const Tensor &shot, Tensor x, int rounds) {
  torch::NoGradGuard no_grad;
  Tensor wide = shot.to(torch::kDouble).pow(2.2);
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: wasted peak memory: 'wide' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  // CHECK-NOTES: :[[@LINE+2]]:3: note: 'wide' is last used here
  // CHECK-NOTES: :[[@LINE+3]]:3: note: this loop runs a module
  double mean = wide.mean().item<double>();
  // CHECK-FIXES: wide = torch::Tensor();
  for (int i = 0; i < rounds; ++i)
    x = net(x);
  return mean + x.sum().item<double>();
}

void remembered(Net &net, const Tensor &x) {
  static Tensor last;
  last = net(x);
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: wasted memory: 'last' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
  // CHECK-NOTES: :[[@LINE-3]]:17: note: static 'last' lives until the program ends
  // CHECK-NOTES: :[[@LINE-3]]:10: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
  // CHECK-FIXES: last = net(x).detach();
}
