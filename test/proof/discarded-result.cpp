// A recurrent state that is carried from step to step, and whose history is
// meant to end with each; and a table that is written by a mask.
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

// Rows of a table that a mask selects are to be reset.
std::vector<float> reset(torch::Tensor table, torch::Tensor mask) {
#ifndef FIXED
  table.index({mask}).fill_(0);
#else
  table.index_put_({mask}, 0);
#endif
  std::cout << "rows that are reset: "
            << 8 - table.sum(1).count_nonzero().item<int>() << " of 4\n";
  const torch::Tensor kept = table.slice(0, 4);
  return std::vector<float>(kept.data_ptr<float>(),
                            kept.data_ptr<float>() + kept.numel());
}

int main() {
  proof::begin();
  torch::nn::GRUCell cell(32, 64);
  torch::Tensor step = torch::randn({16, 32});
  proof::Growth growth;
  std::vector<float> state = follow(cell, step, growth);
  growth.print("carried state");
  proof::printBits("state", state);
  proof::printBits("kept rows",
                   reset(torch::ones({8, 4}), torch::arange(8) < 4));
}
