// What is replaced does not grow, although some way leaves what was there.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <iostream>
#include <stdexcept>

using torch::Tensor;

static void early(Net &net, const Tensor &x, Tensor &out) {
  if (!x.defined())
    return;
  out = net(x);
}
static void condition(Net &net, const Tensor &x, Tensor &out) {
  if (x.numel() > 0)
    out = net(x);
}
static void throws(Net &net, const Tensor &x, Tensor &out) {
  if (x.numel() == 0)
    throw std::invalid_argument("empty");
  out = net(x);
}
static void checks(Net &net, const Tensor &x, Tensor &out) {
  TORCH_CHECK(x.defined(), "no input");
  out = net(x);
}
static void deeper(Net &net, const Tensor &x, Tensor &out) {
  if (x.dim() == 1)
    early(net, x, out);
}
static void refill(Net &net, const Tensor &x, std::vector<Tensor> &outs) {
  if (!x.defined())
    return;
  outs.clear();
  for (int i = 0; i < x.size(0); ++i)
    outs.push_back(net(x[i]));
}
void overwritten(Net net, const Batches &data) {
  Tensor a, b, c, d, e;
  std::vector<Tensor> outs;
  for (const Tensor &x : data) {
    early(net, x, a);
    condition(net, x, b);
    throws(net, x, c);
    checks(net, x, d);
    deeper(net, x, e);
    refill(net, x, outs);
  }
}

// A method that replaces a member, called in a loop of another function.
class Runner {
public:
  void step(const Tensor &x) {
    if (!x.defined())
      return;
    last_ = net_(x);
  }
  void check(const Tensor &x) {
    TORCH_CHECK(x.defined());
    last_ = net_(x);
  }
  int label() const { return last_.argmax().item<int>(); }

private:
  Net net_;
  Tensor last_;
};
void all(Runner &runner, const Batches &data) {
  for (const Tensor &x : data) {
    runner.step(x);
    runner.check(x);
  }
}
int local(const Batches &data) {
  Runner runner;
  for (const Tensor &x : data)
    runner.step(x);
  return runner.label();
}

// A list that each forward clears and fills again.
struct FeaturesImpl : torch::nn::Module {
  Tensor forward(Tensor x) {
    outs_.clear();
    for (auto &layer : layers_) {
      x = layer(x);
      outs_.push_back(x);
    }
    last_ = {};
    last_.push_back(first_(x));
    return x;
  }
  int count() const { return int(outs_.size()); }

private:
  std::vector<torch::nn::Linear> layers_;
  torch::nn::Linear first_{4, 4};
  std::vector<Tensor> outs_, last_;
};
TORCH_MODULE(Features);
void features(Features net, const Batches &data) {
  for (const Tensor &x : data)
    net(x);
}

// Assigned anew, then written in place: by each call, or by each iteration.
struct Detector {
  int detect(const Tensor &x) {
    boxes_ = net_(x);
    boxes_ = boxes_.view({-1, 4});
    boxes_.index_put_({0}, net_(x).round());
    boxes_ += net_(x);
    boxes_.add_(net_(x));
    best_.score = net_(x).sum();
    best_.score *= net_(x).sum();
    best_ = {net_(x), net_(x)};
    best_.box += net_(x);
    return boxes_.argmax().item<int>();
  }

private:
  struct Best {
    Tensor score, box;
  };
  Net net_;
  Tensor boxes_;
  Best best_;
};
void anew(Net net, const Batches &data) {
  Tensor boxes, mean, part;
  for (const Tensor &x : data) {
    boxes = net(x);
    boxes.index_put_({0}, net(x));
    mean = torch::zeros({});
    for (int i = 0; i < 2; ++i)
      mean += net(x).mean();
    if (x.dim() > 1)
      part = net(x);
    else
      part = net(x[0]);
    part += net(x);
    std::cout << boxes << mean << part;
  }
}

// These grow.
static void add(Net &net, const Tensor &x, Tensor &total) {
  if (!x.defined())
    return;
  total = total + net(x).detach().sum();
}
static void add_to(const Tensor &x, Tensor &total) {
  if (x.defined())
    total = total + x.sum();
}
void grown(Net net, const Batches &data) {
  Tensor total = torch::zeros({1});
  for (const Tensor &x : data) {
    add(net, x, total);
    Tensor out = net(x);
    add_to(out, total);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  }
}
struct KeepsImpl : torch::nn::Module {
  Tensor forward(Tensor x) {
    if (full())
      outs_.clear();
    outs_.push_back(fc_(x));
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'outs_' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: outs_.push_back(fc_(x).detach());
    return x;
  }
  bool full() const;

private:
  torch::nn::Linear fc_{4, 4};
  std::vector<Tensor> outs_;
};

// Assigned anew on some ways only, or from what it was.
struct Smoother {
  void step(const Tensor &x) {
    if (!mean_.defined())
      mean_ = torch::zeros({4});
    mean_ += net_(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'mean_' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: mean_ += net_(x).detach();
    ema_ = ema_ * 0.9;
    ema_ += net_(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'ema_' keeps the autograd graph and activations of every call, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: ema_ += net_(x).detach();
    total_ = torch::zeros({});
    for (int i = 0; i < x.size(0); ++i)
      total_ += net_(x[i]).sum();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: memory growth: 'total_' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
      // CHECK-FIXES: total_ += net_(x[i]).sum().detach();
  }
  void show() const { std::cout << mean_ << ema_ << total_; }

private:
  Net net_;
  Tensor mean_, ema_, total_;
};
void sometimes(Net net, const Batches &data) {
  Tensor sum, all;
  for (const Tensor &x : data) {
    if (!sum.defined())
      sum = torch::zeros({4});
    sum += net(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: sum += net(x).detach();
    all = sum.detach();
    all += net(x);
  }
  std::cout << sum << all;
}
