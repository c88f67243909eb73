// Kept for nothing.
// RUN: %check_libtorch_tidy %s libtorch-retained-graph %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

void train(Net &net, torch::data::Iterator<torch::data::Example<>> begin,
           torch::data::Iterator<torch::data::Example<>> end,
           torch::optim::SGD &opt) {
  for (auto it = begin; it != end; ++it) {
    opt.zero_grad();
    Tensor x = it->data, y = torch::zeros({8, 4});
    Tensor loss = torch::mse_loss(net->forward(torch::ones({8, 4})), y);
    loss.backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
    // CHECK-FIXES: loss.backward();
    opt.step();
  }
}

void forms(Net &net) {
  Tensor x = torch::rand({8, 4});
  Tensor a = net(x).sum();
  a.backward({}, /*retain_graph=*/true);
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  // CHECK-FIXES: a.backward();
  Tensor b = net(x);
  b.backward(torch::ones_like(b), true);
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  // CHECK-FIXES: b.backward(torch::ones_like(b));
  Tensor c = net(x).sum();
  c.backward(Tensor(), true, false);
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  torch::autograd::backward({net(x).sum()}, {}, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:49: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  // CHECK-FIXES: c.backward(Tensor(), false, false);
  // CHECK-FIXES: torch::autograd::backward({net(x).sum()}, {});
  Tensor d = net(x).sum();
  auto grads = torch::autograd::grad({d}, net->parameters(), {}, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:66: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  net(x).sum().backward({}, true, /*create_graph=*/false);
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  // CHECK-FIXES: auto grads = torch::autograd::grad({d}, net->parameters(), {});
  // CHECK-FIXES: net(x).sum().backward({}, false, /*create_graph=*/false);
}

// The last of two need not keep it; the first must.
void two(Net &net, const Tensor &x) {
  Tensor shared = net(torch::ones({8, 4}));
  Tensor a = shared.sum(), b = shared.mean();
  a.backward({}, true);
  b.backward();
  shared = net(torch::ones({8, 4}));
  shared.sum().backward({}, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
  // CHECK-FIXES: shared.sum().backward();
}

// A leaf is not the graph: each iteration makes its own on top of it.
void leaf(int n) {
  auto w = torch::rand({3}, torch::requires_grad());
  Tensor x = torch::ones({3});
  for (int i = 0; i < n; ++i) {
    Tensor loss = (w * x).sum();
    loss.backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
    // CHECK-FIXES: loss.backward();
  }
}
