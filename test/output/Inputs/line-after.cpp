#include <torch/torch.h>
void train(torch::nn::GRU gru, const std::vector<torch::Tensor> &batches) {
  torch::Tensor h;
  for (const torch::Tensor &x : batches) {
    auto [y, next] = gru->forward(x, h);
    y.sum().backward();
    h = next;
  }
}
