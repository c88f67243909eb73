// Accumulators that are members, statics, or grow in a helper.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

// A member grows from call to call.
class Trainer {
public:
  void step(const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    total_ += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'total_' keeps the autograd graph nodes of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    losses_.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'losses_' keeps the autograd graph nodes of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total_ += loss.detach();
    // CHECK-FIXES: losses_.push_back(loss.detach());
    for_backward_.push_back(net(x));
  }
  void report() const { std::cout << total_.item<float>() << losses_.size(); }
  void finish() { torch::stack(for_backward_).sum().backward(); }

private:
  Net net;
  Tensor total_ = torch::zeros({});
  std::vector<Tensor> losses_;
  std::vector<Tensor> for_backward_;
};

// A buffer that forward updates without a guard.
struct NormImpl : torch::nn::Module {
  NormImpl() : running_mean(torch::zeros({4})), guarded_mean(torch::zeros({4})) {
    fc = register_module("fc", torch::nn::Linear(4, 4));
  }
  Tensor forward(Tensor x) {
    Tensor y = fc->forward(x);
    running_mean = 0.9 * running_mean + 0.1 * y.mean(0);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: memory growth: 'running_mean' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: running_mean = (0.9 * running_mean + 0.1 * y.mean(0)).detach();
    {
      torch::NoGradGuard no_grad;
      guarded_mean = 0.9 * guarded_mean + 0.1 * y.mean(0);
    }
    return y - running_mean.detach();
  }
  torch::nn::Linear fc{nullptr};
  Tensor running_mean, guarded_mean;
};

// Helpers: by reference, by value (a tensor is a handle), a small class.
static void add_to(Tensor &total, const Tensor &x) { total += x; }
static void add_to_handle(Tensor total, const Tensor &x) { total.add_(x); }
static void add_number(double &total, const Tensor &x) {
  total += x.item<double>();
}
struct Meter {
  Tensor sum = torch::zeros({});
  void update(const Tensor &x) { sum += x; }
  void update_cut(const Tensor &x) { sum += x.detach(); }
};
void helpers(Net net, const Batches &data) {
  Tensor a = torch::zeros({}), b = torch::zeros({});
  double number = 0;
  Meter meter, cut;
  for (const Tensor &x : data) {
    Tensor loss = net(x).sum();
    loss.backward();
    add_to(a, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: 'a' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    add_to_handle(b, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: 'b' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    add_number(number, loss);
    meter.update(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'meter.sum' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    cut.update_cut(loss);
  }
  std::cout << a << b << number << meter.sum << cut.sum;
}

// The model runs in a helper.
static Tensor evaluate(Net net, const Tensor &x) { return net(x).sum(); }
static Tensor evaluate_guarded(Net net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  return net(x).sum();
}
void from_helper(Net net, const Batches &data) {
  Tensor total = torch::zeros({}), guarded = torch::zeros({});
  for (const Tensor &x : data) {
    total += evaluate(net, x);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += evaluate(net, x).detach();
    guarded += evaluate_guarded(net, x);
  }
  std::cout << total << guarded;
}

// A lambda that grows what it captures.
void lambda(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  auto add = [&](const Tensor &loss) { total += loss; };
  for (const Tensor &x : data)
    add(net(x).sum());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  std::cout << total;
}

// A static lives on.
void running(Net net, const Tensor &x) {
  static Tensor total = torch::zeros({});
  total += net(x).sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'total' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: total += net(x).sum().detach();
  static Tensor mean = torch::zeros({});
  mean = 0.9 * mean + 0.1 * net(x).mean();
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: memory growth: 'mean' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: mean = (0.9 * mean + 0.1 * net(x).mean()).detach();
  static std::vector<Tensor> all;
  all.push_back(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: 'all' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: all.push_back(net(x).detach());
  static Tensor last = torch::zeros({});
  last = net(x);
  last += net(x);
  static std::vector<Tensor> layers;
  layers.clear();
  layers.push_back(net(x));
  std::cout << total << mean << all.size() << last << layers.size();
}

// The elements of what a struct or tuple holds, apart.
struct Output {
  Tensor value;
  Tensor index;
};
static Output both(Net net, const Tensor &x) {
  Tensor y = net(x);
  return {y, y.argmax(1)};
}
void fields(Net net, const Batches &data) {
  std::vector<Tensor> values, indices;
  for (const Tensor &x : data) {
    Output out = both(net, x);
    values.push_back(out.value);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'values' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: values.push_back(out.value.detach());
    indices.push_back(out.index);
    auto [value, index] = both(net, x);
    indices.push_back(index);
  }
  std::cout << values.size() << indices.size();
}
