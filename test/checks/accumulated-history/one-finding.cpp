// One missing guard is one finding, with one fix: what collects the results of an
// unguarded forward pass is a note there, and advice here. Where no guard is asked for,
// or it would not be enough, the accumulation stands for itself.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history,libtorch-inference-without-no-grad %t --level=1 --check-suffix=L1
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history,libtorch-inference-without-no-grad %t
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=1 --check-suffix=ALONE

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void validate(Net net, const Batches &data) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  net->eval();
  Tensor total = torch::zeros({});
  std::vector<Tensor> outputs;
  for (const Tensor &x : data) {
    Tensor y = net(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in 'validate' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES-L1: :[[@LINE-2]]:16: warning: inference without NoGradGuard: 'net' runs in 'validate' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES-L1: :[[@LINE+2]]:11: note: 'total' keeps the autograd graph of every iteration here
    // CHECK-NOTES-L1: :[[@LINE+7]]:13: note: 'outputs' keeps the autograd graph of every iteration here
    total += y.mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += y.mean();
    // CHECK-FIXES-L1: total += y.mean();
    // CHECK-FIXES-ALONE: total += y.mean().detach();
    outputs.push_back(y);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'outputs' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:13: warning: memory growth: 'outputs' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: outputs.push_back(y);
    // CHECK-FIXES-L1: outputs.push_back(y);
    // CHECK-FIXES-ALONE: outputs.push_back(y.detach());
  }
  std::cout << total << torch::cat(outputs).argmax(1);
}

// One pass, before the loop.
void keep_parts(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  net->eval();
  Tensor y = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'keep_parts' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES-L1: :[[@LINE-2]]:14: warning: inference without NoGradGuard: 'net' runs in 'keep_parts' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES-L1: :[[@LINE+3]]:10: note: 'kept' keeps the autograd graph of every iteration here
  Tensor kept = torch::zeros({4});
  for (int64_t i = 0; i < y.size(0); ++i)
    kept += y[i];
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'kept' keeps the autograd graph and activations of one forward pass, and nothing back-propagates through it; every iteration adds to that graph [libtorch-accumulated-history]
    // CHECK-MESSAGES-ALONE: :[[@LINE-2]]:10: warning: memory growth: 'kept' keeps the autograd graph and activations of one forward pass, and nothing back-propagates through it; every iteration adds to that graph [libtorch-accumulated-history]
    // CHECK-FIXES-ALONE: kept += y[i].detach();
  std::cout << kept;
}

// backward() runs on what is added: no guard can be asked for.
void train(Net net, torch::optim::SGD &optimizer, const Batches &data) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : data) {
    Tensor loss = net(x).sum();
    loss.backward();
    optimizer.step();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES-L1: :[[@LINE-2]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES-L1: :[[@LINE-8]]:10: note: 'total' is declared here, outside the loop
    // CHECK-NOTES-L1: :[[@LINE-7]]:19: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-NOTES-L1: :[[@LINE-7]]:10: note: backward() releases the activations here, but not the nodes of the graph
    // CHECK-MESSAGES-ALONE: :[[@LINE-6]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += loss.detach();
    // CHECK-FIXES-L1: total += loss.detach();
    // CHECK-FIXES-ALONE: total += loss.detach();
  }
  std::cout << total;
}

// Only a part of the history comes from the forward pass.
void penalised(Net net, const Tensor &weight, const Batches &data) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
  net->eval();
  Tensor penalty = torch::ones({4}, torch::requires_grad());
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).mean() + penalty.pow(2).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES: :[[@LINE-2]]:14: warning: inference without NoGradGuard: 'net' runs in 'penalised' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES-L1: :[[@LINE-3]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-NOTES-L1: :[[@LINE-6]]:10: note: 'total' is declared here, outside the loop
    // CHECK-NOTES-L1: :[[@LINE-5]]:14: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-NOTES-L1: :[[@LINE-6]]:14: warning: inference without NoGradGuard: 'net' runs in 'penalised' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES-L1: :[[@LINE-7]]:11: note: 'total' keeps the autograd graph of every iteration here
    // CHECK-MESSAGES-ALONE: :[[@LINE-8]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: total += (net(x).mean() + penalty.pow(2).sum()).detach();
  // CHECK-FIXES-L1: total += (net(x).mean() + penalty.pow(2).sum()).detach();
  // CHECK-FIXES-ALONE: total += (net(x).mean() + penalty.pow(2).sum()).detach();
  std::cout << total;
}
