// A step of training that runs a network which nobody trains, with and without a
// guard.
#include "Memory.h"
#include <torch/torch.h>

/// Eight layers whose activations have 1 MB each for 1024 rows.
static torch::nn::Sequential layers() {
  torch::nn::Sequential net;
  for (int i = 0; i < 8; ++i) {
    net->push_back(torch::nn::Linear(256, 256));
    net->push_back(torch::nn::ReLU());
  }
  return net;
}

static float learn(torch::nn::Sequential &net, torch::nn::Sequential &target,
                   const torch::Tensor &rows, bool guarded, const char *what) {
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  optimizer.zero_grad();
  proof::Span span;
  torch::Tensor goal;
  {
    torch::AutoGradMode mode(!guarded);
    goal = target->forward(rows);
  }
  torch::Tensor loss = torch::mse_loss(net->forward(rows), goal);
  loss.backward();
  optimizer.step();
  span.print(what);
  return loss.item<float>();
}

int main() {
  proof::begin();
  torch::nn::Sequential net = layers(), target = layers(), same = layers();
  torch::Tensor rows = torch::randn({1024, 256});
  learn(net, same, rows, true, "warm-up");
  learn(net, target, rows, true, "guarded");
  learn(net, target, rows, false, "recorded");
  learn(net, target, rows, false, "again");
}
