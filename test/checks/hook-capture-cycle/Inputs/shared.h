#pragma once
#include <functional>
#include <torch/torch.h>

struct Shared {
  torch::nn::Linear net{4, 4};
  std::function<torch::Tensor(torch::Tensor)> run;
};
