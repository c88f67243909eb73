// Deleters that keep nothing, that free what others free, and objects that free what
// the tensor reads.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

#include <cstdlib>
#include <memory>
#include <vector>

using torch::Tensor;
void use(const Tensor &);

struct Array {
  std::shared_ptr<std::vector<int>> data;
};
Tensor keeps_another(Array array) {
  auto values = *array.data;
  return torch::from_blob(values.data(), {4}, [array](void *) {}, torch::kInt);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'values', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(values.data(), {4}, [array](void *) {}, torch::kInt).clone();
}
Tensor does_nothing() {
  float values[4] = {1, 2, 3, 4};
  return torch::from_blob(values, {4}, [](void *) {});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'values'
  // CHECK-FIXES: return torch::from_blob(values, {4}, [](void *) {}).clone();
}

void by_hand() {
  float *data = new float[16];
  auto t = torch::from_blob(data, {16}, [](void *p) { delete[] static_cast<float *>(p); });
  use(t);
  delete[] data;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: double free: 'data' is freed here, and by the deleter of the tensor over it, too; leave it to one of them [libtorch-dangling-from-blob]
}
void by_function(bool failed) {
  auto *data = static_cast<float *>(std::malloc(64));
  auto t = torch::from_blob(data, {16}, std::free);
  if (failed) {
    std::free(data);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: double free: 'data' is freed here
    return;
  }
  use(t);
}
Tensor in_handler(int64_t n) {
  auto *data = static_cast<char *>(std::malloc(n));
  try {
    auto t = torch::from_blob(data, {n}, [](void *p) { std::free(p); }, torch::kByte);
    return t.view(torch::kFloat32);
  } catch (const c10::Error &) {
    std::free(data);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: double free: 'data' is freed here
    return {};
  }
}
void on_some_ways(bool wrap) {
  float *data = new float[16];
  if (wrap) {
    auto t = torch::from_blob(data, {16}, [data](void *) { delete[] data; });
    use(t);
  }
  delete[] data;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: double free: 'data' is freed here
}
void owned() {
  std::vector<float> values(16);
  use(torch::from_blob(values.data(), {16}, [](void *p) { std::free(p); }));
  // CHECK-MESSAGES: :[[@LINE-1]]:45: warning: double free: the deleter of the tensor frees the memory of 'values', which frees it, too; leave it to one of them
  std::unique_ptr<float[]> array(new float[16]);
  use(torch::from_blob(array.get(), {16}, [](void *p) { delete[] static_cast<float *>(p); }));
  // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: double free: the deleter of the tensor frees the memory of 'array', which frees it, too; leave it to one of them
}

struct Loader {
  explicit Loader(int n) : buffer(new float[n]) {}
  Loader(const Loader &) = delete;
  ~Loader() { delete[] buffer; }
  float *data() { return buffer; }
  float *buffer;
};
struct Checked {
  ~Checked() {
    if (buffer)
      std::free(buffer);
  }
  float *buffer = nullptr;
};
Tensor from_loader() {
  Loader loader(4);
  return torch::from_blob(loader.buffer, {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'loader', which is destroyed when the function returns; return a clone()
  // CHECK-FIXES: return torch::from_blob(loader.buffer, {4}).clone();
}
Tensor from_method() {
  Loader loader(4);
  Tensor t = torch::from_blob(loader.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling tensor: the returned tensor uses the memory of 'loader'
  // CHECK-FIXES: Tensor t = torch::from_blob(loader.data(), {4}).clone();
  return t;
}
Tensor from_checked() {
  Checked loader;
  return torch::from_blob(loader.buffer, {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'loader'
  // CHECK-FIXES: return torch::from_blob(loader.buffer, {4}).clone();
}

// Right: silent.
Tensor keeps_it(Array array) {
  return torch::from_blob(array.data->data(), {4}, [array](void *) {}, torch::kInt);
}
Tensor keeps_values(std::vector<float> values) {
  auto *held = new std::vector<float>(std::move(values));
  return torch::from_blob(held->data(), {4}, [held](void *) { delete held; });
}
Tensor moves_values(std::vector<float> values) {
  float *data = values.data();
  return torch::from_blob(data, {4}, [values = std::move(values)](void *) {});
}
Tensor frees_once() {
  float *data = new float[4];
  return torch::from_blob(data, {4}, [](void *p) { delete[] static_cast<float *>(p); });
}
Tensor frees_before(bool failed) {
  float *data = new float[4];
  if (failed) {
    delete[] data;
    return {};
  }
  return torch::from_blob(data, {4}, [](void *p) { delete[] static_cast<float *>(p); });
}
void other_memory() {
  float *data = new float[4];
  auto t = torch::from_blob(data, {4}, [](void *p) { delete[] static_cast<float *>(p); });
  data = new float[8];
  use(t);
  delete[] data;
}
Tensor released() {
  std::unique_ptr<float[]> array(new float[4]);
  Tensor t = torch::from_blob(array.get(), {4}, [](void *p) { delete[] static_cast<float *>(p); });
  array.release();
  return t;
}
struct Lends {
  explicit Lends(float *to) : buffer(to) {}
  ~Lends() { use({}); }
  float *buffer;
};
struct OwnsPerhaps {
  ~OwnsPerhaps() {
    if (owns)
      delete[] buffer;
  }
  float *buffer;
  bool owns;
};
Tensor lent(float *memory) {
  Lends lends(memory);
  return torch::from_blob(lends.buffer, {4});
}
Tensor perhaps(OwnsPerhaps memory) { return torch::from_blob(memory.buffer, {4}); }
float read_here() {
  Loader loader(4);
  return torch::from_blob(loader.buffer, {4}).sum().item<float>();
}

// A copy would read past the end, too.
Tensor past_the_end(int h, int w) {
  std::vector<uint8_t> data(h * w * 3);
  return torch::from_blob(data.data(), {h, w, 3});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'data', which is destroyed when the function returns; return a clone()
  // CHECK-FIXES: return torch::from_blob(data.data(), {h, w, 3});
}
Tensor enough(int h, int w) {
  std::vector<uint8_t> data(h * w * 3);
  return torch::from_blob(data.data(), {h, w, 3}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'data'
  // CHECK-FIXES: return torch::from_blob(data.data(), {h, w, 3}, torch::kByte).clone();
}
