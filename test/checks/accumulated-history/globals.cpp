// What grows from call to call, or over a loop, in a variable outside functions.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history,libtorch-inference-without-no-grad %t -- -- -I%S/../Inputs
#include "net.h"
#include <iostream>
#include <map>
#include <string>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

struct Stats {
  Tensor total = torch::zeros({});
};

// Only this file can name them.
static std::map<std::string, Tensors> by_name;
namespace {
Tensors seen, returned, given, aliased, trained;
Tensor running = torch::zeros({});
Stats stats;
} // namespace
// Others can, too.
Tensors anybodys;
static Tensors *const alias = &aliased;

void take(const Tensors &);
Tensor all_returned() { return torch::stack(returned); }
void give() { take(given); }
void give_alias() { take(*alias); }
void train() { torch::stack(trained).sum().backward(); }

void collect(Net net, const Batches &batches) {
  for (const Tensor &x : batches) {
    Tensor y = net(x);
    seen.push_back(y);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'seen' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: seen.push_back(y.detach());
    by_name["y"].push_back(y);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: memory growth: 'by_name' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: by_name["y"].push_back(y.detach());
    running += y.mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'running' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: running += y.mean().detach();
    stats.total = stats.total + y.sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: memory growth: 'stats.total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: stats.total = (stats.total + y.sum()).detach();
    returned.push_back(y);
    given.push_back(y);
    aliased.push_back(y);
    trained.push_back(y);
    anybodys.push_back(y);
  }
}

double report() {
  std::cout << seen.size() << by_name.size() << stats.total;
  return running.item<double>() + torch::stack(seen).mean().item<double>();
}

// A pass whose result nothing else keeps.
static Tensors answers;
void serve(Net net, const Batches &batches) {
  for (const Tensor &x : batches)
    answers.push_back(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'answers' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-MESSAGES: :[[@LINE-2]]:23: warning: inference without NoGradGuard: 'net' runs in 'serve' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << answers.size();
}

// Emptied within the loop, by whatever condition.
static Tensors flushed;
void flush(Net net, const Batches &batches) {
  // CHECK-FIXES: void flush(Net net, const Batches &batches) {
  // CHECK-FIXES-NEXT: torch::NoGradGuard no_grad;
  Tensors own, replaced;
  for (const Tensor &x : batches) {
    own.push_back(net(x));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'net' runs in 'flush' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    flushed.push_back(net(x));
    replaced.push_back(net(x));
    if (own.size() == 32)
      own.clear();
    if (flushed.size() == 32)
      flushed.clear();
    if (replaced.size() == 32)
      replaced = {};
  }
}

// Emptied elsewhere only: the loop keeps all of its rounds.
void refill(Net net, const Batches &batches) {
  // CHECK-FIXES: void refill(Net net, const Batches &batches) {
  // CHECK-FIXES-NEXT: torch::NoGradGuard no_grad;
  Tensors own;
  for (int epoch = 0; epoch < 9; ++epoch) {
    own.clear();
    for (const Tensor &x : batches) {
      Tensor y = net(x);
      // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'refill' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      own.push_back(y);
      // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'own' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    }
    std::cout << own.size();
  }
}
