// A guard at the head of a block takes back, at its end, what the block leaves:
// the edit goes to another place, or is not made.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

static void show(const Tensor &t) { std::cout << t.argmax(); }

void setUp(Net net, const Tensor &x) {
  show(net(x));
  at::GradMode::set_enabled(false);
  // CHECK-NOTES: :[[@LINE-2]]:8: warning: inference without NoGradGuard: 'net' runs in 'setUp' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-2]]:3: note: no fix: this may leave another gradient mode, and the end of a guard would undo that
}
void leaked(Net net, const Tensor &x, bool stay) {
  auto *g = new torch::NoGradGuard;
  if (!stay) {
    delete g;
  // CHECK-FIXES: torch::NoGradGuard no_grad;
    show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'leaked' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-4]]:5: note: the guard ends here
  }
}
void unowned(Net net, const Tensor &x) {
  for (int i = 0; i < 3; ++i) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
    show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'unowned' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
  new torch::NoGradGuard;
}
static void switchOff() { at::GradMode::set_enabled(false); }
void byHelper(Net net, const Tensor &x) {
  show(net(x));
  switchOff();
  // CHECK-NOTES: :[[@LINE-2]]:8: warning: inference without NoGradGuard: 'net' runs in 'byHelper' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-2]]:3: note: no fix: this may leave another gradient mode, and the end of a guard would undo that
}
// What the inner block leaves, the outer one sets back.
void setBack(Net net, const Tensor &x, bool once) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  const bool before = at::GradMode::is_enabled();
  if (once) {
    show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'setBack' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    at::GradMode::set_enabled(false);
  }
  show(net(x));
  at::GradMode::set_enabled(before);
}
// Nothing runs after main.
int main() {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  show(net(torch::ones({1, 2})));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'main' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  at::GradMode::set_enabled(false);
}
