// Memory from new or malloc below a tensor that does not own it, and that nothing frees.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

using torch::Tensor;
void unseen(float *);

// Copied, and forgotten: each parameter leaks its bytes.
void load(torch::nn::Module &net, std::ifstream &in) {
  torch::NoGradGuard no_grad;
  for (auto &p : net.parameters()) {
    long length = p.numel() * 4;
    char *bytes = new char[length];
    // CHECK-MESSAGES: :[[@LINE+4]]:19: warning: memory leak: nothing frees the memory of 'bytes', and the tensor over it does not own it; pass from_blob a deleter that frees it [libtorch-dangling-from-blob]
    // CHECK-MESSAGES: :[[@LINE-2]]:19: note: it is allocated here
    // CHECK-FIXES: auto tensor = torch::from_blob(reinterpret_cast<void *>(bytes), p.sizes(), [](void *memory) { delete[] static_cast<char *>(memory); }, p.options());
    in.read(bytes, length);
    auto tensor = torch::from_blob(reinterpret_cast<void *>(bytes), p.sizes(), p.options());
    p.copy_(tensor);
  }
}
Tensor returned(int64_t n) {
  float *values = new float[n];
  for (int64_t i = 0; i < n; ++i)
    values[i] = i;
  return torch::from_blob(values, {n}, {1});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory leak: nothing frees the memory of 'values'
  // CHECK-FIXES: return torch::from_blob(values, {n}, {1}, [](void *memory) { delete[] static_cast<float *>(memory); });
}
Tensor of_malloc(int64_t n, const float *from) {
  auto *values = static_cast<float *>(std::malloc(n * sizeof(float)));
  if (!values)
    throw std::bad_alloc();
  std::memcpy(values, from, n * sizeof(float));
  return torch::from_blob(values, {n}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory leak: nothing frees the memory of 'values'
  // CHECK-FIXES: return torch::from_blob(values, {n}, [](void *memory) { free(memory); }).clone();
}
Tensor in_place() {
  return torch::from_blob(new float[4](), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory leak: nothing frees what is allocated here, and the tensor over it does not own it; pass from_blob a deleter that frees it [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(new float[4](), {4}, [](void *memory) { delete[] static_cast<float *>(memory); });
}

// A function of the file that only writes through the pointer.
static void fill(float *to, int n) {
  for (int i = 0; i < n; ++i)
    to[i] = 1;
}
Tensor filled() {
  float *values = new float[4];
  fill(values, 4);
  return torch::from_blob(values, {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory leak: nothing frees the memory of 'values'
  // CHECK-FIXES: return torch::from_blob(values, {4}, [](void *memory) { delete[] static_cast<float *>(memory); });
}

// Two tensors over it, or more reads: a deleter could free it too early.
float twice() {
  float *values = new float[4]();
  auto a = torch::from_blob(values, {2});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory leak: nothing frees the memory of 'values'
  // CHECK-FIXES: auto a = torch::from_blob(values, {2});
  auto b = torch::from_blob(values + 2, {2});
  return (a + b).sum().item<float>();
}
float read_later() {
  float *values = new float[4]();
  auto a = torch::from_blob(values, {4}).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory leak: nothing frees the memory of 'values'
  // CHECK-FIXES: auto a = torch::from_blob(values, {4}).clone();
  return values[0];
}
void one_for_all(std::vector<Tensor> &all, int n) {
  float *values = new float[4]();
  for (int i = 0; i < n; ++i)
    all.push_back(torch::from_blob(values, {4}).clone());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: memory leak: nothing frees the memory of 'values'
  // CHECK-FIXES: all.push_back(torch::from_blob(values, {4}).clone());
}

// Somebody frees it, or may.
Tensor owned() {
  float *values = new float[4]();
  std::unique_ptr<float[]> owner(values);
  return torch::from_blob(values, {4}).clone();
}
Tensor adopted() {
  std::unique_ptr<float[]> owner;
  float *values = new float[4]();
  owner.reset(values);
  return torch::from_blob(values, {4}).clone();
}
Tensor by_hand(bool small) {
  float *values = new float[4]();
  Tensor t = torch::from_blob(values, {4}).clone();
  if (small)
    delete[] values;
  return t;
}
struct Reader {
  float *kept = nullptr;
  Tensor read() {
    float *values = new float[4]();
    kept = values;
    return torch::from_blob(values, {4});
  }
  Tensor again() { return torch::from_blob(kept, {4}); }
  ~Reader() { delete[] kept; }
};
Tensor listed(std::vector<float *> &all) {
  float *values = new float[4]();
  all.push_back(values);
  return torch::from_blob(values, {4});
}
Tensor handed_over() {
  float *values = new float[4]();
  unseen(values);
  return torch::from_blob(values, {4});
}
Tensor with_deleter() {
  float *values = new float[4]();
  return torch::from_blob(values, {4}, [](void *p) { delete[] static_cast<float *>(p); });
}
Tensor captured(std::vector<std::function<void()>> &later) {
  float *values = new float[4]();
  later.push_back([values] { delete[] values; });
  return torch::from_blob(values, {4});
}
Tensor another_name() {
  float *values = new float[4]();
  float *same = values;
  Tensor t = torch::from_blob(values, {4}).clone();
  delete[] same;
  return t;
}
Tensor out(float **to) {
  float *values = new float[4]();
  *to = values;
  return torch::from_blob(values, {4});
}
Tensor of_caller(float *values) { return torch::from_blob(values, {4}); }
Tensor of_static() {
  static float *values = new float[4]();
  return torch::from_blob(values, {4});
}
Tensor placed(void *memory) {
  float *values = new (memory) float[4];
  return torch::from_blob(values, {4});
}

// As long as the program.
int main() {
  float *table = new float[4]();
  return torch::from_blob(table, {4}).sum().item<int>();
}
