// A buffer that is not what the other arguments of from_blob say.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <memory>
#include <torch/torch.h>

using torch::Tensor;

void consume(const Tensor &t);

void elements(std::vector<double> &values, const int *counts, float *pixels,
              std::vector<int64_t> &ids) {
  consume(torch::from_blob(values.data(), {4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong bytes: the elements of the buffer are 'double', 8 bytes each, and the tensor reads them as kFloat32, 4 bytes each; give from_blob the dtype of the elements [libtorch-dangling-from-blob]
  consume(torch::from_blob(const_cast<int *>(counts), {4}, torch::kInt64));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong bytes: the elements of the buffer are 'int', 4 bytes each, and the tensor reads them as kInt64, 8 bytes each, past the end of the buffer; give from_blob the dtype of the elements [libtorch-dangling-from-blob]
  consume(torch::from_blob(pixels, {2, 2}, torch::dtype(torch::kInt32)));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong bytes: the elements of the buffer are 'float', 4 bytes each, and the tensor reads them as kInt32, 4 bytes each; give from_blob the dtype of the elements [libtorch-dangling-from-blob]
  float rows[2][2] = {};
  consume(torch::from_blob(rows, {2, 2}, torch::kFloat64));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong bytes: the elements of the buffer are 'float', 4 bytes each, and the tensor reads them as kFloat64, 8 bytes each, past the end of the buffer; give from_blob the dtype of the elements [libtorch-dangling-from-blob]

  consume(torch::from_blob(values.data(), {4}, torch::kFloat64));
  consume(torch::from_blob(pixels, {2, 2}));
  consume(torch::from_blob(rows, {2, 2}));
  consume(torch::from_blob(ids.data(), {4}, torch::kLong));
}

struct Frame {
  std::vector<float> samples;
  std::unique_ptr<float[]> owned;
  float fixed[4];
};

void addresses(Frame &frame, float *data, float value) {
  consume(torch::from_blob(&frame.samples, {4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong address: from_blob gets the address of 'samples' itself, not of its elements; pass the pointer to them [libtorch-dangling-from-blob]
  consume(torch::from_blob(&data, {4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong address: from_blob gets the address of the pointer 'data', not the one that it holds; pass 'data' [libtorch-dangling-from-blob]
  consume(torch::from_blob((void *)&frame.owned, {4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong address: from_blob gets the address of 'owned' itself, not of its elements; pass the pointer to them [libtorch-dangling-from-blob]
  consume(torch::from_blob(&frame.samples[0], {4}));
  consume(torch::from_blob(&frame.fixed, {4}));
  consume(torch::from_blob(&value, {1}));
}

void devices(std::vector<float> &values, float *data) {
  consume(torch::from_blob(values.data(), {4}, torch::device(torch::kCUDA)));
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: wrong address: the buffer is memory of the host, but the options ask for a CUDA device; make the tensor on the CPU and move it with to() [libtorch-dangling-from-blob]
  consume(torch::from_blob(data, {4}, torch::device(torch::kCUDA)));
  consume(torch::from_blob(values.data(), {4}).to(torch::kCUDA));
}

// Bytes hold anything, and so does what a dtype with no type of its own in C++
// reads.
void anything(std::vector<uint8_t> &bytes, char *raw, void *opaque,
              std::vector<float> &pairs, std::vector<uint16_t> &halves,
              torch::Dtype dtype) {
  consume(torch::from_blob(bytes.data(), {4}));
  consume(torch::from_blob(raw, {4}, torch::kInt32));
  consume(torch::from_blob(opaque, {4}));
  consume(torch::from_blob(pairs.data(), {2}, torch::kComplexFloat));
  consume(torch::from_blob(halves.data(), {4}, torch::kHalf));
  consume(torch::from_blob(pairs.data(), {4}, dtype));
}

// What instantiates it says which dtype.
template <typename T> Tensor over(T *data, torch::Dtype dtype) {
  return dtype == torch::kFloat64
             ? torch::from_blob(data, {4}, torch::kFloat64).clone()
             : torch::from_blob(data, {4}, torch::kFloat32).clone();
}
void instantiate(float *a, double *b) {
  consume(over(a, torch::kFloat32));
  consume(over(b, torch::kFloat64));
}
