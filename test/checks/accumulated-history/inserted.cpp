// Algorithms that insert what a function object returns into a list.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -- -I%S/../Inputs
#include "net.h"
#include <algorithm>
#include <deque>
#include <iterator>

using torch::Tensor;

static Tensor step(Net &net, const Tensor &x, torch::optim::SGD &optimizer) {
  Tensor loss = net(x).sum();
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  return loss;
}

void transformed(Net net, const Batches &batches, torch::optim::SGD &optimizer) {
  std::vector<Tensor> losses;
  for (int epoch = 0; epoch < 100; ++epoch)
    std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory growth: 'losses' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-4]]:23: note: 'losses' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-3]]:5: note: the result of this call holds an autograd graph
    // CHECK-NOTES: :[[@LINE-4]]:5: note: backward() releases the activations here, but not the nodes of the graph
                   [&](const Tensor &x) { return step(net, x, optimizer); });
}
void generated(Net net, const Batches &batches, torch::optim::SGD &optimizer) {
  std::deque<Tensor> losses;
  for (const Tensor &x : batches)
    std::generate_n(std::front_inserter(losses), 10, [&] { return step(net, x, optimizer); });
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory growth: 'losses' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-4]]:22: note: 'losses' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-3]]:5: note: the result of this call holds an autograd graph
    // CHECK-NOTES: :[[@LINE-4]]:5: note: backward() releases the activations here, but not the nodes of the graph
}

// Detached, or a number.
void detached(Net net, const Batches &batches, torch::optim::SGD &optimizer) {
  std::vector<Tensor> losses;
  std::vector<float> numbers;
  for (int epoch = 0; epoch < 100; ++epoch) {
    std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
                   [&](const Tensor &x) { return step(net, x, optimizer).detach(); });
    std::transform(batches.begin(), batches.end(), std::back_inserter(numbers),
                   [&](const Tensor &x) { return step(net, x, optimizer).item<float>(); });
  }
}
// Of one epoch.
void emptied(Net net, const Batches &batches, torch::optim::SGD &optimizer) {
  std::vector<Tensor> losses;
  for (int epoch = 0; epoch < 100; ++epoch) {
    losses.clear();
    std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
                   [&](const Tensor &x) { return step(net, x, optimizer); });
  }
}
void its_own(Net net, const Batches &batches, torch::optim::SGD &optimizer) {
  for (int epoch = 0; epoch < 100; ++epoch) {
    std::vector<Tensor> losses;
    std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
                   [&](const Tensor &x) { return step(net, x, optimizer); });
  }
}
// In place of what was there.
void replaced(Net net, const Batches &batches, torch::optim::SGD &optimizer) {
  std::vector<Tensor> losses(batches.size());
  for (int epoch = 0; epoch < 100; ++epoch)
    std::transform(batches.begin(), batches.end(), losses.begin(),
                   [&](const Tensor &x) { return step(net, x, optimizer); });
}
// Back-propagated afterwards.
void summed(Net net, const Batches &batches, torch::optim::SGD &optimizer) {
  std::vector<Tensor> losses;
  for (int epoch = 0; epoch < 4; ++epoch)
    std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
                   [&](const Tensor &x) { return net(x).sum(); });
  torch::stack(losses).sum().backward();
  optimizer.step();
}
void guarded(Net net, const Batches &batches) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> losses;
  for (int epoch = 0; epoch < 4; ++epoch)
    std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
                   [&](const Tensor &x) { return net(x).sum(); });
}

// What is computed of a leaf, or is a copy of that, not the leaf itself.
struct Record {
  Tensor input, loss;
};
struct Memory {
  std::vector<Record> records;
  void push(Record r) { records.push_back(std::move(r)); }
};
void ofLeaf(const Batches &batches, const Tensor &y) {
  Tensor w = torch::ones({2}).set_requires_grad(true);
  std::vector<Tensor> losses, leaves;
  Memory memory;
  for (const Tensor &x : batches) {
    Tensor loss = (w * x).sum();
    std::transform(&x, &x + 1, std::back_inserter(losses),
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory growth: 'losses' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-6]]:23: note: 'losses' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-8]]:31: note: this tensor requires gradients
                   [&](const Tensor &) { return loss; });
    memory.push({y, loss.clone()});
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: memory growth: 'memory.records' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-10]]:10: note: 'memory' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-13]]:31: note: this tensor requires gradients
    // CHECK-NOTES: :[[@LINE-17]]:33: note: the call adds to it here
    std::transform(&x, &x + 1, std::back_inserter(leaves), [&](const Tensor &) { return w.clone(); });
    leaves.push_back(w.clone());
  }
}
// A variable that is given results of operators only, or the leaf on some way.
void inSteps(const Batches &batches, bool which) {
  Tensor w = torch::ones({2}).set_requires_grad(true);
  Tensor total = torch::zeros({});
  auto add = [&](const Tensor &t) { total = total + t; };
  std::vector<Tensor> kept;
  for (const Tensor &x : batches) {
    Tensor loss = (w * x).sum(), some = w;
    loss = loss / 2;
    if (which)
      some = w * x;
    add(loss);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES: :[[@LINE-10]]:10: note: 'total' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-12]]:31: note: this tensor requires gradients
    // CHECK-NOTES: :[[@LINE-11]]:43: note: the call adds to it here
    kept.push_back(some);
  }
}
