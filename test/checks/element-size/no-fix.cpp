// Where no fix is offered.
// RUN: %check_libtorch_tidy %s libtorch-element-size %t

#include <torch/torch.h>

#include <cstring>

// C++ has no type of its own for it.
void halves(char *to, const torch::Tensor &t) {
  std::memcpy(to, t.data_ptr(), sizeof(torch::kHalf) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: wrong byte count: 'sizeof(torch::kHalf)' is 1, the size of the value that names the element type, not of an element; use element_size() of the tensor [libtorch-element-size]
}

#define COPY(to, t) std::memcpy(to, t.data_ptr<float>(), t.numel())
void in_macro(char *to, const torch::Tensor &t) { COPY(to, t); }
// CHECK-MESSAGES: :[[@LINE-1]]:60: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 't'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
