// The batch of the best step is kept.
// budget: --optimizer=adam
#include <cstdlib>
#include <torch/torch.h>

#include "scores.inc"

int main() {
  Net net(8, 128);
  torch::optim::Adam opt(net->parameters(), 1e-3);
  double best = 1e9;
  torch::Tensor kept;
  for (int i = 0; i < 30; ++i) {
    opt.zero_grad();
    auto x = torch::rand({256, 8});
    auto y = torch::randint(4, {256}, torch::kLong);
    auto l = net->loss(x, y);
    l.backward();
    opt.step();
    if (l.item<double>() < best) {
      best = l.item<double>();
      kept = x;
    }
    if (best < 1e-9)
      break;
  }
  return 0;
}
