// A recurrent state that is carried from step to step, and whose history is
// meant to end with each.
#include "Memory.h"
#include <torch/torch.h>

std::vector<float> follow(torch::nn::GRUCell &cell, const torch::Tensor &step,
                          proof::Growth &growth) {
  torch::Tensor state = torch::zeros({16, 64});
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    state = cell->forward(step, state);
#ifndef FIXED
    state.detach();
#else
    state = state.detach();
#endif
    growth.endOf(i);
  }
  const float *first = state.data_ptr<float>();
  return std::vector<float>(first, first + state.numel());
}

int main() {
  proof::begin();
  torch::nn::GRUCell cell(32, 64);
  torch::Tensor step = torch::randn({16, 32});
  proof::Growth growth;
  std::vector<float> state = follow(cell, step, growth);
  growth.print("carried state");
  proof::printBits("state", state);
}
