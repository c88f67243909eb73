// Every form of accumulation, in a loop that never back-propagates through it.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <deque>
#include <iostream>
#include <map>
#include <string>

using torch::Tensor;

// The addend was back-propagated: metadata grows.
void train(Net net, const Batches &data, torch::optim::Optimizer &opt) {
  Tensor total = torch::zeros({});
  Tensor sum = torch::zeros({});
  Tensor added = torch::zeros({});
  Tensor ema = torch::zeros({});
  std::vector<Tensor> history;
  for (const Tensor &x : data) {
    opt.zero_grad();
    Tensor loss = torch::mse_loss(net(x), x);
    loss.backward();
    opt.step();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    sum = sum + loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    added.add_(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'added' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    ema = 0.9 * ema + 0.1 * loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'ema' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    history.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'history' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += loss.detach();
    // CHECK-FIXES: sum = sum + loss.detach();
    // CHECK-FIXES: added.add_(loss.detach());
    // CHECK-FIXES: ema = (0.9 * ema + 0.1 * loss).detach();
    // CHECK-FIXES: history.push_back(loss.detach());
  }
  std::cout << total.item<float>() << sum.item<float>() << added << ema;
  std::cout << history.size();
}

// Nothing was: the activations of every iteration stay.
void validate(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  Tensor reversed = torch::zeros({});
  Tensor difference = torch::zeros({});
  Tensor ema = torch::zeros({});
  Tensor lerped = torch::zeros({});
  Tensor best = torch::zeros({});
  Tensor log = torch::zeros({8});
  Tensor all = torch::zeros({1});
  std::map<std::string, Tensor> by_name;
  std::vector<Tensor> copies;
  std::deque<Tensor> front;
  std::vector<std::pair<int, Tensor>> pairs;
  int i = 0;
  for (const Tensor &x : data) {
    Tensor loss = torch::mse_loss(net->forward(x), x);
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    reversed = loss + reversed;
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: memory growth: 'reversed' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    difference -= loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: memory growth: 'difference' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    ema.mul_(0.9).add_(loss, 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: memory growth: 'ema' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    lerped.lerp_(loss, 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'lerped' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    best = torch::max(best, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'best' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    log[i++ % 8] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: memory growth: 'log' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    all = torch::cat({all, loss.view({1})});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'all' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    by_name["mse"] += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: memory growth: 'by_name' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    copies.push_back(loss.clone());
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'copies' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    front.emplace_front(loss.cpu());
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'front' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += loss.detach();
    // CHECK-FIXES: reversed = loss.detach() + reversed;
    // CHECK-FIXES: difference -= loss.detach();
    // CHECK-FIXES: ema.mul_(0.9).add_(loss.detach(), 0.1);
    // CHECK-FIXES: lerped.lerp_(loss.detach(), 0.1);
    // CHECK-FIXES: best = torch::max(best, loss).detach();
    // CHECK-FIXES: log[i++ % 8] = loss.detach();
    // CHECK-FIXES: all = torch::cat({all, loss.view({1})}).detach();
    // CHECK-FIXES: by_name["mse"] += loss.detach();
    // CHECK-FIXES: copies.push_back(loss.clone().detach());
    // CHECK-FIXES: front.emplace_front(loss.cpu().detach());
    pairs.push_back({i, loss});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'pairs' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  }
  std::cout << total << reversed << difference << ema << lerped << best << log
            << all << by_name.size() << copies.size() << front.size()
            << pairs.size();
}

// Over other variables, and over a state that is carried along.
void indirect(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  Tensor state = torch::zeros({4});
  Tensor even = torch::zeros({});
  for (const Tensor &x : data) {
    Tensor next = total + net(x).sum();
    total = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    state = torch::tanh(net(x + state));
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'state' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total = next.detach();
    // CHECK-FIXES: state = torch::tanh(net(x + state)).detach();
    if (x.size(0) % 2 == 0)
      even += state.sum();
      // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'even' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
      // CHECK-FIXES: even += state.sum().detach();
  }
  std::cout << total.item<float>() << state.argmax() << even;
}

// do, while and for, and a loop around the loop.
void loops(Net net, const Batches &data) {
  Tensor a = torch::zeros({}), b = torch::zeros({});
  size_t i = 0;
  while (i < data.size()) {
    a += net(data[i++]).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: 'a' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: a += net(data[i++]).sum().detach();
  }
  do {
    b += net(data[--i]).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: 'b' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: b += net(data[--i]).sum().detach();
  } while (i > 0);
  for (int epoch = 0; epoch < 10; ++epoch) {
    Tensor c = torch::zeros({});
    for (size_t j = 0; j < data.size(); ++j)
      c += net(data[j]).sum();
      // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'c' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
      // CHECK-FIXES: c += net(data[j]).sum().detach();
    std::cout << c.item<float>();
  }
  std::cout << a << b;
}

// Only the values of a maximum carry history, not the indices.
void outputs(Net net, const Batches &data) {
  std::vector<Tensor> values, indices;
  for (const Tensor &x : data) {
    auto top = net(x).max(1);
    values.push_back(std::get<0>(top));
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'values' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: values.push_back(std::get<0>(top).detach());
    indices.push_back(std::get<1>(top));
  }
  std::cout << values.size() << indices.size();
}

// Rollouts that are only read through detach().
Tensor rollout(Net policy, const Batches &data, torch::optim::Optimizer &opt) {
  std::vector<Tensor> log_probs;
  for (const Tensor &x : data)
    log_probs.push_back(torch::log_softmax(policy(x), 1));
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: memory growth: 'log_probs' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: log_probs.push_back(torch::log_softmax(policy(x), 1).detach());
  Tensor old = torch::cat(log_probs).detach();
  Tensor loss = (policy(data[0]) - old).sum();
  loss.backward();
  opt.step();
  return old;
}

// Slots of a container, one by one.
void slots(Net net, const Batches &data) {
  std::vector<Tensor> outputs(data.size());
  for (size_t i = 0; i < data.size(); ++i)
    outputs[i] = net(data[i]);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: memory growth: 'outputs' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: outputs[i] = net(data[i]).detach();
  std::cout << outputs.size();
}
