// A line through points: one module of the library.

#include <torch/torch.h>

constexpr int64_t kFeatures = 4;

std::pair<torch::Tensor, torch::Tensor> get_batch(int64_t batch_size = 32) {
  std::vector<torch::Tensor> powers;
  auto x = torch::randn({batch_size});
  for (int64_t i = 0; i < kFeatures; ++i)
    powers.push_back(x.pow(i + 1));
  auto features = torch::stack(powers, 1);
  auto weights = torch::randn({kFeatures, 1}), bias = torch::randn({1});
  return {features, torch::mm(features, weights) + bias};
}

int main() {
  torch::nn::Linear fc(kFeatures, 1);
  torch::optim::SGD optim(fc->parameters(), .1);
  float loss = 0;
  int64_t batch_idx = 0;
  while (++batch_idx) {
    torch::Tensor batch_x, batch_y;
    std::tie(batch_x, batch_y) = get_batch();
    optim.zero_grad();
    auto output = torch::smooth_l1_loss(fc(batch_x), batch_y);
    loss = output.item<float>();
    output.backward();
    optim.step();
    if (loss < 1e-3f)
      break;
  }
}
