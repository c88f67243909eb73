// What makes a finding weaker.
// RUN: %check_libtorch_tidy %s libtorch-element-size %t

#include <torch/torch.h>

#include <cstring>
#include <vector>

void by_variable(char *to, const torch::Tensor &t, torch::ScalarType type) {
  std::memcpy(to, t.data_ptr(), sizeof(type) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: wrong byte count: 'sizeof(type)' is 1, the size of the value that names the element type, not of an element; use element_size() of the tensor [libtorch-element-size]
}

std::vector<float> other(const torch::Tensor &t) {
  std::vector<float> v(t.numel());
  std::memcpy(v.data(), t.data_ptr(), t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 't'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(v.data(), t.data_ptr(), t.numel() * sizeof(float));
  return v;
}
