// Gradients are needed, or the choice is somebody else's.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <algorithm>
#include <future>
#include <iostream>
#include <numeric>
#include <torch/script.h>

using torch::Tensor;

void unseen_future(std::future<Tensor> result);

// Training, also through helpers, structs, tuples and branches.
void train(Net net, const Tensor &x, torch::optim::Optimizer &opt) {
  auto loss = torch::mse_loss(net(x), x);
  loss.backward();
  opt.step();
}
struct Output {
  Tensor mean, spread;
};
static Output both(Net a, Net b, const Tensor &x) { return {a(x), b(x)}; }
static Tensor loss_of(const Output &out) { return (out.mean - out.spread).sum(); }
void structs(Net a, Net b, const Tensor &x) { loss_of(both(a, b, x)).backward(); }
void tuples(Net a, Net b, const Tensor &x) {
  Tensor p, q;
  std::tie(p, q) = std::make_tuple(a(x), b(x));
  auto [r, s] = std::make_pair(a(x), b(x));
  (p + q + r + s).sum().backward();
}
void sometimes(Net net, const Tensor &x, bool training) {
  Tensor out = net(x);
  if (training)
    out.sum().backward();
  std::cout << out.argmax();
}
void shows_the_graph(Net net, const Tensor &x) {
  Tensor out = net(x);
  std::cout << out << out.grad_fn()->name();
}
void generator(Net g, Net d, const Tensor &noise, torch::optim::Optimizer &opt) {
  auto fake = g(noise);
  d(fake.detach()).sum().backward();
  d(fake).sum().backward();
  opt.step();
}
void closure(Net net, const Tensor &x, torch::optim::LBFGS &opt) {
  opt.step([&] {
    opt.zero_grad();
    auto loss = net(x).sum();
    loss.backward();
    return loss;
  });
}

// Gradients with respect to inputs.
Tensor forces(Net energy, Tensor positions) {
  positions.requires_grad_(true);
  auto e = energy(positions).sum();
  return -torch::autograd::grad({e}, {positions})[0];
}
void adversarial(Net net, Tensor x) {
  x.set_requires_grad(true);
  net(x).sum().backward();
  std::cout << x.grad().sign();
}

// Layers and helpers hand the result to whoever asked.
struct StackImpl : torch::nn::Module {
  StackImpl() { inner = register_module("inner", Net()); }
  Tensor forward(Tensor x) {
    Tensor statistics = inner(x);
    std::cout << statistics.sizes();
    return inner(x);
  }
  Tensor loss(Tensor x) { return forward(x).sum(); }
  Net inner{nullptr};
};
Tensor helper(Net net, const Tensor &x) { return net(x); }
void out_parameter(Net net, const Tensor &x, Tensor &out) { out = net(x); }
struct Cache {
  Tensor last;
  void fill(Net net, const Tensor &x) { last = net(x); }
  void use() { last.sum().backward(); }
};

// Somebody that is not seen gets it.
void hand_over(Net net, const Tensor &x) { unseen(net(x)); }

void promised(Net net, const Tensor &x, std::promise<Tensor> &result) {
  result.set_value(net(x));
}
void local_promise(Net net, const Tensor &x) {
  std::promise<Tensor> result;
  unseen_future(result.get_future());
  result.set_value(net(x));
}

// The call operator of something that is no module.
struct Scale {
  Tensor operator()(const Tensor &x) { return x * 2; }
};
void no_module(const Tensor &x) {
  Scale scale;
  torch::nn::Linear declared(3, 4);
  std::cout << scale(x).argmax();
}

// What an algorithm adds up is back-propagated, or goes to the caller.
void added_up(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  std::for_each(batches.begin(), batches.end(),
                [&](const Tensor &x) { total += net(x).sum(); });
  total.backward();
  std::vector<Tensor> losses;
  std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
                 [&](const auto &x) { return net(x).sum(); });
  torch::stack(losses).sum().backward();
  std::accumulate(batches.begin(), batches.end(), torch::zeros({}),
                  [&](auto sum, const auto &x) { return sum + net(x).sum(); })
      .backward();
}
std::vector<Tensor> handed_on(Net net, const Batches &batches) {
  std::vector<Tensor> outputs(batches.size());
  std::transform(batches.begin(), batches.end(), outputs.begin(),
                 [&](const Tensor &x) { return net(x); });
  return outputs;
}
float guarded(Net net, const Batches &batches) {
  torch::NoGradGuard no_grad;
  Tensor total = torch::zeros({});
  std::for_each(batches.begin(), batches.end(),
                [&](const Tensor &x) { total += net(x).sum(); });
  return total.item<float>();
}
