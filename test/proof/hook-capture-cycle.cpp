// A hook that captures its own tensor, on a parameter and on an activation.
#include "Memory.h"
#include <torch/torch.h>

int main() {
  proof::begin();
  torch::Tensor data = torch::rand({256, 256});
  std::vector<float> results;
  results.reserve(1024);

  proof::Growth parameters;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    torch::Tensor weight = torch::rand({256, 256}, torch::requires_grad());
#ifndef FIXED
    weight.register_hook([weight](torch::Tensor grad) { return grad + weight; });
#else
    weight.register_hook([weight = weight.detach()](torch::Tensor grad) { return grad + weight; });
#endif
    torch::Tensor loss = (weight * data).sum();
    loss.backward();
    results.push_back(loss.item<float>());
    results.push_back(weight.grad().sum().item<float>());
    parameters.endOf(i);
  }
  parameters.print("hook on a parameter");

  proof::Growth activations;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    torch::Tensor weight = torch::rand({256, 256}, torch::requires_grad());
    torch::Tensor hidden = torch::tanh(weight * data);
    hidden.register_hook(
#ifndef FIXED
        [=](torch::Tensor grad) { return grad * hidden.abs(); });
#else
        [=, hidden = hidden.detach()](torch::Tensor grad) { return grad * hidden.abs(); });
#endif
    hidden.sum().backward();
    results.push_back(weight.grad().sum().item<float>());
    activations.endOf(i);
  }
  activations.print("hook on an activation");
  proof::printBits("losses and gradients", results);
}
