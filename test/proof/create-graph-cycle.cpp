#ifndef FIXED
// A gradient penalty, with backward(create_graph=true).
#else
// A gradient penalty, with backward(create_graph=true) and its gradients reset,
// and with autograd::grad.
#endif
#include "Memory.h"
#include <torch/torch.h>

int main() {
  proof::begin();
  torch::Tensor data = torch::rand({256, 256});
  std::vector<float> results;
  results.reserve(1024);

  proof::Growth accumulated;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    torch::Tensor weight = torch::rand({256, 256}, torch::requires_grad());
    torch::Tensor loss = (weight * weight * data).sum();
    loss.backward({}, /*keep_graph=*/true, /*create_graph=*/true);
    torch::Tensor penalty = weight.grad().pow(2).sum();
    penalty.backward();
    results.push_back(weight.grad().sum().item<float>());
#ifdef FIXED
    weight.mutable_grad() = torch::Tensor();
#endif
    accumulated.endOf(i);
  }
  accumulated.print("gradients kept in the parameter");

  proof::Growth penalties;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    torch::Tensor weight = torch::rand({256, 256}, torch::requires_grad());
    torch::Tensor loss = (weight * weight * data).sum();
#ifndef FIXED
    torch::autograd::backward({loss}, {}, true, true);
    torch::Tensor penalty = weight.grad().pow(2).sum();
#else
    torch::Tensor grad =
        torch::autograd::grad({loss}, {weight}, {}, true, true)[0];
    torch::Tensor penalty = grad.pow(2).sum();
#endif
    results.push_back(penalty.item<float>());
    penalties.endOf(i);
  }
  penalties.print("gradients asked for");
  proof::printBits("penalties and gradients", results);
}
