// The notes say who owned the memory, when it went, and who reads it then.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/torch.h>

using torch::Tensor;
void read(const float *);

float *story(Tensor x, bool more) {
  Tensor t = torch::zeros({4});
  float *p = t.data_ptr<float>();
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into 't', whose memory may move when it is resized; take it again after that [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE-3]]:10: note: 't' owns the memory
  // CHECK-NOTES: :[[@LINE+8]]:5: note: 't' is resized here
  // CHECK-NOTES: :[[@LINE+10]]:8: note: 'p' is used here
  float *q = t.data_ptr<float>();
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: dangling pointer: 'q' points into 't', whose memory may move when it is resized; take it again after that [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE-8]]:10: note: 't' owns the memory
  // CHECK-NOTES: :[[@LINE+3]]:5: note: 't' is resized here
  // CHECK-NOTES: :[[@LINE+3]]:8: note: 'q' is used here
  if (more)
    t.resize_({100});
  read(q);
  t = torch::ones({8});
  read(p);
  const float *r = nullptr;
  {
    Tensor inner = x * 2;
    r = inner.data_ptr<float>();
    // CHECK-NOTES: :[[@LINE-1]]:9: warning: dangling pointer: 'r' points into 'inner', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
    // CHECK-NOTES: :[[@LINE-3]]:12: note: 'inner' owns the memory
    // CHECK-NOTES: :[[@LINE+2]]:3: note: 'inner' goes out of scope here
    // CHECK-NOTES: :[[@LINE+2]]:8: note: 'r' is used here
  }
  read(r);
  auto sizes = (x * 2).sizes();
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: dangling reference: 'sizes' refers to the sizes of a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:16: note: 'sizes' is used here
  // CHECK-FIXES: auto sizes_tensor = x * 2;
  // CHECK-FIXES: auto sizes = sizes_tensor.sizes();
  std::cout << sizes;
  auto last = torch::exp(x);
  float *result = last.data_ptr<float>();
  // CHECK-NOTES: :[[@LINE-1]]:19: warning: dangling pointer: what is returned points into 'last', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE-3]]:8: note: 'last' owns the memory
  // CHECK-NOTES: :[[@LINE+1]]:3: note: it is returned here
  return result;
}

const float *lent_by(const Tensor &t) { return t.data_ptr<float>(); }
void lent(Tensor x) {
  const float *p = lent_by(x * 2);
  // CHECK-NOTES: :[[@LINE-1]]:20: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE-4]]:14: note: 'lent_by' hands out memory of its argument
  // CHECK-NOTES: :[[@LINE+3]]:8: note: 'p' is used here
  // CHECK-FIXES: auto p_tensor = x * 2;
  // CHECK-FIXES: const float *p = lent_by(p_tensor);
  read(p);
}

float number(float scale) {
  torch::ArrayRef<float> one(scale * 2);
  // CHECK-NOTES: :[[@LINE-1]]:26: warning: dangling reference: 'one' refers to a temporary number that is destroyed at the end of this statement; keep the number in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+1]]:10: note: 'one' is used here
  return one[0];
}
