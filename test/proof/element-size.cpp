// The values of a tensor, copied into a vector.
#include "Memory.h"
#include <cstring>
#include <torch/torch.h>

int main() {
  proof::begin();
  const torch::Tensor t = torch::arange(1, 65, torch::kFloat32);
  std::vector<float> v(t.numel());
#ifndef FIXED
  std::memcpy(v.data(), t.data_ptr(), sizeof(torch::kFloat32) * t.numel());
#else
  std::memcpy(v.data(), t.data_ptr(), sizeof(float) * t.numel());
#endif
  int right = 0;
  for (size_t i = 0; i < v.size(); ++i)
    right += v[i] == float(i + 1);
  std::cout << "values that arrived: " << right << " of " << v.size() << "\n";
  // The first quarter arrives in both.
  proof::printBits("copied", std::vector<float>(v.begin(), v.begin() + 16));
}
