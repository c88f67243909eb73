// Rows of 4 KB, joined one by one.
#include "Memory.h"
#include <torch/torch.h>

torch::Tensor collect(int count) {
  torch::Tensor all = torch::empty({0, 1024});
#ifdef FIXED
  std::vector<torch::Tensor> all_parts{all};
#endif
  for (int i = 0; i < count; ++i) {
#ifndef FIXED
    all = torch::cat({all, torch::rand({1, 1024})});
#else
    all_parts.push_back(torch::rand({1, 1024}));
#endif
  }
#ifdef FIXED
  all = torch::cat(all_parts);
#endif
  return all;
}

int main() {
  proof::begin();
  for (int count : {100, 200, 400}) {
    proof::Span span;
    torch::Tensor all = collect(count);
    span.printAllocated((std::to_string(count) + " rows").c_str());
    const float *first = all.data_ptr<float>();
    proof::printBits("rows", std::vector<float>(first, first + all.numel()));
  }
}
