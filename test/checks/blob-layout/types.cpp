// The numbers of an image have another size than those of its tensor.
// RUN: %check_libtorch_tidy %s libtorch-blob-layout %t -- -- -I%S/../Inputs

#include "matrices.h"

#include <torch/torch.h>

using torch::Tensor;
void use(const Tensor &);
void anything(cv::Mat &);

void read(const char *file, int code) {
  cv::Mat image = cv::imread(file);
  cv::cvtColor(image, image, code);
  cv::resize(image, image, cv::Size(224, 224));
  use(torch::from_blob(image.data, {image.rows, image.cols, 3}));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong bytes: the numbers in 'image' are CV_8U, 1 byte each, and the tensor reads as many of kFloat32, 4 bytes each, past the end of the memory; name the type that the image has, or convertTo() the other one first [libtorch-blob-layout]
  // CHECK-MESSAGES: :[[@LINE-5]]:19: note: 'image' gets its numbers here
}

void converted(const cv::Mat &given) {
  cv::Mat scaled;
  given.convertTo(scaled, CV_32F, 1.0 / 255);
  scaled = scaled / 2.0;
  use(torch::from_blob(scaled.data, {1, scaled.rows, scaled.cols, scaled.channels()}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong bytes: the numbers in 'scaled' are CV_32F, 4 bytes each, and the tensor reads as many of kUInt8, 1 byte each; name the type that the image has, or convertTo() the other one first [libtorch-blob-layout]
  // CHECK-MESSAGES: :[[@LINE-4]]:9: note: 'scaled' gets its numbers here
}

// The last one on each way counts.
void ways(const char *file, bool twice) {
  cv::Mat image = cv::imread(file);
  if (twice)
    image = cv::Mat(8, 8, CV_8UC3);
  else
    image.convertTo(image, -1, 2);
  cv::rectangle(image, cv::Rect(0, 0, 2, 2));
  use(torch::from_blob(image.data, {image.rows, image.cols, 3}, torch::kFloat));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong bytes: the numbers in 'image' are CV_8U
  image.convertTo(image, CV_64F);
  use(torch::from_blob(image.data, {image.rows, image.cols, 3}, torch::kFloat));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong bytes: the numbers in 'image' are CV_64F, 8 bytes each
  cv::Mat_<cv::Vec3b> typed(8, 8);
  use(torch::from_blob(typed.data, {typed.rows, typed.cols, 3}));
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong bytes: the numbers in 'typed' are CV_8U
}

void from_tensor(Tensor bytes, Tensor floats) {
  cv::Mat image(bytes.size(0), bytes.size(1), CV_32FC3, bytes.data_ptr<uint8_t>());
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wrong bytes: the numbers in 'bytes' are uint8_t, 1 byte each, and the image reads as many of CV_32F, 4 bytes each, past the end of the memory; make the image of the type that the tensor has, or convert the tensor with to() first [libtorch-blob-layout]
  Tensor pixels = floats.mul(255).to(torch::kFloat32).contiguous();
  const int h = pixels.size(0), w = pixels.size(1);
  cv::Mat other(cv::Size(w, h), CV_8UC3, pixels.data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wrong bytes: the numbers in 'pixels' are float, 4 bytes each, and the image reads as many of CV_8U, 1 byte each; make the image
}

// The tensor reads what the image has.
void right(const char *file, const cv::Mat &given, int flags, Tensor t) {
  cv::Mat image = cv::imread(file, cv::IMREAD_GRAYSCALE);
  use(torch::from_blob(image.data, {image.rows, image.cols}, torch::kByte));
  image.convertTo(image, CV_32F);
  use(torch::from_blob(image.data, {image.rows, image.cols}));
  cv::Mat any = cv::imread(file, flags);
  use(torch::from_blob(any.data, {any.rows, any.cols, 3}));
  cv::Mat unchanged = cv::imread(file, cv::IMREAD_UNCHANGED);
  use(torch::from_blob(unchanged.data, {unchanged.rows, unchanged.cols, 3}));
  use(torch::from_blob(given.data, {given.rows, given.cols, 3}));
  cv::Mat maybe = cv::imread(file);
  if (flags)
    maybe.convertTo(maybe, CV_32F);
  use(torch::from_blob(maybe.data, {maybe.rows, maybe.cols, 3}));
  cv::Mat filled(8, 8, CV_8UC3);
  anything(filled);
  use(torch::from_blob(filled.data, {filled.rows, filled.cols, 3}));
  cv::Mat_<cv::Vec3b> handed(8, 8);
  anything(handed);
  use(torch::from_blob(handed.data, {handed.rows, handed.cols, 3}));
  cv::Mat looped = given;
  for (int i = 0; i < flags; ++i)
    looped.convertTo(looped, CV_8U);
  use(torch::from_blob(looped.data, {looped.rows, looped.cols, 3}));
}

// The bytes are counted, or asked for.
void counted(int h, int w, const cv::Mat &given, Tensor t) {
  cv::Mat four(h, w, CV_8UC4);
  use(torch::from_blob(four.data, {four.rows, four.cols}, torch::kInt));
  cv::Mat floats(h, w, CV_32FC1);
  use(torch::from_blob(floats.data, {floats.rows, floats.cols * 4}, torch::kByte));
  use(torch::from_blob(floats.data, {floats.rows, floats.cols, 4}, torch::kByte));
  use(torch::from_blob(floats.data, {h, static_cast<long>(floats.elemSize())}, torch::kByte));
  const long all = h * w * 4;
  use(torch::from_blob(floats.data, {all}, torch::kByte));
  cv::Mat asked = cv::imread("a.png");
  if (asked.type() == CV_32FC3)
    use(torch::from_blob(asked.data, {asked.rows, asked.cols, 3}));
  Tensor packed = t.to(torch::kInt32).contiguous();
  cv::Mat rgba(packed.size(0), packed.size(1), CV_8UC4, packed.data_ptr());
  cv::Mat raw(packed.size(0), packed.size(1) * 4, CV_8U, packed.data_ptr());
  cv::Mat same(t.size(0), t.size(1), CV_32FC3, t.data_ptr<float>());
  cv::Mat unknown(t.size(0), t.size(1), CV_32FC3, t.data_ptr());
}
