// Option Fix: .item() where it compiles and the addend is a scalar for sure.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -config="{CheckOptions: {libtorch-accumulated-history.Fix: item}}"

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void train(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  Tensor sum = torch::zeros({});
  Tensor unknown_shape = torch::zeros({4});
  std::vector<Tensor> losses;
  for (const Tensor &x : data) {
    Tensor out = net(x);
    Tensor loss = out.sum();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    sum = sum + loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    unknown_shape += out;
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: memory growth: 'unknown_shape' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += loss.item();
    // CHECK-FIXES: sum = sum + loss.item();
    // CHECK-FIXES: unknown_shape += out.detach();
    // CHECK-FIXES: losses.push_back(loss.detach());
  }
  std::cout << total << sum << unknown_shape << losses.size();
}
