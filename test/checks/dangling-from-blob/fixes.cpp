// Buffers that die before the tensor over them.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

using torch::Tensor;
std::vector<float> samples();
void fill(float *, int);

Tensor vector() {
  std::vector<float> v(10, 3.f);
  return torch::from_blob(v.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(v.data(), {10}).clone();
}
Tensor array() {
  float a[2][5] = {};
  return torch::from_blob(a, {2, 5});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'a', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(a, {2, 5}).clone();
}
Tensor element() {
  std::vector<float> v(10);
  return torch::from_blob(&v[0], {10}).view({2, 5});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(&v[0], {10}).view({2, 5}).clone();
}
Tensor number() {
  int64_t label = 3;
  auto t = torch::from_blob(&label, {1}, torch::kInt64);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'label', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(&label, {1}, torch::kInt64).clone();
  return t;
}
Tensor unique() {
  auto v = std::make_unique<float[]>(10);
  return torch::from_blob(v.get(), {10}).unsqueeze(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(v.get(), {10}).unsqueeze(0).clone();
}
Tensor parameter(std::vector<float> v) {
  float *data = v.data();
  return at::from_blob(data + 1, {static_cast<int64_t>(v.size()) - 1});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return at::from_blob(data + 1, {static_cast<int64_t>(v.size()) - 1}).clone();
}
Tensor no_op() {
  std::vector<float> v(10);
  auto options = torch::TensorOptions().dtype(torch::kFloat32);
  return torch::from_blob(v.data(), {10}, options).to(torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(v.data(), {10}, options).to(torch::kFloat).clone();
}
Tensor in_steps(bool scale) {
  std::vector<float> v(10);
  auto t = torch::from_blob(v.data(), {10}, torch::kFloat32);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(v.data(), {10}, torch::kFloat32).clone();
  t = t.view({2, 5});
  t.div_(255);
  return t.to(torch::kFloat32).permute({1, 0});
}
std::pair<Tensor, Tensor> pair() {
  std::vector<float> v(10);
  Tensor t = torch::from_blob(v.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: Tensor t = torch::from_blob(v.data(), {10}).clone();
  return {t, torch::ones({1})};
}
torch::data::Example<> example() {
  std::vector<float> v(10);
  return {torch::from_blob(v.data(), {10}), torch::ones({1})};
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return {torch::from_blob(v.data(), {10}).clone(), torch::ones({1})};
}
float temporary() {
  auto t = torch::from_blob(samples().data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 't' uses the memory of a temporary, which is destroyed at the end of this statement; clone() it there [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(samples().data(), {10}).clone();
  return t.sum().item<float>();
}
Tensor data_of_temporary(Tensor x) {
  return torch::from_blob((x * 2).data_ptr(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of a temporary, which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob((x * 2).data_ptr(), {10}).clone();
}
void out(Tensor &result, std::vector<Tensor> &list) {
  std::vector<float> v(10);
  result = torch::from_blob(v.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'result' keeps a tensor over the memory of 'v', which is destroyed when the function returns; keep a clone() [libtorch-dangling-from-blob]
  list.push_back(torch::from_blob(v.data(), {10}));
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: dangling tensor: 'list' keeps a tensor over the memory of 'v', which is destroyed when the function returns; keep a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: result = torch::from_blob(v.data(), {10}).clone();
  // CHECK-FIXES: list.push_back(torch::from_blob(v.data(), {10}).clone());
}
Tensor collected(int n) {
  std::vector<Tensor> all;
  for (int i = 0; i < n; ++i) {
    std::vector<float> v(10);
    all.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling tensor: 'all' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: all.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  return torch::stack(all);
}
std::vector<Tensor> reused(int n) {
  std::vector<Tensor> all;
  std::vector<float> buffer(4);
  for (int i = 0; i < n; ++i) {
    for (float &x : buffer)
      x = i;
    all.push_back(torch::from_blob(buffer.data(), {4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling tensor: every tensor that 'all' keeps uses the memory of 'buffer', which each iteration writes again; keep a clone() of each [libtorch-dangling-from-blob]
    // CHECK-FIXES: all.push_back(torch::from_blob(buffer.data(), {4}).clone());
  }
  return all;
}
std::vector<Tensor> refilled(int n) {
  std::vector<Tensor> all;
  float buffer[4];
  for (int i = 0; i < n; ++i) {
    fill(buffer, 4);
    auto t = torch::from_blob(buffer, {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling tensor: every tensor that 'all' keeps uses the memory of 'buffer', which each iteration writes again; keep a clone() of each [libtorch-dangling-from-blob]
    // CHECK-FIXES: auto t = torch::from_blob(buffer, {4}).clone();
    all.emplace_back(t.unsqueeze(0));
  }
  return {torch::cat(all)};
}
float deleted() {
  float *p = new float[10];
  auto t = torch::from_blob(p, {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 't' uses the memory of 'p', which is freed before the last use; clone() it, or free that later [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(p, {10}).clone();
  delete[] p;
  return t.sum().item<float>();
}
Tensor freed() {
  auto *p = static_cast<float *>(malloc(40));
  auto t = torch::from_blob(p, {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 't' uses the memory of 'p', which is freed before the last use; clone() it, or free that later [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto t = torch::from_blob(p, {10}).clone();
  free(p);
  return t;
}
struct Sample {
  Tensor data;
  explicit Sample(std::vector<float> v) : data(torch::from_blob(v.data(), {10})) {}
  // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: dangling tensor: 'data' keeps a tensor over the memory of 'v', which is destroyed when the function returns; keep a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: explicit Sample(std::vector<float> v) : data(torch::from_blob(v.data(), {10}).clone()) {}
  void set() {
    float a[3] = {};
    data = torch::from_blob(a, {3});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'data' keeps a tensor over the memory of 'a', which is destroyed when the function returns; keep a clone() [libtorch-dangling-from-blob]
    // CHECK-FIXES: data = torch::from_blob(a, {3}).clone();
  }
};
struct Filter : torch::nn::Module {
  explicit Filter(std::vector<float> v) {
    register_buffer("taps", torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: dangling tensor: the module keeps a tensor over the memory of 'v', which is destroyed when the function returns; keep a clone() [libtorch-dangling-from-blob]
    // CHECK-FIXES: register_buffer("taps", torch::from_blob(v.data(), {10}).clone());
  }
};
auto lambda = [] {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(v.data(), {10}).clone();
};
template <typename T> Tensor generic(int n) {
  std::vector<T> v(n);
  return torch::from_blob(v.data(), {n});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(v.data(), {n}).clone();
}
template Tensor generic<float>(int);

// A container with one owner, by a smart pointer.
Tensor only() {
  auto v = std::make_unique<std::vector<float>>(10);
  return torch::from_blob((*v).data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob((*v).data(), {10}).clone();
}
Tensor counted() {
  auto v = std::make_shared<std::vector<float>>(10);
  fill(v->data(), 10);
  return torch::from_blob(v->data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(v->data(), {10}).clone();
}
