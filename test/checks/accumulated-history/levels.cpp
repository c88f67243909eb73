// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=0 --check-suffix=0
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=1 --check-suffix=1
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=2 --check-suffix=2

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void train(Net net, const Batches &data) {
  Tensor certain = torch::zeros({});
  std::vector<Tensor> likely;
  std::vector<Tensor> advisory(data.size());
  size_t i = 0;
  for (const Tensor &x : data) {
    Tensor loss = net(x).sum();
    loss.backward();
    certain += loss;
    // CHECK-MESSAGES-0: :[[@LINE-1]]:13: warning: memory growth: 'certain' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-1: :[[@LINE-2]]:13: warning: memory growth: 'certain' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-3]]:13: warning: memory growth: 'certain' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES-0: certain += loss.detach();
    // CHECK-FIXES-1: certain += loss.detach();
    // CHECK-FIXES-2: certain += loss.detach();
    likely.push_back(loss);
    // CHECK-MESSAGES-1: :[[@LINE-1]]:12: warning: memory growth: 'likely' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-2]]:12: warning: memory growth: 'likely' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES-1: likely.push_back(loss.detach());
    // CHECK-FIXES-2: likely.push_back(loss.detach());
    advisory[i++] = loss;
    // CHECK-MESSAGES-2: :[[@LINE-1]]:19: warning: memory growth: 'advisory' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES-2: advisory[i++] = loss.detach();
  }
  std::cout << certain << likely.size() << advisory.size();
}

// The caller's tensor. Who calls the function is not in this file, or is.
Tensor into(Net net, Tensor rows) {
  for (int64_t i = 0; i < rows.size(0); ++i)
    rows[i] = net(rows[i]);
    // CHECK-MESSAGES-2: :[[@LINE-1]]:13: warning: memory growth: 'rows' keeps the autograd graph and activations of every iteration, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES-2: rows[i] = net(rows[i]).detach();
  return torch::zeros({});
}
static void into_seen(Net net, Tensor rows) {
  for (int64_t i = 0; i < rows.size(0); ++i)
    rows[i] = net(rows[i]);
    // CHECK-MESSAGES-1: :[[@LINE-1]]:13: warning: memory growth: 'rows' keeps the autograd graph and activations of every iteration, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-2]]:13: warning: memory growth: 'rows' keeps the autograd graph and activations of every iteration, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES-1: rows[i] = net(rows[i]).detach();
    // CHECK-FIXES-2: rows[i] = net(rows[i]).detach();
}
void calls(Net net) { into_seen(net, torch::zeros({8, 2})); }

// Who else uses the member is not in this file.
void SharedLog::add(Net net, const Tensor &x) {
  all.push_back(net(x));
  // CHECK-MESSAGES-2: :[[@LINE-1]]:7: warning: memory growth: 'all' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES-2: all.push_back(net(x).detach());
}

// What is added is no tensor: where to detach is not shown.
void pairs(Net net, const Batches &data) {
  std::vector<std::pair<int, Tensor>> kept;
  for (const Tensor &x : data) {
    Tensor loss = net(x).sum();
    loss.backward();
    kept.push_back(std::make_pair(1, loss));
    // CHECK-MESSAGES-1: :[[@LINE-1]]:10: warning: memory growth: 'kept' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-2]]:10: warning: memory growth: 'kept' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  }
  std::cout << kept.size();
}

// Frozen on some paths, which may be those that it is added on; a backward()
// shows that it is not.
static void setTrainable(Net net, bool on) {
  for (auto &p : net->parameters())
    p.requires_grad_(on);
}
void perhaps_frozen(Net net, Net head, const Batches &data, bool frozen, std::vector<Tensor> &out) {
  Tensor known = torch::zeros({}), open = torch::zeros({});
  if (frozen)
    setTrainable(net, false);
  for (const Tensor &x : data) {
    Tensor features = net(x);
    if (frozen)
      open += features.sum();
      // CHECK-MESSAGES-2: :[[@LINE-1]]:12: warning: memory growth: 'open' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
      // CHECK-FIXES-2: open += features.sum().detach();
    else
      out.push_back(head(features));
    Tensor loss = net(x).sum();
    loss.backward();
    known += loss;
    // CHECK-MESSAGES-0: :[[@LINE-1]]:11: warning: memory growth: 'known' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-1: :[[@LINE-2]]:11: warning: memory growth: 'known' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-3]]:11: warning: memory growth: 'known' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES-0: known += loss.detach();
    // CHECK-FIXES-1: known += loss.detach();
    // CHECK-FIXES-2: known += loss.detach();
  }
  std::cout << known << open;
}
// The same in one function: what a loop asks in each round is decided before it.
void frozen_if_asked(Net net, const Batches &data, bool frozen) {
  Tensor open = torch::zeros({});
  for (auto &p : net->parameters())
    if (frozen)
      p.requires_grad_(false);
  for (const Tensor &x : data)
    if (frozen)
      open += net(x).sum();
      // CHECK-MESSAGES-2: :[[@LINE-1]]:12: warning: memory growth: 'open' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
      // CHECK-FIXES-2: open += net(x).sum().detach();
  std::cout << open;
}
// Not all parameters are frozen: the first layers.
void partly_frozen(Net net, const Batches &data, int layers) {
  Tensor open = torch::zeros({});
  int n = 0;
  for (auto &p : net->parameters()) {
    if (n++ < layers)
      p.requires_grad_(false);
    if (p.dim() > 1)
      p.requires_grad_(false);
  }
  for (const Tensor &x : data)
    open += net(x).sum();
    // CHECK-MESSAGES-1: :[[@LINE-1]]:10: warning: memory growth: 'open' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-2]]:10: warning: memory growth: 'open' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES-1: open += net(x).sum().detach();
    // CHECK-FIXES-2: open += net(x).sum().detach();
  std::cout << open;
}
