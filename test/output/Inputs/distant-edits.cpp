#include <torch/torch.h>
int best(torch::nn::Linear net, torch::Tensor x) {
  torch::Tensor y = x + 1;
  return net(y).argmax().item<int>();
}
