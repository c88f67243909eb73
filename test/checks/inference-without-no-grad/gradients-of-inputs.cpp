// An input that asks for its gradient, and goes with the output to code that
// cannot be seen: that differentiates, and a guard would make it throw.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <functional>

using torch::Tensor;

using Residual = std::function<Tensor(const Tensor &, const Tensor &)>;
struct Equation {
  std::vector<Tensor> losses(const Tensor &x, const Tensor &u); // elsewhere
};
struct Seen {
  Residual residual;
  Tensor (*other)(const Tensor &, const Tensor &);
  Tensor both(const Tensor &x, const Tensor &u) {
    return residual(x, u) + other(x, u);
  }
};

double unseen(Net net, Equation &equation, const Tensor &points) {
  net->eval();
  Tensor x = points.clone().set_requires_grad(true);
  Tensor u = net(x);
  return torch::stack(equation.losses(x, u)).sum().item<double>();
}
double behindFunctions(Net net, Seen &seen, const Tensor &points) {
  net->eval();
  Tensor x = points.detach().clone();
  x.requires_grad_();
  Tensor u = net(x);
  return seen.both(x, u).sum().item<double>();
}
double byPointer(Net net, Tensor (*loss)(const Tensor &), const Tensor &points) {
  Tensor x = torch::rand({4}, torch::requires_grad());
  return loss(net(x)).item<double>();
}

// No input asks for it.
double plain(const Tensor &points) {
  Net net;
  Tensor u = net(points);
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'plain'
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return u.sum().item<double>();
}
