// A conversion that may find nothing to do, and its notes.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

using torch::Tensor;

Tensor moved(torch::Device device) {
  std::vector<float> v(10);
  auto t = torch::from_blob(v.data(), {10}).to(device);
  // CHECK-NOTES: :[[@LINE-1]]:12: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns, unless 'to' copies; return a clone() [libtorch-dangling-from-blob]
  // CHECK-NOTES: :[[@LINE-3]]:22: note: 'v' owns the memory
  // CHECK-NOTES: :[[@LINE+1]]:3: note: it is returned here
  return t;
}
Tensor contiguous(int n) {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {2, 5}).narrow(1, 0, n).contiguous();
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns, unless 'contiguous' copies; return a clone() [libtorch-dangling-from-blob]
  // CHECK-NOTES: :[[@LINE-3]]:22: note: 'v' owns the memory
}
Tensor one_row() {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {1, 10}).t().contiguous();
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns, unless 'contiguous' copies; return a clone() [libtorch-dangling-from-blob]
  // CHECK-NOTES: :[[@LINE-3]]:22: note: 'v' owns the memory
}
// What lies in another order is copied.
Tensor turned() {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {2, 5}).t().contiguous();
}
Tensor planes(int h, int w, int c, torch::Device device) {
  std::vector<float> v(h * w * c);
  auto pixels = torch::from_blob(v.data(), {h, w, c}).to(device);
  pixels = pixels.permute({2, 0, 1}).unsqueeze(0).contiguous();
  return pixels;
}
Tensor scoped(int n) {
  Tensor last;
  {
    std::vector<float> v(n);
    last = torch::from_blob(v.data(), {n});
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: dangling tensor: 'last' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-NOTES: :[[@LINE-3]]:24: note: 'v' owns the memory
    // CHECK-NOTES: :[[@LINE+3]]:3: note: 'v' goes out of scope here
    // CHECK-NOTES: :[[@LINE+3]]:10: note: 'last' is used here
    // CHECK-FIXES: last = torch::from_blob(v.data(), {n}).clone();
  }
  return last + 1;
}
float freed(int n) {
  auto *p = new float[n];
  auto t = torch::from_blob(p, {n});
  // CHECK-NOTES: :[[@LINE-1]]:12: warning: dangling tensor: 't' uses the memory of 'p', which is freed before the last use; clone() it, or free that later [libtorch-dangling-from-blob]
  // CHECK-NOTES: :[[@LINE-3]]:9: note: 'p' points to the memory
  // CHECK-NOTES: :[[@LINE+3]]:3: note: the memory is freed here
  // CHECK-NOTES: :[[@LINE+3]]:10: note: 't' is used here
  // CHECK-FIXES: auto t = torch::from_blob(p, {n}).clone();
  delete[] p;
  return t.sum().item<float>();
}
// The module may keep what it returned.
struct NetImpl : torch::nn::Module {
  Tensor forward(Tensor x);
};
TORCH_MODULE(Net);
Tensor of_module(Net net, Tensor x) {
  Tensor out = net(x);
  return torch::from_blob(out.data_ptr<float>(), {10});
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'out', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-NOTES: :[[@LINE-3]]:10: note: 'out' owns the memory
}
#define OVER(V) torch::from_blob((V).data(), {10})
Tensor macro() {
  std::vector<float> v(10);
  return OVER(v);
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'v', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-NOTES: :[[@LINE-3]]:22: note: 'v' owns the memory
}
Tensor silenced() {
  std::vector<float> v(10);
  return torch::from_blob(v.data(), {10}); // NOLINT(libtorch-dangling-from-blob)
}
