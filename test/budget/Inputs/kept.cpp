// A loop that keeps what each forward pass left. It prints what an iteration
// added.

#include "../../proof/Memory.h"
#include <cstdio>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t classes) : conv(3, 8, 3), fc(8, classes) {
    register_module("conv", conv);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(conv->forward(x));
    return fc->forward(x.mean({2, 3}));
  }
  torch::nn::Conv2d conv;
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

float known(int steps) {
  Net net(10);
  torch::Tensor total = torch::zeros({});
  int64_t before = 0;
  for (int i = 0; i < steps; ++i) {
    {
      auto loss = net->forward(torch::rand({16, 3, 32, 32})).sum();
      total += loss;
    }
    if (i > 1)
      std::printf("%lld\n", (long long)(proof::counters().Live - before));
    before = proof::counters().Live;
  }
  return total.item<float>();
}

// Which of two models it is, is not known; nor what is read.
float open(int classes, const std::vector<torch::Tensor> &images) {
  Net net(classes);
  torch::Tensor total = torch::zeros({});
  for (const auto &image : images)
    total += net->forward(image).sum();
  return total.item<float>();
}

int main() {
  at::globalContext().setUserEnabledMkldnn(false);
  proof::begin();
  known(4);
}
