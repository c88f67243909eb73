// A graph that is kept although nothing goes through it again.
#include "Memory.h"
#include <torch/torch.h>

int main() {
  proof::begin();
  // Eight layers whose activations have 1 MB each for 1024 rows.
  torch::nn::Sequential net;
  for (int i = 0; i < 8; ++i) {
    net->push_back(torch::nn::Linear(256, 256));
    net->push_back(torch::nn::Tanh());
  }
  torch::Tensor x = torch::randn({1024, 256});
  net->forward(x).sum().backward();      // Makes the gradients.
  net->zero_grad(/*set_to_none=*/false); // Later ones drop them by default.

  proof::Span span;
  torch::Tensor loss = net->forward(x).pow(2).sum();
#ifndef FIXED
  loss.backward({}, /*retain_graph=*/true);
#else
  loss.backward();
#endif
  span.print("after backward");
  std::vector<float> gradients;
  for (const torch::Tensor &parameter : net->parameters())
    gradients.push_back(parameter.grad().sum().item<float>());
  proof::printBits("gradients", gradients);
}
