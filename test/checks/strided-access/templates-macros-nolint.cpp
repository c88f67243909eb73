// Templates are reported once, macros where they are used, and NOLINT is heard.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/torch.h>

#include <vector>

using torch::Tensor;

template <typename T> std::vector<T> column(const Tensor &x) {
  auto c = x.select(1, 0);
  return std::vector<T>(c.data_ptr<T>(), c.data_ptr<T>() + c.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: wrong bytes: 'vector' takes the elements of 'c' as they lie in memory, but 'select' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto c_packed = c.contiguous();
  // CHECK-FIXES: return std::vector<T>(c_packed.data_ptr<T>(), c_packed.data_ptr<T>() + c.numel());
}
template std::vector<float> column<float>(const Tensor &x);
template std::vector<double> column<double>(const Tensor &x);

std::vector<float> known(const Tensor &x) {
  auto c = x.select(1, 0);
  // The table has one row. NOLINTNEXTLINE(libtorch-strided-access)
  return std::vector<float>(c.data_ptr<float>(), c.data_ptr<float>() + c.numel());
}
