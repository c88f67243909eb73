// What a guard covers, or was meant to cover.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history,libtorch-ineffective-grad-guard %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void covered(Net net, const Batches &data) {
  std::vector<Tensor> rows;
  for (const Tensor &x : data) {
    Tensor y = net(x);
    torch::NoGradGuard no_grad;
    rows.push_back(y);
  }
  std::cout << rows.size();
}

void meant(Net net, const Batches &data) {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name, so it ends with its own statement and guards nothing; give it a name [libtorch-ineffective-grad-guard]
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).sum();
  std::cout << total;
}
