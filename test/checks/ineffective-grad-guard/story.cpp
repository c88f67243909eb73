// The guard, and the forward pass that it does not reach.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t -- -- -I%S/../Inputs
#include "net.h"
#include <thread>

static void pass(Net &net, const torch::Tensor &x) { net(x); }

void started(Net &net, const torch::Tensor &x) {
  torch::NoGradGuard no_grad;
  std::thread worker([&] { pass(net, x); });
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
  // CHECK-NOTES: :[[@LINE-3]]:22: note: the guard is for this thread
  // CHECK-NOTES: :[[@LINE-7]]:54: note: the forward pass of the other thread is here
  // CHECK-FIXES: std::thread worker([&] { torch::NoGradGuard no_grad_guard; pass(net, x); });
  worker.join();
}
