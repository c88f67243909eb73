// Strides that are written as numbers.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/torch.h>

#include <vector>

using torch::Tensor;


void views(const Tensor &x, int64_t n) {
  auto turned = x.as_strided({3, 4}, {1, 3});
  std::vector<float> a(turned.data_ptr<float>(), turned.data_ptr<float>() + turned.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wrong bytes: 'vector' takes the elements of 'turned' as they lie in memory, but 'as_strided' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto turned_packed = turned.contiguous();
  // CHECK-FIXES: std::vector<float> a(turned_packed.data_ptr<float>(), turned_packed.data_ptr<float>() + turned.numel());
  auto windows = torch::as_strided(x, {n, 400}, {160, 1});
  std::vector<float> b(windows.data_ptr<float>(), windows.data_ptr<float>() + windows.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: wrong bytes: 'vector' takes the elements of 'windows' as they lie in memory, but 'as_strided' has fewer elements in memory than it shows
  // CHECK-FIXES: auto windows_packed = windows.contiguous();
  // CHECK-FIXES: std::vector<float> b(windows_packed.data_ptr<float>(), windows_packed.data_ptr<float>() + windows.numel());
  auto gaps = x.as_strided({3, 4}, {8, 1});
  std::vector<float> c(gaps.data_ptr<float>(), gaps.data_ptr<float>() + gaps.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: wrong bytes: 'vector' takes the elements of 'gaps' as they lie in memory, but 'as_strided' has left those of the whole tensor between them
  // CHECK-FIXES: auto gaps_packed = gaps.contiguous();
  // CHECK-FIXES: std::vector<float> c(gaps_packed.data_ptr<float>(), gaps_packed.data_ptr<float>() + gaps.numel());
  auto second = x.as_strided({4}, {2});
  std::vector<float> d(second.data_ptr<float>(), second.data_ptr<float>() + second.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wrong bytes: 'vector' takes the elements of 'second' as they lie in memory, but 'as_strided' has left those of the whole tensor between them
  // CHECK-FIXES: auto second_packed = second.contiguous();
  // CHECK-FIXES: std::vector<float> d(second_packed.data_ptr<float>(), second_packed.data_ptr<float>() + second.numel());
  auto one = x.as_strided({8}, {0});
  std::vector<float> e(one.data_ptr<float>(), one.data_ptr<float>() + one.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong bytes: 'vector' takes the elements of 'one' as they lie in memory, but 'as_strided' has fewer elements in memory than it shows
  // CHECK-FIXES: auto one_packed = one.contiguous();
  // CHECK-FIXES: std::vector<float> e(one_packed.data_ptr<float>(), one_packed.data_ptr<float>() + one.numel());
}
void over_a_buffer(float *rows) {
  auto t = torch::from_blob(rows, {3, 4}, {8, 1});
  std::vector<float> a(t.data_ptr<float>(), t.data_ptr<float>() + t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: wrong bytes: 'vector' takes the elements of 't' as they lie in memory, but the result of 'from_blob' has others between them
  // CHECK-FIXES: auto t_packed = t.contiguous();
  // CHECK-FIXES: std::vector<float> a(t_packed.data_ptr<float>(), t_packed.data_ptr<float>() + t.numel());
}

// In order: as the numbers say, or in the order that is asked for.
void in_order(const Tensor &x, float *rows, int64_t pitch, int64_t n) {
  auto same = x.as_strided({3, 4}, {4, 1});
  std::vector<float> a(same.data_ptr<float>(), same.data_ptr<float>() + same.numel());
  auto of_one = x.as_strided({1, 4, 1}, {77, 1, 3});
  std::vector<float> b(of_one.data_ptr<float>(), of_one.data_ptr<float>() + of_one.numel());
  auto columns = torch::empty_strided({3, 4}, {1, 3});
  std::vector<float> c(columns.data_ptr<float>(), columns.data_ptr<float>() + columns.numel());
  auto planes = torch::from_blob(rows, {3, 4}, {1, 3});
  std::vector<float> d(planes.data_ptr<float>(), planes.data_ptr<float>() + planes.numel());
  auto unknown = x.as_strided({3, 4}, {pitch, 1});
  std::vector<float> e(unknown.data_ptr<float>(), unknown.data_ptr<float>() + unknown.numel());
  auto inner = x.as_strided({3, n}, {4, 1});
  std::vector<float> f(inner.data_ptr<float>(), inner.data_ptr<float>() + inner.numel());
  auto row = x.as_strided({3, 4}, {8, 1})[1];
  std::vector<float> g(row.data_ptr<float>(), row.data_ptr<float>() + row.numel());
  auto whole = x.as_strided({3, 4}, {1, 3}).t();
  std::vector<float> h(whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel());
  auto copy = x.as_strided({3, 4}, {8, 1}).clone();
  std::vector<float> i(copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel());
}
