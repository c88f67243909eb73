// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=2

// What a function adds up from its arguments and returns is judged at its
// callers in the unit.

#include <iostream>
#include <torch/torch.h>

using torch::Tensor;
using List = std::vector<Tensor>;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) { return fc->forward(x); }
};
TORCH_MODULE(Net);

// Generalized advantage estimation, whose only caller detaches the result.
static List returns(const List &rewards, const List &values) {
  Tensor gae = torch::zeros({1});
  List result(rewards.size(), torch::zeros({1}));
  for (size_t i = rewards.size(); i-- > 0;) {
    Tensor delta = rewards[i] + 0.99 * values[i + 1] - values[i];
    gae = delta + 0.9 * gae;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'gae' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    result[i] = gae + values[i];
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: memory growth: 'result' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: gae = (delta + 0.9 * gae).detach();
    // CHECK-FIXES: result[i] = (gae + values[i]).detach();
  }
  return result;
}

void rollout(Net net, const List &states, const List &rewards) {
  List values;
  for (const Tensor &state : states)
    values.push_back(net(state));
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'values' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: values.push_back(net(state).detach());
  Tensor target = torch::cat(returns(rewards, values)).detach();
  std::cout << target;
}

// The same, seen from outside: no fix, because another unit may need it.
List sums(const List &values) {
  List result;
  Tensor sum = torch::zeros({1});
  for (int i = int(values.size()) - 1; i >= 0; --i) {
    sum = values[i] + 0.9 * sum;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    result.push_back(sum);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'result' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  }
  return result;
}

void printSums(Net net, const List &states) {
  List values;
  for (const Tensor &state : states)
    values.push_back(net(state));
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'values' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: values.push_back(net(state).detach());
  std::cout << sums(values).front();
}

// One of the callers back-propagates the sum.
static Tensor total(const List &losses) {
  Tensor sum = torch::zeros({});
  for (const Tensor &loss : losses)
    sum = sum + loss;
  return sum;
}

void printTotal(Net net, const List &states) {
  torch::NoGradGuard guard;
  List losses;
  for (const Tensor &state : states)
    losses.push_back(net(state).sum());
  std::cout << total(losses);
}

void train(Net net, const List &states) {
  List losses;
  for (const Tensor &state : states)
    losses.push_back(net(state).sum());
  total(losses).backward();
}

// What one iteration hands in and gets back dies with it.
static Tensor heads(const Tensor &x) {
  List parts;
  for (int i = 0; i < x.size(0); ++i)
    parts.push_back(x[i].softmax(0));
  return torch::stack(parts);
}

void print(Net net, const List &states) {
  for (const Tensor &state : states)
    std::cout << heads(net(state));
}

// The caller hands the sum on, and who knows what for.
static List handedOn(const List &values) {
  List result;
  Tensor sum = torch::zeros({1});
  for (const Tensor &value : values) {
    sum = value + 0.9 * sum;
    result.push_back(sum);
  }
  return result;
}

List passes(Net net, const List &states) {
  List values;
  for (const Tensor &state : states)
    values.push_back(net(state));
  return handedOn(values);
}

// Counting down is not a small number of times, unless it starts at one.
void down(Net net, const List &data) {
  Tensor all = torch::zeros({}), few = torch::zeros({});
  for (size_t i = data.size(); i > 0; --i)
    all += net(data[i - 1]).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'all' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: all += net(data[i - 1]).sum().detach();
  for (int i = 3; i > 0; --i)
    few += net(data[i]).sum();
  std::cout << all << few;
}
