// Recurrent state carried over training iterations with its history.
#include "Memory.h"
#include <torch/torch.h>

int main() {
  proof::begin();
  torch::nn::LSTMCell cell(64, 64);
  torch::nn::Linear head(64, 1);
  torch::Tensor x = torch::randn({32, 64});
  torch::Tensor h = torch::zeros({32, 64}), c = torch::zeros({32, 64});
  std::vector<float> losses;
  proof::Growth growth;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
#ifdef FIXED
    h = h.detach();
    c = c.detach();
#endif
    std::tie(h, c) = cell->forward(x, std::make_tuple(h, c));
    torch::Tensor loss = head->forward(h).sum();
    loss.backward({}, /*retain_graph=*/true);
    losses.push_back(loss.item<float>());
    growth.endOf(i);
  }
  growth.print("training");
  proof::printBits("losses", losses);
}
