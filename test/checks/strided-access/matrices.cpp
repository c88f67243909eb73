// Images and matrices over the memory of a tensor, and copies into them.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t -- -- -I%S/../Inputs

#include <torch/torch.h>
#include "matrices.h"

#include <cstring>

using torch::Tensor;

void shown(const Tensor &chw) {
  auto hwc = chw.permute({1, 2, 0}).to(torch::kU8);
  cv::Mat image(hwc.size(0), hwc.size(1), CV_32FC3, hwc.data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wrong bytes: 'Mat' shows the memory of 'hwc' row by row, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto hwc_packed = hwc.contiguous();
  // CHECK-FIXES: cv::Mat image(hwc.size(0), hwc.size(1), CV_32FC3, hwc_packed.data_ptr());
}
cv::Mat copied(const Tensor &chw) {
  auto hwc = chw.squeeze().detach().clone();
  hwc = hwc.permute({1, 2, 0});
  cv::Mat image(hwc.size(0), hwc.size(1), CV_32FC3);
  std::memcpy(image.data, hwc.data_ptr<float>(), sizeof(float) * hwc.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: wrong bytes: 'memcpy' copies the bytes of 'hwc' as they lie in memory, but 'permute' has moved no bytes
  // CHECK-FIXES: auto hwc_packed = hwc.contiguous();
  // CHECK-FIXES: std::memcpy(image.data, hwc_packed.data_ptr<float>(), sizeof(float) * hwc.numel());
  return image;
}
void total(const Tensor &chw, cv::Mat &image) {
  auto hwc = chw.permute({1, 2, 0});
  std::memcpy(image.data, hwc.data_ptr(), image.total() * image.elemSize());
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: wrong bytes: 'memcpy' copies the bytes of 'hwc' as they lie in memory, but 'permute' has moved no bytes
  // CHECK-FIXES: auto hwc_packed = hwc.contiguous();
  // CHECK-FIXES: std::memcpy(image.data, hwc_packed.data_ptr(), image.total() * image.elemSize());
}
void gray(const Tensor &image) {
  auto part = image.slice(1, 2, 8);
  cv::Mat shown(cv::Size(6, 6), CV_32FC1, part.data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wrong bytes: 'Mat' shows the memory of 'part' row by row, but 'slice' has left those of the whole tensor between them
  // CHECK-FIXES: auto part_packed = part.contiguous();
  // CHECK-FIXES: cv::Mat shown(cv::Size(6, 6), CV_32FC1, part_packed.data_ptr<float>());
}
void matrix() {
  auto part = torch::rand({6, 8}).slice(1, 2, 5);
  Eigen::Map<Eigen::MatrixXf> map(part.data_ptr<float>(), 3, 6);
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wrong bytes: 'Map' shows the memory of 'part' row by row, but 'slice' has left those of the whole tensor between them
  // CHECK-FIXES: auto part_packed = part.contiguous();
  // CHECK-FIXES: Eigen::Map<Eigen::MatrixXf> map(part_packed.data_ptr<float>(), 3, 6);
}

// Right: packed, with a step or a stride, whole rows, and a matrix whose order is the
// other one.
void right(const Tensor &chw, const Tensor &x) {
  auto hwc = chw.permute({1, 2, 0}).contiguous();
  cv::Mat image(hwc.size(0), hwc.size(1), CV_32FC3, hwc.data_ptr());
  auto part = torch::rand({6, 8}).slice(1, 2, 5);
  cv::Mat stepped(6, 3, CV_32FC1, part.data_ptr<float>(), 8 * sizeof(float));
  Eigen::Map<Eigen::MatrixXf, 0, Eigen::Stride<8, 1>> strided(part.data_ptr<float>(), 3, 6,
                                                              Eigen::Stride<8, 1>());
  auto rows = x.slice(0, 1, 4);
  cv::Mat some(3, 8, CV_32FC1, rows.data_ptr<float>());
  auto turned = torch::rand({6, 8}).t();
  Eigen::Map<Eigen::MatrixXf> columns(turned.data_ptr<float>(), 8, 6);
}
