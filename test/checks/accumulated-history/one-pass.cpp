// A forward pass before the loop, of which each iteration takes a part.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void parts(Net net, const Tensor &x) {
  Tensor scores = net(x);
  Tensor best = torch::zeros({10}), sum = torch::zeros({});
  std::vector<Tensor> rows;
  for (int i = 0; i < x.size(0); ++i) {
    best.slice(0, i, i + 1) = scores[i][0];
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: memory growth: 'best' keeps the autograd graph and activations of one forward pass, and nothing back-propagates through it; every iteration adds to that graph [libtorch-accumulated-history]
    // CHECK-FIXES: best.slice(0, i, i + 1) = scores[i][0].detach();
    sum += scores[i].sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph and activations of one forward pass, and nothing back-propagates through it; every iteration adds to that graph [libtorch-accumulated-history]
    // CHECK-FIXES: sum += scores[i].sum().detach();
    rows.push_back(scores[i]);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'rows' keeps the autograd graph and activations of one forward pass, and nothing back-propagates through it; every iteration adds to that graph [libtorch-accumulated-history]
    // CHECK-FIXES: rows.push_back(scores[i].detach());
  }
  std::cout << best << sum << rows.size();
}

// In each iteration of an outer loop, or in the loop, too.
void outer(Net net, const Batches &data, const Tensor &x) {
  Tensor sum = torch::zeros({}), total = torch::zeros({});
  const Tensor mean = net(x).mean();
  for (const Tensor &batch : data) {
    Tensor scores = net(batch);
    for (int i = 0; i < batch.size(0); ++i)
      sum += scores[i].sum();
      // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'sum' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
      // CHECK-FIXES: sum += scores[i].sum().detach();
    total += net(batch).sum() - mean;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += (net(batch).sum() - mean).detach();
  }
  std::cout << sum << total;
}

// A pass in each call, into what outlives the call.
class Log {
public:
  void add(const Tensor &x) {
    Tensor scores = net_(x);
    for (int i = 0; i < x.size(0); ++i)
      total_ += scores[i].sum();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: memory growth: 'total_' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
      // CHECK-FIXES: total_ += scores[i].sum().detach();
  }
  void show() const { std::cout << total_; }

private:
  Net net_;
  Tensor total_ = torch::zeros({});
};

// Back-propagated: what each iteration adds is nodes of the graph.
void trained(Net net, const Tensor &x) {
  Tensor losses = net(x).sum(1);
  losses.sum().backward();
  Tensor sum = torch::zeros({});
  for (int i = 0; i < x.size(0); ++i)
    sum += losses[i];
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: sum += losses[i].detach();
  std::cout << sum;
}
