// Functions that hand out memory of their arguments, or move it.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/torch.h>

using torch::Tensor;
void read(const float *);
void look(torch::IntArrayRef);

const float *data_of(const Tensor &t) { return t.data_ptr<float>(); }
const float *by_value(Tensor t) { return t.data_ptr<float>(); }
const float *second_row(const Tensor &t) { return data_of(t[1].contiguous()); }
// CHECK-MESSAGES: :[[@LINE-1]]:51: warning: dangling pointer: what is returned points into a tensor that is destroyed when the function returns, when 'contiguous' has to copy; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
torch::IntArrayRef shape_of(const Tensor &t) { return t.sizes(); }
torch::IntArrayRef deeper(const Tensor &t) { return shape_of(t); }
torch::IntArrayRef as_list(const std::vector<int64_t> &v) { return v; }
const float *either(const Tensor &a, const Tensor &b, bool first) {
  if (first)
    return a.data_ptr<float>();
  return b.data_ptr<float>();
}
const float *first_of(const Tensor &t, int depth) {
  if (depth > 0)
    return first_of(t, depth - 1);
  return data_of(t);
}
void enlarge(Tensor &t) { t.resize_({100}); }
std::vector<int64_t> shape();

void temporaries(Tensor x) {
  const float *p = data_of(x * 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = x * 2;
  // CHECK-FIXES: const float *p = data_of(p_tensor);
  read(p);
  const float *q = by_value(x * 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'q' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto q_tensor = x * 2;
  // CHECK-FIXES: const float *q = by_value(q_tensor);
  read(q);
  auto sizes = deeper(x * 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: dangling reference: 'sizes' refers to the sizes of a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto sizes_tensor = x * 2;
  // CHECK-FIXES: auto sizes = deeper(sizes_tensor);
  look(sizes);
  auto list = as_list(shape());
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling reference: 'list' refers to a temporary container that is destroyed at the end of this statement; keep the container in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto list_values = shape();
  // CHECK-FIXES: auto list = as_list(list_values);
  look(list);
}
void recursive(Tensor x) {
  const float *p = first_of(x * 2, 3);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = x * 2;
  // CHECK-FIXES: const float *p = first_of(p_tensor, 3);
  read(p);
}
const float *locals(Tensor x) {
  Tensor t = x * 2;
  return data_of(t);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling pointer: what is returned points into 't', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}
torch::IntArrayRef list() {
  std::vector<int64_t> v = shape();
  return as_list(v);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling reference: what is returned refers to 'v', which is destroyed when the function returns; return a copy [libtorch-dangling-tensor-data]
}
void one_of_them(Tensor x, Tensor y) {
  const float *p = either(x, y + 1, false);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = y + 1;
  // CHECK-FIXES: const float *p = either(x, p_tensor, false);
  read(p);
  const float *q = either(y + 1, x, false);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'q' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto q_tensor = y + 1;
  // CHECK-FIXES: const float *q = either(q_tensor, x, false);
  read(q);
  const float *r = either(x, y, true);
  read(r);
}
void resized(Tensor x) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into 't', whose memory may move when it is resized; take it again after that [libtorch-dangling-tensor-data]
  enlarge(t);
  read(p);
}
struct Rows {
  const float *row = nullptr;
  void set(const Tensor &t) { row = t.data_ptr<float>(); }
  void fill(Tensor x) {
    Tensor t = x * 2;
    set(t);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: dangling pointer: 'row' points into 't', which is destroyed when the function returns; keep the tensor, too [libtorch-dangling-tensor-data]
  }
};

// The argument lives on, is used in the same expression, or may be another.
void living(Tensor x, Rows &rows) {
  const float *p = data_of(x);
  read(p), read(data_of(x * 2)), look(deeper(x * 2));
  Tensor t = x * 2;
  const float *q = data_of(t);
  read(q);
  rows.set(x);
}
const float *data_of_argument(const Tensor &t) { return data_of(t); }
struct Base {
  virtual ~Base();
  virtual const float *data(const Tensor &t) const {
    return t.data_ptr<float>();
  }
};
void overridden(const Base &base, Tensor x) {
  const float *p = base.data(x * 2);
  read(p);
}
std::vector<float> copy_of(const Tensor &t) {
  const float *p = t.data_ptr<float>();
  return {p, p + t.numel()};
}
void copies(Tensor x) {
  auto values = copy_of(x * 2);
  read(values.data());
}
