// The buffer is written or read after the tensor is made: a copy of it made at that
// place would not show what is written later, or keep from the buffer what is written
// into the tensor.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

#include <numeric>

using torch::Tensor;
void fill(float *, int);
void use(float);

Tensor filled_later() {
  std::vector<float> v(10);
  auto t = torch::from_blob(v.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(v.data(), {10});
  fill(v.data(), 10);
  return t;
}
Tensor filled_through_a_pointer() {
  std::vector<float> v(10);
  float *p = v.data();
  float *second = p + 1;
  auto t = torch::from_blob(p, {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(p, {10});
  *second = 2;
  return t;
}
Tensor filled_through_an_iterator() {
  std::vector<float> v(10);
  auto begin = v.begin();
  auto t = torch::from_blob(v.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(v.data(), {10});
  std::iota(begin, begin + 10, 0.f);
  return t;
}
Tensor read_again() {
  float a[4] = {1, 2, 3, 4};
  auto t = torch::from_blob(a, {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'a', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(a, {4});
  t.mul_(2);
  use(a[0]);
  return t;
}
Tensor written_by_the_next_round(int n) {
  Tensor first;
  std::vector<float> v(4);
  for (int i = 0; i < n; ++i) {
    v[0] = i;
    if (i == 0)
      first = torch::from_blob(v.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
    // CHECK-FIXES: first = torch::from_blob(v.data(), {4});
  }
  return first;
}

// What was written before, and what releases the buffer, does not matter.
Tensor filled_before() {
  std::vector<float> v(10);
  fill(v.data(), 10);
  auto t = torch::from_blob(v.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(v.data(), {10}).clone();
  t.mul_(2);
  return t;
}
float released() {
  float *p = new float[10];
  fill(p, 10);
  auto t = torch::from_blob(p, {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 't' uses the memory of 'p', which is freed before the last use; clone() it, or free that later [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(p, {10}).clone();
  delete[] p;
  return t.sum().item<float>();
}
