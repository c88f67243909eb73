// Gradients that are reset, and no graph of them.
// RUN: %check_libtorch_tidy %s libtorch-create-graph-cycle %t

#include <torch/torch.h>

using torch::Tensor;

void other_calls(Tensor w, Tensor grad, bool flag) {
  w.sum().backward();
  w.sum().backward({}, true);
  w.sum().backward({}, /*retain_graph=*/true, false);
  w.sum().backward(grad, true, flag);
  torch::autograd::backward({w.sum()}, {}, true);
  bool create = true;
  create = flag;
  w.sum().backward({}, true, create);
}

Tensor penalty(Tensor w) {
  Tensor loss = (w * w).sum();
  auto grads = torch::autograd::grad({loss}, {w}, {}, true, true);
  Tensor total = loss + grads[0].pow(2).sum();
  total.backward();
  return total.detach();
}

void reset(Tensor w) {
  (w * w).sum().backward({}, true, true);
  w.grad().pow(2).sum().backward();
  w.mutable_grad() = Tensor();
}
void released(Tensor w) {
  (w * w).sum().backward({}, true, true);
  w.mutable_grad().reset();
}
void detached(Tensor w) {
  (w * w).sum().backward({}, true, true);
  w.grad().detach_();
}
void replaced(Tensor w) {
  (w * w).sum().backward({}, true, true);
  w.mutable_grad() = w.grad().detach();
}
void by_reference(Tensor w) {
  (w * w).sum().backward({}, true, true);
  auto &grad = w.mutable_grad();
  grad = Tensor();
}
void module(torch::nn::Linear net, Tensor x) {
  net(x).sum().backward({}, true, true);
  net->zero_grad(true);
}
void all(torch::nn::Linear net, Tensor x) {
  net(x).sum().backward({}, true, true);
  for (auto &p : net->parameters())
    p.mutable_grad().reset();
}

// The next round resets what this one leaves.
void loop(torch::nn::Linear net, torch::optim::SGD &optimizer,
          const std::vector<Tensor> &data) {
  for (const Tensor &x : data) {
    optimizer.zero_grad();
    net(x).pow(2).mean().backward({}, true, true);
    optimizer.step();
  }
}

void clear(const std::vector<Tensor> &parameters) {
  for (const Tensor &p : parameters)
    p.mutable_grad() = {Tensor()};
}
void by_helper(torch::nn::Linear net, Tensor x) {
  net(x).sum().backward({}, true, true);
  clear(net->parameters());
}
struct Trainer {
  void zeroGradients();
  torch::nn::Linear net{4, 4};
  void step(Tensor x) {
    net(x).sum().backward({}, true, true);
    zeroGradients();
  }
};

// Its callers clean up.
static void compute(Tensor loss) { loss.backward({}, true, true); }
static void choose(Tensor loss, bool create) {
  loss.backward({}, true, create);
}
void caller(Tensor w) {
  compute((w * w).sum());
  choose((w * w).sum(), true);
  w.mutable_grad().reset();
}
static void curvature(torch::nn::Linear &net, Tensor x) {
  net(x).sum().backward({}, true, true);
}
static void clean(torch::optim::SGD &opt) { opt.zero_grad(); }
void own_optimizer(Tensor x) {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  curvature(net, x);
  clean(opt);
}
void chooser(Tensor w) { choose((w * w).sum(), false); }

struct Mine {
  void backward(Tensor grad, bool retain, bool create) {}
};
void mine(Mine m) { m.backward({}, true, true); }

void suppressed(Tensor w) {
  (w * w).sum().backward({}, true, true); // NOLINT(libtorch-create-graph-cycle)
}
