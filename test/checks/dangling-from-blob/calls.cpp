// Helpers that make tensors over buffers of their callers.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

using torch::Tensor;
std::vector<float> samples();

Tensor wrap(std::vector<float> &v) {
  return torch::from_blob(v.data(), {static_cast<int64_t>(v.size())});
}
Tensor wrap_pointer(float *data, int64_t n) {
  return torch::from_blob(data, {n}, torch::kFloat).view({-1, 1});
}
Tensor copied(std::vector<float> &v) { return wrap(v).contiguous().clone(); }
Tensor maybe(std::vector<float> &v, bool copy) {
  auto wrapped = wrap(v);
  if (copy)
    return wrapped.clone();
  return wrapped;
}
void collect(std::vector<Tensor> &all, std::vector<float> &v) {
  all.push_back(torch::from_blob(v.data(), {10}));
}
void release(float *data) { delete[] data; }
void release_if(float *data, bool owned) {
  if (owned)
    delete[] data;
}
struct Sample {
  Tensor data;
  explicit Sample(std::vector<float> &v)
      : data(torch::from_blob(v.data(), {10})) {}
};

Tensor returned() {
  std::vector<float> v(10);
  return wrap(v);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return wrap(v).clone();
}
Tensor by_pointer() {
  float buffer[10] = {};
  auto t = wrap_pointer(buffer, 10);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'buffer', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = wrap_pointer(buffer, 10).clone();
  return t;
}
Tensor in_steps() {
  auto v = samples();
  return wrap_pointer(v.data(), 10).squeeze(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return wrap_pointer(v.data(), 10).squeeze(1).clone();
}
Tensor not_always(bool copy) {
  std::vector<float> v(10);
  return maybe(v, copy);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
}
std::vector<Tensor> collected() {
  std::vector<Tensor> all;
  for (int i = 0; i < 3; ++i) {
    std::vector<float> v(10);
    collect(all, v);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: dangling tensor: 'all' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  return all;
}
float released() {
  float *data = new float[10];
  auto t = torch::from_blob(data, {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 't' uses the memory of 'data', which is freed before the last use; clone() it, or free that later [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(data, {10}).clone();
  release(data);
  return t.sum().item<float>();
}
float freed_parameter(float *data) {
  auto t = torch::from_blob(data, {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 't' uses the memory of 'data', which is freed before the last use; clone() it, or free that later [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(data, {10}).clone();
  free(data);
  return t.sum().item<float>();
}
Sample constructed() {
  std::vector<float> v(10);
  return Sample(v);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
}
Tensor one_branch(bool small) {
  Tensor t;
  std::vector<float> v(10);
  if (small)
    t = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
    // CHECK-FIXES: t = torch::from_blob(v.data(), {10}).clone();
  else
    t = torch::zeros({10});
  return t;
}

// What looks like it and is right.
Tensor clones() {
  std::vector<float> v(10);
  return copied(v);
}
Tensor of_caller(std::vector<float> &v) { return wrap(v); }
Tensor heap() { return wrap_pointer(new float[10], 10); }
float used_here() {
  std::vector<float> v(10);
  return wrap(v).sum().item<float>();
}
Tensor both_copied(bool small) {
  std::vector<float> v(10);
  Tensor t = wrap(v);
  if (small)
    t = t.clone();
  else
    t = t + 1;
  return t;
}
float perhaps_released(bool owned) {
  float *data = new float[10];
  auto t = torch::from_blob(data, {10});
  release_if(data, owned);
  return t.sum().item<float>();
}
float released_after() {
  float *data = new float[10];
  auto t = torch::from_blob(data, {10});
  float sum = t.sum().item<float>();
  release(data);
  return sum;
}
float freed_and_left(bool failed) {
  float *data = new float[10];
  auto t = torch::from_blob(data, {10});
  if (failed) {
    delete[] data;
    return 0;
  }
  float sum = t.sum().item<float>();
  delete[] data;
  return sum;
}

// A helper that reads what it changes does.
static void addTo(const torch::Tensor &x, torch::Tensor *to) { *to = *to + x; }
void readAgain(const torch::Tensor &x) {
  torch::Tensor a;
  {
    std::vector<float> local(16);
    a = torch::from_blob(local.data(), {16});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: dangling tensor: 'a' uses the memory of 'local', which is destroyed when its block ends; clone() it there
    // CHECK-FIXES: a = torch::from_blob(local.data(), {16}).clone();
  }
  addTo(x, &a);
}
