// What looks like it and is right.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

using torch::Tensor;
void fill(float *, int);
void scale(Tensor &);
std::shared_ptr<std::vector<float>> shared();

Tensor clone() {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {10}).clone();
}
Tensor clone_later() {
  std::vector<float> v(10);
  auto t = torch::from_blob(v.data(), {10});
  t = t.view({2, 5});
  return t.clone();
}
Tensor converted() {
  std::vector<unsigned char> v(10);
  auto t = torch::from_blob(v.data(), {10}, torch::kByte);
  t = t.to(torch::kFloat);
  return t.div_(255);
}
Tensor doubled() {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {10}).to(torch::kDouble);
}
Tensor on_device() {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {10}).to(torch::kCUDA);
}
Tensor computed() {
  std::vector<float> v(10);
  auto t = torch::from_blob(v.data(), {10});
  return torch::cat({t, t}) + t / 2;
}
float used_here() {
  std::vector<float> v(10);
  auto t = torch::from_blob(v.data(), {10});
  return t.sum().item<float>();
}
Tensor with_deleter() {
  auto *v = new std::vector<float>(10);
  return torch::from_blob(v->data(), {10}, [v](void *) { delete v; });
}
Tensor of_caller(const std::vector<float> &v, float *p) {
  auto t = torch::from_blob(const_cast<float *>(v.data()), {10});
  return t.size(0) ? t : torch::from_blob(p, {10});
}
Tensor of_static() {
  static float table[10] = {};
  return torch::from_blob(table, {10});
}
Tensor of_shared() {
  auto v = shared();
  return torch::from_blob(v->data(), {10});
}
std::pair<Tensor, std::vector<float>> together() {
  std::vector<float> v(10);
  auto t = torch::from_blob(v.data(), {10});
  return {t, std::move(v)};
}
struct Owner {
  std::vector<float> buffer;
  Tensor tensor;
  void set() {
    std::vector<float> v(10);
    tensor = torch::from_blob(v.data(), {10});
    buffer.swap(v);
  }
  Tensor get() { return torch::from_blob(buffer.data(), {10}); }
  void copy() {
    std::vector<float> v(10);
    tensor = torch::from_blob(v.data(), {10});
    tensor = tensor + 1;
  }
  void rescaled() {
    std::vector<float> v(10);
    tensor = torch::from_blob(v.data(), {10});
    scale(tensor);
  }
};
Tensor written(Tensor out) {
  std::vector<float> v(10);
  out[0] = torch::from_blob(v.data(), {10});
  out.copy_(torch::from_blob(v.data(), {10}));
  return out;
}
// Different parts of one buffer, a buffer that nobody writes, and tensors that
// are used up in their own iteration.
std::vector<Tensor> parts(int n) {
  static std::vector<float> buffer(400);
  std::vector<Tensor> all;
  for (int i = 0; i < n; ++i) {
    fill(buffer.data() + 4 * i, 4);
    all.push_back(torch::from_blob(buffer.data() + 4 * i, {4}));
  }
  return all;
}
Tensor same(int n) {
  float buffer[4] = {};
  std::vector<Tensor> all;
  for (int i = 0; i < n; ++i)
    all.push_back(torch::from_blob(buffer, {4}));
  return torch::stack(all);
}
float per_iteration(int n) {
  float buffer[4] = {}, sum = 0;
  std::vector<Tensor> inputs;
  for (int i = 0; i < n; ++i) {
    fill(buffer, 4);
    inputs.clear();
    inputs.push_back(torch::from_blob(buffer, {4}));
    sum += torch::stack(inputs).sum().item<float>();
  }
  return sum;
}
float deleted_after() {
  float *p = new float[10];
  auto t = torch::from_blob(p, {10});
  float sum = t.sum().item<float>();
  delete[] p;
  return sum + t.size(0);
}

// What only fills the tensor reads nothing of what it was.
static void put(Tensor t, Tensor *to) { *to = t; }
static void putInto(Tensor t, Tensor &to) { to = t; }
void filledAgain(const Tensor &x) {
  Tensor a, b;
  {
    std::vector<float> local(16);
    put(torch::from_blob(local.data(), {16}), &a);
    putInto(torch::from_blob(local.data(), {16}), b);
  }
  put(x, &a);
  putInto(x, b);
}

// Another owner may keep the container.
using Shared = std::shared_ptr<std::vector<float>>;
struct WithOwner {
  Shared owner;
  Tensor t;
};
std::vector<Shared> owners;
void hand(const Shared &);
Shared other();
Tensor kept_by_another() {
  auto v = std::make_shared<std::vector<float>>(10);
  owners.push_back(v);
  return torch::from_blob(v->data(), {10});
}
Tensor kept_by_deleter() {
  auto v = std::make_shared<std::vector<float>>(10);
  return torch::from_blob(v->data(), {10}, [v](void *) {});
}
Tensor kept_by_static() {
  auto v = std::make_shared<std::vector<float>>(10);
  static auto w = v;
  return torch::from_blob(v->data(), {10});
}
WithOwner kept_beside() {
  auto v = std::make_shared<std::vector<float>>(10);
  return {v, torch::from_blob(v->data(), {10})};
}
Tensor kept_perhaps() {
  auto v = std::make_shared<std::vector<float>>(10);
  hand(v);
  return torch::from_blob(v->data(), {10});
}
Tensor another() {
  auto v = std::make_shared<std::vector<float>>(10);
  v = other();
  return torch::from_blob(v->data(), {10});
}
Tensor moved() {
  auto v = std::make_unique<std::vector<float>>(10);
  auto t = torch::from_blob(v->data(), {10});
  static auto kept = std::move(v);
  return t;
}

// Where something is inserted is a place, and reads no element.
void inserted_and_replaced(const Tensor &x, std::vector<Tensor> &all) {
  for (int i = 0; i < 2; ++i) {
    std::vector<float> v(10);
    all.insert(all.end(), torch::from_blob(v.data(), {10}));
  }
  all = {x, x};
}
