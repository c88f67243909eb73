// Each operand of a sum is looked at once, not twice by each operator above it.
// RUN: %ends
#include <torch/torch.h>

torch::Tensor terms(torch::nn::Linear &net, std::vector<torch::Tensor> &parts) {
  torch::Tensor total = torch::zeros({});
  for (auto &x : parts) {
    auto loss = net->forward(x).mean();
    loss.backward();
    total = total + loss + loss + loss + loss + loss + loss + loss + loss +
            loss + loss + loss + loss + loss + loss + loss + loss + loss +
            loss + loss + loss + loss + loss + loss + loss + loss + loss +
            loss + loss + loss + loss + loss + loss + loss + loss + loss +
            loss + loss + loss + loss + loss + loss + loss + loss + loss +
            loss + loss + loss + loss + loss + loss + loss + loss + loss +
            loss + loss + loss + loss + loss + loss + loss;
  }
  return total.detach();
}
