// The steps that a finding tells, in the order in which they happen.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <iostream>

static void add_to(torch::Tensor &total, const torch::Tensor &x) { total += x; }

void train(Net net, const Batches &data) {
  torch::Tensor total = torch::zeros({});
  torch::Tensor via = torch::zeros({});
  for (const torch::Tensor &x : data) {
    auto loss = net(x).sum();
    loss.backward();
    total += loss;
    // CHECK-NOTES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-7]]:17: note: 'total' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-5]]:17: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-NOTES: :[[@LINE-5]]:10: note: backward() releases the activations here, but not the nodes of the graph
    // CHECK-FIXES: total += loss.detach();
    add_to(via, loss);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory growth: 'via' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-12]]:17: note: 'via' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-11]]:17: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-NOTES: :[[@LINE-11]]:10: note: backward() releases the activations here, but not the nodes of the graph
    // CHECK-NOTES: :[[@LINE-19]]:74: note: the call adds to it here
  }
  std::cout << total << via;
}
