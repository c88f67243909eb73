#include <torch/torch.h>

double train(torch::nn::Linear &net, torch::optim::SGD &optimizer,
             const std::vector<torch::Tensor> &batches) {
  auto total = torch::zeros({});
  for (const auto &batch : batches) {
    auto loss = net->forward(batch).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss;
  }
  return total.item<double>() / batches.size();
}
