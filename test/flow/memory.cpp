// RUN: %flow-facts --memory %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// What functions do to the memory of their arguments, and what dangles.

#include <torch/torch.h>

using torch::Tensor;

const float *data(const Tensor &t) { return t.data_ptr<float>(); }
const float *deeper(Tensor t) { return data(t.view({-1})); }
torch::IntArrayRef shape(const Tensor &t) { return t.sizes(); }
Tensor wrap(float *p) { return torch::from_blob(p, {4}); }
Tensor wrapMaybe(std::vector<float> &v, bool copy) {
  Tensor t = torch::from_blob(v.data(), {4});
  if (copy)
    return t.clone();
  return t;
}
void collect(std::vector<Tensor> &all, std::vector<float> &v) {
  all.push_back(torch::from_blob(v.data(), {4}));
}
void enlarge(Tensor &t, bool more) {
  if (more)
    t.resize_({8});
}
void release(float *p) { delete[] p; }
void releaseMaybe(float *p, bool own) {
  if (own)
    delete[] p;
}
struct Row {
  const float *first = nullptr;
  void set(const Tensor &t) { first = data(t); }
};
// Copies, and what nobody hands out.
std::vector<float> copied(const Tensor &t) {
  const float *p = t.data_ptr<float>();
  return {p, p + 4};
}
Tensor cloned(std::vector<float> &v) { return wrap(v.data()).clone(); }

void joins(Tensor x, bool one) {
  const float *p = data(x);
  {
    Tensor y = x + 1;
    if (one)
      p = data(y);
  }
  p[0];
}

// CHECK: 9: function data
// CHECK-NEXT: 9: the result keeps a pointer into t
// CHECK-NEXT: 10: function deeper
// CHECK-NEXT: 10: the result keeps a pointer into t
// CHECK-NEXT: 11: function shape
// CHECK-NEXT: 11: the result keeps the shape of t
// CHECK-NEXT: 12: function wrap
// CHECK-NEXT: 12: the result keeps a tensor over p
// CHECK-NEXT: 13: function wrapMaybe
// CHECK-NEXT: 13: the result keeps a tensor over v, likely
// CHECK-NEXT: 19: function collect
// CHECK-NEXT: 19: all[*] keeps a tensor over v
// CHECK-NEXT: 22: function enlarge
// CHECK-NEXT: 22: resizes t
// CHECK-NEXT: 26: function release
// CHECK-NEXT: 26: frees p
// CHECK-NEXT: 33: function Row::set
// CHECK-NEXT: 33: this.first keeps a pointer into t
// CHECK-NEXT: 47: a pointer into y, out of scope, kept by p, used in line 49
