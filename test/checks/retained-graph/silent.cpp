// Kept because somebody goes through it again, or may.
// RUN: %check_libtorch_tidy %s libtorch-retained-graph %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

void two_losses(Net &net, int n) {
  Tensor shared = net(torch::ones({8, 4}));
  Tensor a = shared.sum(), b = shared.mean();
  a.backward({}, true);
  b.backward();

  Tensor features = net(torch::ones({8, 4}));
  for (int i = 0; i < n; ++i)
    (features * i).sum().backward({}, true);

  std::vector<Tensor> losses = {net(torch::ones({8, 4})).sum()};
  for (Tensor &loss : losses)
    loss.backward({}, true);

  Tensor y = net(torch::ones({8, 4}));
  auto grad = torch::autograd::grad({y.sum()}, net->parameters(), {}, true);
  y.mean().backward();
}

// Second derivatives; not retained.
void others(Net &net, Tensor x, bool keep) {
  Tensor y = net(x).sum();
  auto g = torch::autograd::grad({y}, {x}, {}, true, true)[0];
  g.sum().backward();
  Tensor z = net(torch::ones({8, 4})).sum();
  z.backward({}, false);
  z = net(torch::ones({8, 4})).sum();
  z.backward({}, keep);
  z = net(torch::ones({8, 4})).sum();
  z.backward();
  z = net(torch::ones({8, 4})).sum();
  z.backward({}, true, true);
}

// Somebody else has the graph.
void see(Tensor &t);
struct Owner {
  Tensor last;
  Tensor returned(Net &net) {
    Tensor y = net(torch::ones({8, 4}));
    y.sum().backward({}, true);
    return y;
  }
  void stored(Net &net) {
    last = net(torch::ones({8, 4}));
    last.sum().backward({}, true);
  }
  void seen(Net &net) {
    Tensor y = net(torch::ones({8, 4}));
    see(y);
    y.sum().backward({}, true);
  }
};
void from_outside(Tensor loss) { loss.backward({}, true); }

// Recurrent state is the matter of libtorch-undetached-hidden-state.
void recurrent(torch::nn::GRUCell &cell, int n) {
  Tensor h = torch::zeros({8, 4});
  for (int i = 0; i < n; ++i) {
    h = cell(torch::rand({8, 4}), h);
    h.sum().backward({}, true);
  }
}

// In a helper, for the caller's next backward().
void backward_of(const Tensor &out) { out.sum().backward({}, true); }
void caller(Net &net) {
  Tensor out = net(torch::ones({8, 4}));
  backward_of(out);
  out.mean().backward();
}

// The graph starts at a leaf of this function.
Tensor leaves(Net &net, int n) {
  auto w = torch::rand({3}, torch::requires_grad());
  auto out = (w * w).sum();
  out.backward({}, true);
  out.backward();

  Tensor v = torch::rand({3});
  v.requires_grad_();
  Tensor shared = v * v;
  auto g = torch::autograd::grad({shared.sum()}, {v}, {}, true);
  Tensor a = shared.sum(), b = shared.mean();
  torch::autograd::backward({a}, {}, true);
  b.backward();

  // Older than the iteration: all iterations go through it.
  auto u = torch::rand({3}, torch::requires_grad());
  Tensor squares = u * u;
  for (int i = 0; i < n; ++i) {
    Tensor loss = (squares * i).sum() + net(torch::ones({8, 4})).sum();
    loss.backward({}, true);
  }
  return g[0];
}

// A parameter that is used directly brings history that the flow does not know.
void penalty(torch::nn::Linear &linear, int n) {
  Tensor reg = linear->weight.pow(2).sum();
  Tensor loss = linear(torch::ones({8, 4})).sum() + reg;
  loss.backward({}, true);
  reg.backward();
}

// A lambda that may be called later.
void in_lambda() {
  auto w = torch::rand({3}, torch::requires_grad());
  Tensor loss = (w * w).sum();
  loss.backward({}, true);
  auto later = [&] { loss.backward(); };
}

// Cut now and then.
void cut_sometimes(Net &net, int n) {
  Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    if (i % 4 == 0)
      total = total.detach();
    total += net(torch::rand({8, 4})).sum();
    total.backward({}, true);
  }
}

void walk(const Tensor &loss) { loss.backward(); }

// A lambda or a function goes through the graph above a local leaf again.
void again_elsewhere(Net &net) {
  auto w = torch::rand({3}, torch::requires_grad());
  Tensor loss = (w * w).sum();
  loss.backward({}, true);
  [&] { loss.backward(); }();

  Tensor second = (w * w * w).sum();
  second.backward({}, true);
  walk(second);

  Tensor third = net(torch::ones({8, 4})).sum();
  third.backward({}, true);
  auto later = [third] { third.backward(); };
  later();
}
