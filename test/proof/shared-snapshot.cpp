// The parameters before a step, compared with those after it.
#include "Memory.h"
#include <torch/torch.h>

int main() {
  proof::begin();
  torch::manual_seed(1);
  torch::nn::Linear net(4, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.5);
  net->forward(torch::ones({2, 4})).sum().backward();
#ifndef FIXED
  auto before = net->weight.detach();
#else
  auto before = net->weight.detach().clone();
#endif
  optimizer.step();
  const auto changed = (net->weight - before).count_nonzero().item<int>();
  std::cout << "weights that have changed: " << changed << " of 12\n";
  const float *first = net->weight.data_ptr<float>();
  proof::printBits("weights", std::vector<float>(first, first + 12));
}
