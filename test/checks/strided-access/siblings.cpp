// A function of Python's asks one of its parameters and not the other.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/library.h>
#include <torch/torch.h>

#include <cstring>

#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " is strided")

void add_to(torch::Tensor x, torch::Tensor y) {
  CHECK_CONTIGUOUS(x);
  float *to = x.data_ptr<float>();
  const float *from = y.data_ptr<float>();
  // CHECK-FIXES: auto y_packed = y.contiguous();
  // CHECK-FIXES: const float *from = y_packed.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i)
    to[i] += from[i];
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: wrong bytes: the loop goes through the memory of 'y' element by element, but callers may pass a tensor of any strides; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
}
// Nobody outside calls it.
void internal(torch::Tensor x, float *to) {
  std::memcpy(to, x.data_ptr<float>(), x.nbytes());
}
TORCH_LIBRARY(mine, m) { m.def("add_to", &add_to); }
