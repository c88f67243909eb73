// Members and statics that keep the last graph.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

struct BlockImpl : torch::nn::Module {
  BlockImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) {
    x = torch::relu(fc(x));
    last = x;
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted memory: 'last' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
    // CHECK-FIXES: last = x.detach();
    cut = x.detach();
    mean = x * 2;
    shape = x.argmax(1);
    loss = torch::mse_loss(x, x);
    scratch = fc(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: wasted memory: 'scratch' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
    return x + scratch;
  }
  // Needs the graph of what forward kept.
  Tensor log_prob(const Tensor &action) { return (action - mean).pow(2); }
  void print() const { std::cout << last.sizes() << shape; }
  torch::nn::Linear fc{nullptr};
  Tensor last, cut, mean, shape, loss, scratch;
};

class Trainer {
public:
  void step(Net net, const Tensor &x) {
    output_ = net(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: wasted memory: 'output_' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
    // CHECK-FIXES: output_ = net(x).detach();
    kept_ = net(x);
    std::cout << output_.argmax();
  }
  void later() { kept_.sum().backward(); }

private:
  Tensor output_, kept_;
};

void remember(Net net, const Tensor &x) {
  static Tensor last;
  std::cout << last.sizes();
  last = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: wasted memory: 'last' keeps the tensor and its autograd graph alive after the function returns, and nothing in this unit needs that graph; store its detach() [libtorch-long-lived-intermediate]
  // CHECK-FIXES: last = net(x).detach();
}

void guarded_member(Net net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  static Tensor last;
  last = net(x);
}

// What is overwritten before the function returns is not kept.
class Detector {
public:
  int run(Net net, const Tensor &x, bool empty) {
    for (int i = 0; i < 3; ++i) {
      found_ = net(x);
      found_ = found_.view({-1, 4}).contiguous();
      boxes_ = found_.sigmoid();
      boxes_ = boxes_.view({-1});
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: wasted memory: 'boxes_' and 'early_' keep the tensors and their autograd graphs alive after the function returns, and nothing in this unit needs those graphs; store their detach() [libtorch-long-lived-intermediate]
      // CHECK-FIXES: boxes_ = boxes_.view({-1}).detach();
    }
    found_ = torch::cat({found_, boxes_});
    found_ = found_.round().detach();
    early_ = net(x);
    // CHECK-FIXES: early_ = net(x).detach();
    if (empty)
      return 1;
    early_ = x;
    return 0;
  }
  void fall(Net net, const Tensor &x) {
    found_ = net(x);
    std::cout << found_.sizes();
    found_ = x;
  }

private:
  Tensor found_, boxes_, early_;
};

// Members that one function sets, with one level and a fix each, are one finding.
class Recorder {
public:
  void record(Net net, Net head, const Tensor &x) {
    hidden_ = net(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: wasted memory: 'hidden_', 'scores_' and 'squares_' keep the tensors and their autograd graphs alive after the function returns, and nothing in this unit needs those graphs; store their detach() [libtorch-long-lived-intermediate]
    // CHECK-FIXES: hidden_ = net(x).detach();
    scores_ = head(x);
    // CHECK-FIXES: scores_ = head(x).detach();
    squares_ = net(x).pow(2);
    // CHECK-FIXES: squares_ = net(x).pow(2).detach();
    kept_ = net(x);
  }
  void print() const { std::cout << hidden_.sizes() << scores_ << squares_; }
  void later() { kept_.sum().backward(); }

private:
  Tensor hidden_, scores_, squares_, kept_;
};
