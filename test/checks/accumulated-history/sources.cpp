// Where the history comes from, when it is not a module's result.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

double of_leaves() {
  Tensor total = torch::zeros({});
  for (int i = 0; i < 10; ++i)
    total = total + torch::rand({4}, torch::requires_grad()).sum();
    // CHECK-NOTES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-4]]:10: note: 'total' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-3]]:21: note: this tensor requires gradients
    // CHECK-FIXES: total = total + torch::rand({4}, torch::requires_grad()).sum().detach();
  return total.item<double>();
}

// The sum grows in a function, and what it is made of comes from its caller.
using List = std::vector<Tensor>;
static Tensor sum(const List &values) {
  Tensor total = torch::zeros({1});
  for (const Tensor &value : values)
    total = value + 0.9 * total;
    // CHECK-NOTES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE+9]]:22: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-NOTES: :[[@LINE+13]]:16: note: it is handed in here, and nothing back-propagates the result of the call
    // CHECK-NOTES: :[[@LINE-6]]:10: note: 'total' is declared here, outside the loop
    // CHECK-FIXES: total = (value + 0.9 * total).detach();
  return total;
}
void print(Net &net, const Batches &batches) {
  List values;
  for (const Tensor &x : batches)
    values.push_back(net(x));
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: memory growth: 'values' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-4]]:8: note: 'values' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-3]]:22: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-FIXES: values.push_back(net(x).detach());
  std::cout << sum(values).detach();
}

// A function gives it to a tensor of its caller.
static void fill(Net &net, Tensor &out, const Tensor &x) { out = net(x); }
void filled(Net &net, const Batches &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : batches) {
    Tensor y;
    fill(net, y, x);
    total += y.sum();
    // CHECK-NOTES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-6]]:10: note: 'total' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-4]]:5: note: this call fills a tensor that holds an autograd graph
    // CHECK-FIXES: total += y.sum().detach();
  }
  std::cout << total.item<float>();
}
