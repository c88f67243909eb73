// main() that reads more than shapes is a program.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <iostream>

int main() {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  auto y = net(torch::ones({2, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net' runs in 'main' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  std::cout << y.sizes() << y;
}
