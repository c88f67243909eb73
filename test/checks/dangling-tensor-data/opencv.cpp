// An image of OpenCV over the data of a tensor does not keep the tensor.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/torch.h>

namespace cv {
struct Mat;
struct _InputArray {
  _InputArray(const Mat &);
};
struct _OutputArray : _InputArray {
  _OutputArray(Mat &);
};
struct _InputOutputArray : _OutputArray {
  _InputOutputArray(Mat &);
};
struct Rect {
  int x, y, width, height;
};
struct Mat {
  Mat();
  Mat(int rows, int cols, int type);
  Mat(int rows, int cols, int type, void *data);
  Mat(const Mat &);
  Mat &operator=(const Mat &);
  ~Mat();
  Mat operator()(const Rect &) const;
  Mat clone() const;
  Mat reshape(int channels, int rows = 0) const;
  Mat row(int) const;
  void convertTo(const _OutputArray &, int type, double scale = 1) const;
  void copyTo(const _OutputArray &) const;
  unsigned char *data;
};
void resize(const _InputArray &, const _OutputArray &, int, int);
void rectangle(const _InputOutputArray &, Rect);
} // namespace cv
using torch::Tensor;

cv::Mat returned(Tensor t) {
  t = t.mul(255).clamp(0, 255);
  cv::Mat image(4, 4, 5, t.data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: dangling pointer: what is returned points into 't', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  return image;
}
cv::Mat direct(Tensor t) {
  Tensor sum = t + 1;
  return cv::Mat(4, 4, 5, sum.data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: dangling pointer: what is returned points into 'sum', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}
// The same pixels under another name, and drawn on.
cv::Mat reshaped(const Tensor &x) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: dangling pointer: what is returned points into 'sum', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  cv::Mat flat = image.reshape(1, 16).row(0);
  return flat;
}
cv::Mat cut(const Tensor &x) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: dangling pointer: what is returned points into 'sum', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  return image(cv::Rect{0, 0, 2, 2});
}
cv::Mat drawn_on(const Tensor &x) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: dangling pointer: what is returned points into 'sum', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  cv::rectangle(image, cv::Rect{0, 0, 2, 2});
  return image;
}

// A copy.
cv::Mat cloned(const Tensor &x) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>());
  return image.clone();
}
cv::Mat shaped_and_cloned(const Tensor &x) {
  Tensor sum = x + 1;
  return cv::Mat(4, 4, 5, sum.data_ptr<float>()).reshape(1).clone();
}
cv::Mat converted(const Tensor &x) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>()), bytes;
  image.convertTo(bytes, 0, 255);
  return bytes;
}
cv::Mat converted_itself(const Tensor &x) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>());
  image.convertTo(image, 0, 255);
  return image;
}
cv::Mat resized(const Tensor &x) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>());
  cv::resize(image, image, 8, 8);
  return image;
}
void copied(const Tensor &x, cv::Mat &out) {
  Tensor sum = x + 1;
  cv::Mat image(4, 4, 5, sum.data_ptr<float>());
  image.copyTo(out);
}
// Somebody else has the tensor.
cv::Mat of_caller(const Tensor &x) {
  cv::Mat image(4, 4, 5, x.data_ptr<float>());
  return image;
}
