// A closure that the optimizer calls: two losses of one graph, and gradients
// that are clipped by hand.
#include "peak.h"

using namespace torch;

struct NetImpl : nn::Module {
  NetImpl() {
    body = register_module("body", nn::Linear(64, 300));
    head = register_module("head", nn::Linear(300, 40));
  }
  Tensor forward(const Tensor &x) { return head(body(x).tanh()); }
  nn::Linear body{nullptr}, head{nullptr};
};
TORCH_MODULE(Net);

int main() {
  Net net;
  optim::Adam optimizer(net->parameters(), 1e-3);
  const Tensor x = torch::randn({32, 64}), aim = torch::randn({32, 40});
  auto closure = [&] {
    optimizer.zero_grad();
    const Tensor out = net(x);
    out.abs().mean().backward({}, /*keep_graph=*/true);
    const Tensor loss = (out - aim).square().mean();
    loss.backward();
    double norm = 0;
    for (const Tensor &p : net->parameters())
      norm += p.grad().norm().item<double>();
    for (Tensor &p : net->parameters())
      p.grad().mul_(1 / norm);
    return loss;
  };
  for (int round = 0; round < 4; ++round)
    optimizer.step(closure);
}
