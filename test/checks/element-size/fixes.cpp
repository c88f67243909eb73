// Numbers of bytes that count elements, or the value that names their type.
// RUN: %check_libtorch_tidy %s libtorch-element-size %t

#include <torch/torch.h>

#include <cstring>
#include <fstream>
#include <vector>

std::vector<float> values(const torch::Tensor &t) {
  std::vector<float> v(t.numel());
  std::memcpy(v.data(), t.data_ptr(), sizeof(torch::kFloat32) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: wrong byte count: 'sizeof(torch::kFloat32)' is 1, the size of the value that names the element type, not of an element, which has 4 bytes; use 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(v.data(), t.data_ptr(), sizeof(float) * t.numel());
  std::memcpy(v.data(), t.data_ptr(), t.numel() * sizeof torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: wrong byte count: 'sizeof torch::kFloat' is 1, the size of the value that names the element type, not of an element, which has 4 bytes; use 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(v.data(), t.data_ptr(), t.numel() * sizeof(float));
  return v;
}

void doubles(double *to, const torch::Tensor &t, torch::Tensor *p) {
  std::memcpy(to, t.data_ptr(), sizeof(at::kDouble) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: wrong byte count: 'sizeof(at::kDouble)' is 1, the size of the value that names the element type, not of an element, which has 8 bytes; use 'sizeof(double)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr(), sizeof(double) * t.numel());
  std::memcpy(to, t.data_ptr(), sizeof(t.scalar_type()) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: wrong byte count: 'sizeof(t.scalar_type())' is 1, the size of the value that names the element type, not of an element; use 't.element_size()' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr(), t.element_size() * t.numel());
  std::memcpy(to, p->data_ptr(), sizeof(p->scalar_type()) * p->numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: wrong byte count: 'sizeof(p->scalar_type())' is 1, the size of the value that names the element type, not of an element; use 'p->element_size()' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, p->data_ptr(), p->element_size() * p->numel());
  std::memcpy(to, t.data_ptr(), sizeof(t.dtype()) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: wrong byte count: 'sizeof(t.dtype())' is 2, the size of the value that names the element type, not of an element; use 't.element_size()' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr(), t.element_size() * t.numel());
}

// How many elements is divided, and kept in a constant.
size_t elements(size_t Bytes) { return Bytes / sizeof(torch::kInt64); }
// CHECK-MESSAGES: :[[@LINE-1]]:48: warning: wrong byte count: 'sizeof(torch::kInt64)' is 1, the size of the value that names the element type, not of an element, which has 8 bytes; use 'sizeof(int64_t)' [libtorch-element-size]
// CHECK-FIXES: size_t elements(size_t Bytes) { return Bytes / sizeof(int64_t); }
constexpr auto Type = torch::kInt32;
torch::Tensor made() { return torch::zeros({3}, Type); }
constexpr size_t Stride = 3 * sizeof(Type);
// CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wrong byte count: 'sizeof(Type)' is 1, the size of the value that names the element type, not of an element, which has 4 bytes; use 'sizeof(int32_t)' [libtorch-element-size]
// CHECK-FIXES: constexpr size_t Stride = 3 * sizeof(int32_t);

// The number of elements is no number of bytes.
void counted(float *to, const torch::Tensor &t, std::ostream &out) {
  std::memcpy(to, t.data_ptr<float>(), t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 't'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr<float>(), t.numel() * sizeof(float));
  const auto n = t.numel();
  memmove(to, t.data_ptr<float>(), static_cast<size_t>(n));
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: wrong byte count: 'memmove' takes bytes, and gets the number of elements of 't'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: memmove(to, t.data_ptr<float>(), static_cast<size_t>(n) * sizeof(float));
  out.write(reinterpret_cast<const char *>(t.data_ptr<float>()), t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:68: warning: wrong byte count: 'write' takes bytes, and gets the number of elements of 't'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: out.write(reinterpret_cast<const char *>(t.data_ptr<float>()), t.numel() * sizeof(float));
}

// It is multiplied by the size of another type.
void others(char *to, const torch::Tensor &t) {
  std::memcpy(to, t.data_ptr<int64_t>(), t.numel() * sizeof(int));
  // CHECK-MESSAGES: :[[@LINE-1]]:52: warning: wrong byte count: 'memcpy' takes bytes, and gets 4 for each element of 't'; each has 8 bytes ('int64_t'), so a part of them is left out; multiply by 'sizeof(int64_t)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr<int64_t>(), t.numel() * sizeof(int64_t));
  std::memcpy(to, t.data_ptr<float>(), sizeof(double) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:55: warning: wrong byte count: 'memcpy' takes bytes, and gets 8 for each element of 't'; each has 4 bytes ('float'), so it goes past the end; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr<float>(), sizeof(float) * t.numel());
}

// The dtype says it, where the pointers do not.
void by_dtype(unsigned char *to, const torch::Tensor &image) {
  auto zeros = (image > 0).to(torch::kFloat32);
  std::memcpy(to, zeros.data_ptr(), zeros.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 'zeros'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, zeros.data_ptr(), zeros.numel() * sizeof(float));
  auto wide = image.to(torch::kFloat64).contiguous();
  std::memcpy(to, wide.data_ptr(), wide.numel() * sizeof(float));
  // CHECK-MESSAGES: :[[@LINE-1]]:49: warning: wrong byte count: 'memcpy' takes bytes, and gets 4 for each element of 'wide'; each has 8 bytes ('double'), so a part of them is left out; multiply by 'sizeof(double)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, wide.data_ptr(), wide.numel() * sizeof(double));
}

// Products of sizes count elements, and so does the size of a container.
void by_sizes(unsigned char *to, const torch::Tensor &t) {
  std::memcpy(to, t.data_ptr<float>(), t.size(0) * t.size(1));
  // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 't'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr<float>(), t.size(0) * t.size(1) * sizeof(float));
  const auto h = t.size(1), w = t.size(2);
  std::memcpy(to, t.data_ptr<double>(), sizeof(float) * h * w * 3);
  // CHECK-MESSAGES: :[[@LINE-1]]:63: warning: wrong byte count: 'memcpy' takes bytes, and gets 4 for each element of 't'; each has 8 bytes ('double'), so a part of them is left out; multiply by 'sizeof(double)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr<double>(), sizeof(double) * h * w * 3);
}
void from_vector(torch::Tensor t, const std::vector<float> &v) {
  std::memcpy(t.data_ptr<float>(), v.data(), v.size());
  // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 'v'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(t.data_ptr<float>(), v.data(), v.size() * sizeof(float));
}

// What a factory was asked for.
void by_factory(unsigned char *to, torch::Tensor like) {
  auto counts = torch::zeros({4}, torch::kLong);
  std::memcpy(to, counts.data_ptr(), counts.numel() * sizeof(float));
  // CHECK-MESSAGES: :[[@LINE-1]]:53: warning: wrong byte count: 'memcpy' takes bytes, and gets 4 for each element of 'counts'; each has 8 bytes ('int64_t'), so a part of them is left out; multiply by 'sizeof(int64_t)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, counts.data_ptr(), counts.numel() * sizeof(int64_t));
  auto full = torch::full({4}, 1, torch::dtype(torch::kFloat64).requires_grad(false));
  std::memcpy(to, full.data_ptr(), full.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 'full'; each has 8 bytes ('double'), so a part of them is left out; multiply by 'sizeof(double)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, full.data_ptr(), full.numel() * sizeof(double));
  auto drawn = torch::randint(0, 5, {3});
  std::memcpy(to, drawn.data_ptr(), drawn.numel() * sizeof(int));
  // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: wrong byte count: 'memcpy' takes bytes, and gets 4 for each element of 'drawn'; each has 8 bytes ('int64_t'), so a part of them is left out; multiply by 'sizeof(int64_t)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, drawn.data_ptr(), drawn.numel() * sizeof(int64_t));
}

// The size of an element of another tensor.
void by_another(unsigned char *to) {
  auto values = torch::zeros({8}, torch::kFloat);
  auto counts = torch::zeros({8}, torch::kLong);
  std::memcpy(to, counts.data_ptr(), counts.numel() * values.element_size());
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: wrong byte count: 'memcpy' takes bytes, and gets 4 for each element of 'counts'; each has 8 bytes ('int64_t'), so a part of them is left out; multiply by 'sizeof(int64_t)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, counts.data_ptr(), counts.numel() * sizeof(int64_t));
  std::memcpy(to, values.data_ptr<float>(), values.numel() * counts.dtype().itemsize());
  // CHECK-MESSAGES: :[[@LINE-1]]:60: warning: wrong byte count: 'memcpy' takes bytes, and gets 8 for each element of 'values'; each has 4 bytes ('float'), so it goes past the end; multiply by 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, values.data_ptr<float>(), values.numel() * sizeof(float));
}

template <typename T> void copied(T *to, const torch::Tensor &t) {
  std::memcpy(to, t.data_ptr<T>(), sizeof(t.scalar_type()) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: wrong byte count: 'sizeof(t.scalar_type())' is 1, the size of the value that names the element type, not of an element; use 't.element_size()' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(to, t.data_ptr<T>(), t.element_size() * t.numel());
}
template void copied<float>(float *, const torch::Tensor &);
template void copied<int64_t>(int64_t *, const torch::Tensor &);
