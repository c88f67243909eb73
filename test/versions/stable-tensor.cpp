// torch::stable::Tensor, the tensor of extensions that keep working with later
// versions: memory of temporaries, of buffers, releases by hand, what is read as one
// piece, counts of bytes, results that are dropped.
// REQUIRES: libtorch-2.14
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data,libtorch-dangling-from-blob,libtorch-manual-release,libtorch-strided-access,libtorch-element-size,libtorch-discarded-result %t --torch-flags "%torch-2.14-flags"

#include <cstdlib>
#include <cstring>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/TensorAccessor.h>
#include <vector>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;
void read(const void *);
Tensor make();
void keep(const Tensor &);

void temporaries(const Tensor &x) {
  void *p = torch::stable::clone(x).data_ptr();
  // CHECK-NOTES: :[[@LINE-1]]:13: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:8: note: 'p' is used here
  // CHECK-FIXES: auto p_tensor = torch::stable::clone(x);
  // CHECK-FIXES: void *p = p_tensor.data_ptr();
  read(p);
  const float *q = torch::stable::empty_like(x).const_data_ptr<float>();
  // CHECK-NOTES: :[[@LINE-1]]:20: warning: dangling pointer: 'q' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:8: note: 'q' is used here
  // CHECK-FIXES: auto q_tensor = torch::stable::empty_like(x);
  // CHECK-FIXES: const float *q = q_tensor.const_data_ptr<float>();
  read(q);
  float *row = torch::stable::select(torch::stable::clone(x), 0, 1).mutable_data_ptr<float>();
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: dangling pointer: 'row' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:8: note: 'row' is used here
  // CHECK-FIXES: auto row_tensor = torch::stable::select(torch::stable::clone(x), 0, 1);
  // CHECK-FIXES: float *row = row_tensor.mutable_data_ptr<float>();
  read(row);
  auto sizes = torch::stable::transpose(x, 0, 1).sizes();
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: dangling reference: 'sizes' refers to the sizes of a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:9: note: 'sizes' is used here
  // CHECK-FIXES: auto sizes_tensor = torch::stable::transpose(x, 0, 1);
  // CHECK-FIXES: auto sizes = sizes_tensor.sizes();
  read(&sizes[0]);
  // In one statement, or of a tensor that has a name.
  read(torch::stable::clone(x).data_ptr());
  Tensor named = torch::stable::clone(x);
  read(named.data_ptr());
  // A view of what lives on has its memory.
  void *view = torch::stable::select(x, 0, 1).data_ptr();
  read(view);
}

void assigned(const Tensor &x) {
  Tensor t = torch::stable::clone(x);
  auto *p = static_cast<float *>(t.data_ptr());
  // CHECK-NOTES: :[[@LINE-1]]:34: warning: dangling pointer: 'p' points into the tensor that 't' held before it was assigned again; take it again after the assignment [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE-3]]:10: note: 't' owns the memory
  // CHECK-NOTES: :[[@LINE+2]]:3: note: 't' is reassigned here, which frees the old tensor
  // CHECK-NOTES: :[[@LINE+2]]:8: note: 'p' is used here
  t = torch::stable::empty_like(x);
  read(p);
}

void accessors(const Tensor &x) {
  using Accessor = torch::headeronly::HeaderOnlyTensorAccessor<float, 1>;
  int64_t size = 3, stride = 1;
  Accessor a(static_cast<float *>(torch::stable::clone(x).data_ptr()), &size, &stride);
  // CHECK-NOTES: :[[@LINE-1]]:35: warning: dangling pointer: 'a' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:9: note: 'a' is used here
  // CHECK-FIXES: auto a_tensor = torch::stable::clone(x);
  // CHECK-FIXES: Accessor a(static_cast<float *>(a_tensor.data_ptr()), &size, &stride);
  read(&a[0]);
  Tensor named = torch::stable::clone(x);
  Accessor b(static_cast<float *>(named.data_ptr()), &size, &stride);
  read(&b[0]);
}

Tensor blob() {
  std::vector<float> values(6);
  return torch::stable::from_blob(values.data(), {2, 3}, {3, 1}, torch::stable::Device("cpu"), ScalarType::Float);
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'values', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-NOTES: :[[@LINE-3]]:22: note: 'values' owns the memory
}
Tensor blobCopied() {
  std::vector<float> values(6);
  return torch::stable::clone(torch::stable::from_blob(values.data(), {2, 3}, {3, 1}, torch::stable::Device("cpu"), ScalarType::Float));
}
Tensor blobWithDeleter() {
  auto *values = new std::vector<float>(6);
  return torch::stable::from_blob(values->data(), {2, 3}, {3, 1}, torch::stable::Device("cpu"), ScalarType::Float, [values](void *) { delete values; });
}
void blobUsed() {
  std::vector<float> values(6);
  keep(torch::stable::from_blob(values.data(), {2, 3}, {3, 1}, torch::stable::Device("cpu"), ScalarType::Float));
}

void released() {
  Tensor x = torch::stable::empty({100});
  std::free(x.data_ptr());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: free() releases the memory of 'x', which LibTorch owns: its allocator releases it again, or hands it out again; it is freed with the last tensor that uses it [libtorch-manual-release]
}

void columns(Tensor &x, std::vector<float> &values) {
  Tensor y = torch::stable::narrow(x, 1, 0, 2);
  std::memcpy(values.data(), y.const_data_ptr<float>(), y.numel() * sizeof(float));
  // CHECK-NOTES: :[[@LINE-1]]:30: warning: wrong bytes: 'memcpy' copies the bytes of 'y' as they lie in memory, but 'narrow' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-NOTES: :[[@LINE-3]]:14: note: 'narrow' changes the strides here
  // CHECK-FIXES: auto y_packed = torch::stable::contiguous(y);
  // CHECK-FIXES: std::memcpy(values.data(), y_packed.const_data_ptr<float>(), y.numel() * sizeof(float));
  Tensor packed = torch::stable::contiguous(y);
  std::memcpy(values.data(), packed.const_data_ptr<float>(), packed.numel() * sizeof(float));
}

void counted(const Tensor &x, std::vector<float> &values) {
  std::memcpy(values.data(), x.const_data_ptr<float>(), x.numel());
  // CHECK-NOTES: :[[@LINE-1]]:57: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 'x'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(values.data(), x.const_data_ptr<float>(), x.numel() * sizeof(float));
  std::memcpy(values.data(), x.data_ptr(), x.numel() * x.element_size());
}

void dropped(Tensor &x) {
  torch::stable::contiguous(x);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: no effect: the result of 'contiguous' is discarded; 'x' stays as it is [libtorch-discarded-result]
  // CHECK-FIXES: x = torch::stable::contiguous(x);
  torch::stable::zero_(x);
}
