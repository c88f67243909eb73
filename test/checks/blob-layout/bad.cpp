// Buffers that lie otherwise than the shape says.
// RUN: %check_libtorch_tidy %s libtorch-blob-layout %t -- -- -I%S/../Inputs

#include "matrices.h"

#include <torch/torch.h>

#include <array>
#include <vector>

using torch::Tensor;
void use(const Tensor &);

void parts(const cv::Mat &image, int width) {
  cv::Mat part = image(cv::Rect(3, 2, width, 4));
  use(torch::from_blob(part.data, {4, width, 3}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: 'part' is a part of an image, whose rows are further apart than its own; give from_blob the strides, or clone() the part [libtorch-blob-layout]
  use(torch::from_blob(part.ptr<float>(), {4, width, 3}));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: 'part' is a part of an image
  use(torch::from_blob(image(cv::Range(0, 4), cv::Range(2, 6)).data, {4, 4}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: this is a part of an image
  auto columns = image.colRange(1, 5);
  unsigned char *pixels = columns.data;
  use(torch::from_blob(pixels, {columns.rows, 4}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: 'columns' is a part of an image
  const cv::Mat &column = image.col(2);
  use(torch::from_blob(column.data, {8}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: 'column' is a part of an image
}

void lengths(int h, int w, std::vector<uint8_t> file) {
  float values[12] = {};
  use(torch::from_blob(values, {4, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong bytes: the tensor has 64 bytes and 'values' has 48: it is read past its end [libtorch-blob-layout]
  std::array<int64_t, 3> three{};
  use(torch::from_blob(three.data(), {2, 2}, torch::kInt64));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong bytes: the tensor has 32 bytes and 'three' has 24: it is read past its end
  std::vector<float> list = {1, 2, 3};
  use(torch::from_blob(list.data(), {4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong bytes: the tensor has 16 bytes and 'list' has 12
  std::vector<uint8_t> pixels(h * w * 3);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = 1;
  use(torch::from_blob(&pixels[0], {h, w, 3}));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong bytes: the elements of 'pixels' have 1 byte each, and the tensor reads as many of kFloat32, 4 bytes each, past the end of the buffer; name the type of the elements
  const int64_t n = file.size();
  use(torch::from_blob(file.data(), {n}));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong bytes: the elements of 'file' have 1 byte each
  std::vector<float> single(h);
  use(torch::from_blob(single.data(), {2, h}));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong bytes: the tensor has more elements than 'single': it is read past its end
}

void suppressed() {
  float values[2] = {};
  use(torch::from_blob(values, {3})); // NOLINT(libtorch-blob-layout)
}
