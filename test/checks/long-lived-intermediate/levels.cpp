// What makes a finding weaker.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t --level=1 --check-suffix=1
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t --level=2 --check-suffix=2

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void likely(Net net, const Tensor &x) {
  static Tensor last;
  last = net(x);
  // CHECK-MESSAGES-1: :[[@LINE-1]]:8: warning: wasted memory: 'last' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
  // CHECK-MESSAGES-2: :[[@LINE-2]]:8: warning: wasted memory: 'last' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
  // CHECK-FIXES-1: last = net(x).detach();
  // CHECK-FIXES-2: last = net(x).detach();
}

// Who else uses the member is not in this file.
void SharedLog::add(Net net, const Tensor &x) {
  last = net(x);
  // CHECK-MESSAGES-2: :[[@LINE-1]]:8: warning: wasted memory: 'last' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
  // CHECK-FIXES-2: last = net(x).detach();
}

// What becomes of the metric's history is not in this file.
void measured(Net net, const Batches &data) {
  Tensor out;
  // CHECK-MESSAGES-2: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    out = net(x);
    // CHECK-FIXES-2: Tensor out = net(x);
    std::cout << unseen_metric(out).item<float>();
  }
}
