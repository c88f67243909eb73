#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor &x);
  torch::nn::Linear body{8, 8}, head{8, 1};
  torch::Tensor last;
};
