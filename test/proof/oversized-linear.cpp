#ifndef FIXED
// One training step of a large layer.
#else
// One training step of two layers with a narrow one between them.
#endif
#include "Memory.h"

template <typename Net> static void train(Net net, int64_t in) {
  proof::Span span;
  torch::optim::Adam optimizer(net->parameters());
  net->forward(torch::ones({1, in})).sum().backward();
  span.print("with the gradient");
  optimizer.step();
  span.print("with Adam's state");
}

int main() {
  proof::begin();
  proof::Span span;
#ifndef FIXED
  torch::nn::Linear net(4096, 4096);
#else
  torch::nn::Sequential net(
      torch::nn::Linear(torch::nn::LinearOptions(4096, 128).bias(false)),
      torch::nn::Linear(128, 4096));
#endif
  span.print("weight");
  train(net, 4096);
}
