// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/torch.h>

using torch::Tensor;
template <typename T> void read(const T *);

template <typename T> void all(Tensor x) {
  T *p = (x * 2).data_ptr<T>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = x * 2;
  // CHECK-FIXES: T *p = p_tensor.data_ptr<T>();
  read(p);
}
template void all<float>(Tensor);
template void all<double>(Tensor);
template <typename T> T *never_made(T x) { return (x * 2).data_ptr(); }

#define DOUBLED(X) ((X) * 2)
#define POINTER(T, X) (X).data_ptr<T>()

void macros(Tensor x) {
  auto *p = DOUBLED(x).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  read(p);
  auto *q = POINTER(float, x * 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: dangling pointer: 'q' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  read(q);
}

void lambdas(Tensor x) {
  auto f = [&] {
    auto *p = (x * 2).data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
    // CHECK-FIXES: auto p_tensor = x * 2;
    // CHECK-FIXES: auto *p = p_tensor.data_ptr<float>();
    read(p);
  };
  auto g = [](Tensor y) { return (y * 2).data_ptr<float>(); };
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: dangling pointer: what is returned points into a tensor that is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  f();
  read(g(x));
}

void labels(Tensor x, int what) {
  switch (what) {
  case 1:
    read(x.data_ptr<float>());
    float *p;
    p = (x * 2).data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
    read(p);
  }
  if (auto *p = (x * 2).data_ptr<float>())
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
    read(p);
}

void silenced(Tensor x) {
  auto *p = (x * 2).data_ptr<float>(); // NOLINT(libtorch-dangling-tensor-data)
  read(p);
}
