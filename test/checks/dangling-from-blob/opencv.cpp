// An image of OpenCV is counted: only one that is surely alone dies here.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

namespace cv {
struct Mat {
  Mat();
  Mat(int rows, int cols, int type);
  Mat(int rows, int cols, int type, void *data);
  Mat(const Mat &);
  Mat &operator=(const Mat &);
  ~Mat();
  Mat clone() const;
  Mat reshape(int channels) const;
  unsigned char *ptr(int row = 0);
  unsigned char *data;
  int rows, cols;
};
Mat imread(const std::string &);
void cvtColor(const Mat &, Mat &, int);
void split(const Mat &, std::vector<Mat> &);
} // namespace cv
using torch::Tensor;
void use(cv::Mat);

Tensor read(const std::string &path) {
  cv::Mat image = cv::imread(path);
  cv::cvtColor(image, image, 4);
  return torch::from_blob(image.data, {image.rows, image.cols, 3}, torch::kByte)
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'image', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
      .permute({2, 0, 1});
      // CHECK-FIXES: .permute({2, 0, 1}).clone();
}
Tensor plane(const std::string &path) {
  std::vector<cv::Mat> planes;
  cv::split(cv::imread(path), planes);
  return torch::from_blob(planes[0].ptr(), {10, 10}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'planes', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(planes[0].ptr(), {10, 10}, torch::kByte).clone();
}
std::vector<Tensor> frames(int n) {
  std::vector<Tensor> all;
  for (int i = 0; i < n; ++i) {
    cv::Mat frame(10, 10, 0);
    all.push_back(torch::from_blob(frame.data, {10, 10}, torch::kByte));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling tensor: 'all' uses the memory of 'frame', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: all.push_back(torch::from_blob(frame.data, {10, 10}, torch::kByte).clone());
  }
  return all;
}

// A temporary image.
int kept(cv::Mat image) {
  auto x = torch::from_blob(image.clone().data, {1, 1, 10, 10});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'x' uses the memory of a temporary, which is destroyed at the end of this statement; clone() it there [libtorch-dangling-from-blob]
  // CHECK-FIXES: auto x = torch::from_blob(image.clone().data, {1, 1, 10, 10}).clone();
  x = x.clone();
  return x.sum().item<int>();
}
Tensor returned(const cv::Mat *image) {
  return torch::from_blob(image->clone().ptr(), {10, 10}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of a temporary, which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(image->clone().ptr(), {10, 10}, torch::kByte).clone();
}
int reshaped(const cv::Mat &image) {
  Tensor x = torch::from_blob(image.clone().reshape(1).data, {10, 10}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling tensor: 'x' uses the memory of a temporary, which is destroyed at the end of this statement; clone() it there [libtorch-dangling-from-blob]
  // CHECK-FIXES: Tensor x = torch::from_blob(image.clone().reshape(1).data, {10, 10}, torch::kByte).clone();
  return x.sum().item<int>();
}
void stored(const cv::Mat &image, std::vector<Tensor> &batch) {
  batch.push_back(torch::from_blob(image.clone().data, {10, 10}, torch::kByte));
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling tensor: 'batch' uses the memory of a temporary, which is destroyed at the end of this statement; clone() it there [libtorch-dangling-from-blob]
  // CHECK-FIXES: batch.push_back(torch::from_blob(image.clone().data, {10, 10}, torch::kByte).clone());
}
Tensor own_reshaped() {
  cv::Mat image(10, 10, 0);
  return torch::from_blob(image.reshape(1).data, {10, 10}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling tensor: the returned tensor uses the memory of 'image', which is destroyed when the function returns; return a clone() [libtorch-dangling-from-blob]
  // CHECK-FIXES: return torch::from_blob(image.reshape(1).data, {10, 10}, torch::kByte).clone();
}
// Read before the statement ends, or an image that is counted elsewhere.
cv::Mat latest();
int in_the_statement(const cv::Mat &image) {
  auto x = torch::from_blob(image.clone().data, {10, 10}, torch::kByte).to(torch::kFloat);
  auto y = torch::from_blob(image.clone().data, {10, 10}, torch::kByte).clone();
  return torch::from_blob(image.clone().data, {10, 10}, torch::kByte).sum().item<int>();
}
Tensor of_another(const cv::Mat &image) {
  Tensor x = torch::from_blob(latest().data, {10, 10}, torch::kByte);
  Tensor y = torch::from_blob(image.reshape(1).data, {10, 10}, torch::kByte);
  return x + y;
}

// The caller, or somebody else, has the pixels, too.
Tensor by_value(cv::Mat image) {
  return torch::from_blob(image.data, {image.rows, image.cols}, torch::kByte);
}
Tensor by_reference(cv::Mat &image) {
  return torch::from_blob(image.data, {image.rows, image.cols}, torch::kByte);
}
struct Source {
  cv::Mat current;
  cv::Mat next();
  Tensor copy_of_member() {
    cv::Mat image = current;
    return torch::from_blob(image.data, {10, 10}, torch::kByte);
  }
  Tensor of_unknown() {
    cv::Mat image = next();
    return torch::from_blob(image.data, {10, 10}, torch::kByte);
  }
  Tensor kept() {
    cv::Mat image = cv::imread("a.png");
    current = image;
    return torch::from_blob(image.data, {10, 10}, torch::kByte);
  }
};
Tensor over_own_buffer(unsigned char *pixels) {
  cv::Mat image(10, 10, 0, pixels);
  return torch::from_blob(image.data, {10, 10}, torch::kByte);
}
Tensor passed_on() {
  cv::Mat image = cv::imread("a.png");
  use(image);
  return torch::from_blob(image.data, {10, 10}, torch::kByte);
}
Tensor copied() {
  cv::Mat image = cv::imread("a.png");
  return torch::from_blob(image.data, {10, 10}, torch::kByte).to(torch::kFloat);
}
