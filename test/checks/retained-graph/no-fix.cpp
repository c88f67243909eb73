// Told, but not edited: the state has to be detached, or it is only likely.
// RUN: %check_libtorch_tidy %s libtorch-retained-graph %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

// A running sum is back-propagated again and again.
void running_sum(Net &net, int n) {
  Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    total += net(torch::rand({8, 4})).sum();
    total.backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: memory growth: retain_graph keeps the graphs of all iterations, since 'total' carries them on: each backward() goes through all of them; detach 'total' between iterations [libtorch-retained-graph]
  }
}

void carried(Tensor w, int n) {
  w.requires_grad_();
  Tensor h = w * 1.0;
  for (int i = 0; i < n; ++i) {
    h = (h * w).tanh();
    h.sum().backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: memory growth: retain_graph keeps the graphs of all iterations, since 'h' carries them on: each backward() goes through all of them; detach 'h' between iterations [libtorch-retained-graph]
  }
}

// What is handed in may be a part of a graph that the caller wants: level 2.
void handed_in(Net &net, const Tensor &x) {
  Tensor loss = net(x).sum();
  loss.backward({}, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
}

// A module of another file may keep a part of its graph: level 2.
struct ElsewhereImpl : torch::nn::Module {
  Tensor forward(Tensor x);
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Elsewhere);
void elsewhere(Elsewhere &net) {
  Tensor loss = net->forward(torch::ones({8, 4})).sum();
  loss.backward({}, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
}

#define BACKWARD(Loss) Loss.backward({}, true)
void by_macro(Net &net) {
  Tensor loss = net(torch::ones({8, 4})).sum();
  BACKWARD(loss);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
}

template <typename Model> void templated(Model &model) {
  Tensor loss = model(torch::ones({8, 4})).sum();
  loss.backward({}, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  // CHECK-FIXES: loss.backward();
}
void instances(Net &net, torch::nn::Linear &linear) {
  templated(net);
  templated(linear);
}

void wanted(Net &net) {
  Tensor loss = net(torch::ones({8, 4})).sum();
  loss.backward({}, true); // NOLINT(libtorch-retained-graph)
}
