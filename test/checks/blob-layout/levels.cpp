// Likely: the part may be whole, the matrix symmetric.
// RUN: %check_libtorch_tidy %s libtorch-blob-layout %t -- -- -I%S/../Inputs
// RUN: %check_libtorch_tidy %s libtorch-blob-layout %t --level=0 --expect-none -- -- -I%S/../Inputs

#include "matrices.h"

#include <torch/torch.h>

using torch::Tensor;
void use(const Tensor &);

void parts(const cv::Mat &image, cv::Rect given, const cv::cuda::GpuMat &device) {
  cv::Mat part = image(given);
  use(torch::from_blob(part.data, {4, 4, 3}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: 'part' is a part of an image
  use(torch::from_blob(device.data, {device.rows, device.cols}, torch::kCUDA));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: the rows of 'device', a GpuMat, are 'step' bytes apart, not one row after the other; give from_blob the strides [libtorch-blob-layout]
  use(torch::from_blob(image.data, {3, image.rows, image.cols}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: the shape says that 'image' has one plane for each channel, and its pixels have all channels next to each other; use {rows, columns, channels} and permute() [libtorch-blob-layout]
  const int height = image.size().height, width = image.size().width;
  use(torch::from_blob(image.data, {1, image.channels(), height, width}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: the shape says that 'image' has one plane
  std::vector<int64_t> sizes = {1, 3, image.rows, image.cols};
  use(torch::from_blob(image.data, sizes, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: the shape says that 'image' has one plane
}

void eigen(Eigen::Matrix4f pose, Eigen::MatrixXf m, long h, long w) {
  use(torch::from_blob(pose.data(), {4, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: Eigen stores 'pose' column by column, and the tensor reads it row by row, transposed; use {columns, rows} and t() [libtorch-blob-layout]
  use(torch::from_blob(m.data(), {1, m.rows(), m.cols()}).clone());
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: Eigen stores 'm' column by column
  Eigen::MatrixXf made(h, w);
  use(torch::from_blob(made.data(), {h, w}));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong layout: Eigen stores 'made' column by column
}

void to_eigen(Tensor t) {
  float *data = t.data_ptr<float>();
  Eigen::Map<Eigen::MatrixXf> map(data, t.size(0), t.size(1));
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wrong layout: the matrix reads 't' column by column, and the tensor has it row by row; map it as a row-major matrix [libtorch-blob-layout]
}

// The shape is not seen to be that of the image; a camera may be told otherwise.
void types(cv::VideoCapture camera, int h, int w, Tensor t) {
  cv::Mat made = cv::Mat::zeros(h, w, CV_8UC3);
  use(torch::from_blob(made.data, {1, h, w, 3}));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong bytes: the numbers in 'made' are CV_8U
  for (;;) {
    cv::Mat frame;
    camera >> frame;
    use(torch::from_blob(frame.data, {frame.rows, frame.cols, 3}));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: wrong bytes: the numbers in 'frame' are CV_8U
  }
  cv::Mat over(h, w, CV_32FC3, t.data_ptr<uint8_t>());
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wrong bytes: the numbers in 't' are uint8_t, 1 byte each
}
