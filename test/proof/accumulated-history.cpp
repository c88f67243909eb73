// A running sum of losses, in training and in validation.
#include "Memory.h"
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(torch::Tensor x) {
    return second(torch::relu(first(x)));
  }
  torch::nn::Linear first{256, 256}, second{256, 1};
};
TORCH_MODULE(Net);

float train(Net net, const torch::Tensor &data, const torch::Tensor &target,
            proof::Growth &growth) {
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  torch::Tensor total = torch::zeros({});
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::mse_loss(net(data), target);
    loss.backward();
    optimizer.step();
#ifndef FIXED
    total += loss;
#else
    total += loss.detach();
#endif
    growth.endOf(i);
  }
  return total.item<float>();
}

float validate(Net net, const torch::Tensor &data, const torch::Tensor &target,
               proof::Growth &growth) {
  net->eval();
  torch::Tensor total = torch::zeros({});
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    torch::Tensor loss = torch::mse_loss(net(data), target);
#ifndef FIXED
    total += loss;
#else
    total += loss.detach();
#endif
    growth.endOf(i);
  }
  return total.item<float>();
}

int main() {
  proof::begin();
  Net net;
  torch::Tensor data = torch::randn({64, 256});
  torch::Tensor target = torch::randn({64, 1});
  proof::Growth training, validation;
  float trained = train(net, data, target, training);
  float validated = validate(net, data, target, validation);
  training.print("training");
  validation.print("validation");
  proof::printBits("sums", {trained, validated});
}
