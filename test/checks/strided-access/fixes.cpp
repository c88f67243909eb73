// Memory of tensors that do not lie in order, read as one piece.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

using torch::Tensor;
using torch::indexing::Slice;

// Arithmetic, to() and clone() keep the order.
std::vector<float> copied() {
  auto hwc = torch::rand({3, 4, 5}).permute({1, 2, 0}).mul(2).clone();
  std::vector<float> v(hwc.numel());
  std::memcpy(v.data(), hwc.data_ptr<float>(), hwc.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: wrong bytes: 'memcpy' copies the bytes of 'hwc' as they lie in memory, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto hwc_packed = hwc.contiguous();
  // CHECK-FIXES: std::memcpy(v.data(), hwc_packed.data_ptr<float>(), hwc.nbytes());
  return v;
}

std::vector<uint8_t> product(const Tensor &chw, int h, int w) {
  auto image = chw.permute({1, 2, 0}).to(torch::kByte);
  std::vector<uint8_t> v(h * w * 3);
  std::memcpy(v.data(), image.data_ptr(), h * w * 3);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: wrong bytes: 'memcpy' copies the bytes of 'image' as they lie in memory, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto image_packed = image.contiguous();
  // CHECK-FIXES: std::memcpy(v.data(), image_packed.data_ptr(), h * w * 3);
  return v;
}

std::vector<float> of_container(const Tensor &x) {
  auto imageTurned = x.transpose(0, 1);
  std::vector<float> v(imageTurned.numel());
  std::memcpy(v.data(), imageTurned.data_ptr(), v.size() * sizeof(float));
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: wrong bytes: 'memcpy' copies the bytes of 'imageTurned' as they lie in memory, but 'transpose' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto imageTurnedPacked = imageTurned.contiguous();
  // CHECK-FIXES: std::memcpy(v.data(), imageTurnedPacked.data_ptr(), v.size() * sizeof(float));
  return v;
}

void written(const Tensor &x, std::ofstream &out) {
  auto part = x.slice(1, 2, 4);
  out.write(reinterpret_cast<const char *>(part.data_ptr<float>()), part.numel() * sizeof(float));
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: wrong bytes: 'write' copies the bytes of 'part' as they lie in memory, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto part_packed = part.contiguous();
  // CHECK-FIXES: out.write(reinterpret_cast<const char *>(part_packed.data_ptr<float>()), part.numel() * sizeof(float));
}

void to_file(const Tensor &x, std::FILE *file) {
  auto part = x.index({Slice(), Slice(1, 3)});
  std::fwrite(part.data_ptr(), part.element_size(), part.numel(), file);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wrong bytes: 'fwrite' copies the bytes of 'part' as they lie in memory, but 'index' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto part_packed = part.contiguous();
  // CHECK-FIXES: std::fwrite(part_packed.data_ptr(), part.element_size(), part.numel(), file);
}

// From a pointer to another.
std::vector<int> ranged() {
  auto table = torch::arange(12, torch::kInt32).view({3, 4});
  auto part = table.slice(1, 1, 3);
  return std::vector<int>(part.data_ptr<int>(), part.data_ptr<int>() + part.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: wrong bytes: 'vector' takes the elements of 'part' as they lie in memory, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto part_packed = part.contiguous();
  // CHECK-FIXES: return std::vector<int>(part_packed.data_ptr<int>(), part_packed.data_ptr<int>() + part.numel());
}

std::vector<float> column(const Tensor &table) {
  auto c = table.select(1, 0);
  const float *p = c.data_ptr<float>();
  // CHECK-FIXES: auto c_packed = c.contiguous();
  // CHECK-FIXES: const float *p = c_packed.data_ptr<float>();
  std::vector<float> v;
  v.assign(p, p + c.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wrong bytes: 'assign' takes the elements of 'c' as they lie in memory, but 'select' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  return v;
}

// Element by element.
std::vector<float> pushed(const Tensor &x) {
  auto turned = x.t();
  const float *p = turned.data_ptr<float>();
  // CHECK-FIXES: auto turned_packed = turned.contiguous();
  // CHECK-FIXES: const float *p = turned_packed.data_ptr<float>();
  std::vector<float> v;
  for (int64_t i = 0; i < turned.numel(); ++i)
    v.push_back(p[i]);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: wrong bytes: the loop goes through the memory of 'turned' element by element, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  return v;
}

// Fewer elements are there than are shown.
float summed() {
  auto many = torch::rand({1, 4}).expand({3, -1});
  const float *p = many.data_ptr<float>();
  // CHECK-FIXES: auto many_packed = many.contiguous();
  // CHECK-FIXES: const float *p = many_packed.data_ptr<float>();
  float sum = 0;
  for (int64_t i = 0; i < many.numel(); ++i)
    sum += p[i];
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wrong bytes: the loop goes through the memory of 'many' element by element, but 'expand' has fewer elements in memory than it shows; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  return sum;
}

// The index is computed of the sizes.
float weighed(const Tensor &x) {
  auto turned = x.t();
  const float *p = turned.data_ptr<float>();
  // CHECK-FIXES: auto turned_packed = turned.contiguous();
  // CHECK-FIXES: const float *p = turned_packed.data_ptr<float>();
  const int64_t rows = turned.size(0), columns = turned.size(1);
  float sum = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      sum += i * p[i * columns + j];
      // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: wrong bytes: the index counts the elements of 'turned' row by row, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  return sum;
}

// A function of this unit reads it.
void put(const Tensor &t, std::ofstream &out) {
  out.write(static_cast<const char *>(t.data_ptr()), t.nbytes());
}
void helped(const Tensor &x, std::ofstream &out) {
  put(x.permute({1, 0}), out);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong bytes: 'put' goes through the memory of a tensor as one piece, but 'permute' has moved no bytes: they lie in the order from before; pass a packed copy, contiguous() [libtorch-strided-access]
  // CHECK-FIXES: put(x.permute({1, 0}).contiguous(), out);
}

// More elements than fit into 30 bits.
std::vector<float> huge() {
  auto turned = torch::empty({1 << 20, 1 << 20}).view({1 << 30, -1}).t();
  return std::vector<float>(turned.data_ptr<float>(), turned.data_ptr<float>() + turned.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: wrong bytes: 'vector' takes the elements of 'turned' as they lie in memory, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto turned_packed = turned.contiguous();
  // CHECK-FIXES: return std::vector<float>(turned_packed.data_ptr<float>(), turned_packed.data_ptr<float>() + turned.numel());
}

// A counter goes on from row to row, in a statement of its own.
std::vector<float> counted() {
  auto hwc = torch::rand({3, 4, 5}).permute({1, 2, 0});
  const float *p = hwc.data_ptr<float>();
  // CHECK-FIXES: auto hwc_packed = hwc.contiguous();
  // CHECK-FIXES: const float *p = hwc_packed.data_ptr<float>();
  std::vector<float> values(60);
  int k = 0;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5 * 3; ++x) {
      values[k] = p[k];
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: the loop goes through the memory of 'hwc' element by element, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
      k++;
    }
  return values;
}
