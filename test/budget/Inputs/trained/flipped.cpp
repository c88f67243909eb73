// A method of the model calls its forward(), and half of the batches are
// changed first. budget: --optimizer=adam
#include <cstdlib>
#include <torch/torch.h>

#include "scores.inc"

int main() {
  Net net(8, 128);
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (int i = 0; i < 3; ++i) {
    opt.zero_grad();
    auto x = torch::rand({256, 8});
    auto y = torch::randint(4, {256}, torch::kLong);
    if (std::rand() % 2) {
      x = x.flip({1});
    }
    auto l = net->loss(x, y);
    l.backward();
    opt.step();
    torch::NoGradGuard g;
    net->loss(torch::rand({4, 8}), torch::randint(4, {4}, torch::kLong))
        .item<float>();
  }
  return 0;
}
