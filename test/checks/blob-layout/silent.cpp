// The memory is what the shape says, or is said to lie otherwise.
// RUN: %check_libtorch_tidy %s libtorch-blob-layout %t --level=2 -- -- -I%S/../Inputs

#include "matrices.h"

#include <torch/torch.h>

#include <array>
#include <vector>

using torch::Tensor;
void use(const Tensor &);
void refill(std::vector<float> &values);

void parts(const cv::Mat &image, cv::Rect given, int n) {
  cv::Mat rows = image.rowRange(2, 6);
  use(torch::from_blob(rows.data, {4, rows.cols, 3}, torch::kByte));
  cv::Mat wide = image(cv::Rect(0, 2, image.cols, 4));
  use(torch::from_blob(wide.data, {4, wide.cols, 3}, torch::kByte));
  cv::Mat one = image(cv::Rect(3, 2, 4, 1));
  use(torch::from_blob(one.data, {4, 3}, torch::kByte));
  cv::Mat copied = image(cv::Rect(3, 2, 4, 4)).clone();
  use(torch::from_blob(copied.data, {4, 4, 3}, torch::kByte));
  cv::Mat filled;
  image(given).copyTo(filled);
  use(torch::from_blob(filled.data, {4, 4, 3}, torch::kByte));
  cv::Mat strided = image(given);
  use(torch::from_blob(strided.data, {4, 4, 3}, {300, 3, 1}, torch::kByte));
  cv::Mat replaced = image(given);
  cv::resize(replaced, replaced, cv::Size(4, 4));
  use(torch::from_blob(replaced.data, {4, 4, 3}, torch::kByte));
  cv::Mat all = image(cv::Range(0, n), cv::Range::all());
  use(torch::from_blob(all.data, {n, all.cols, 3}, torch::kByte));
}

// Columns by name.
void all_columns(const cv::Mat &image) {
  const int width = image.cols;
  const cv::Rect whole(0, 1, width, 4);
  cv::Mat named = image(whole);
  use(torch::from_blob(named.data, {4, width, 3}, torch::kByte));
  cv::Mat ranges = image(cv::Range(0, 4), cv::Range(0, image.cols));
  use(torch::from_blob(ranges.data, {4, width, 3}, torch::kByte));
}

void asked(const cv::Mat &image, cv::Rect given, const cv::cuda::GpuMat &device) {
  cv::Mat part = image(given);
  if (part.isContinuous())
    use(torch::from_blob(part.data, {4, 4, 3}, torch::kByte));
  if (device.isContinuous())
    use(torch::from_blob(device.data, {4, 4}, torch::kCUDA));
  cv::cuda::GpuMat made;
  cv::cuda::createContinuous(4, 4, CV_32FC1, made);
  use(torch::from_blob(made.data, {4, 4}, torch::kCUDA));
  cv::cuda::GpuMat strided;
  use(torch::from_blob(strided.data, {4, 4}, {128, 1}, torch::kCUDA));
}

void interleaved(const cv::Mat &image, int planes) {
  use(torch::from_blob(image.data, {image.rows, image.cols, 3}, torch::kByte));
  use(torch::from_blob(image.data, {1, image.rows, image.cols, image.channels()}, torch::kByte));
  use(torch::from_blob(image.data, {1, 1, image.rows, image.cols}, torch::kByte));
  use(torch::from_blob(image.data, {image.rows, image.cols}, torch::kByte));
  use(torch::from_blob(image.data, {3, image.rows / 3, image.cols}, torch::kByte));
  use(torch::from_blob(image.data, {planes, image.rows, image.cols}, torch::kByte));
}
// Planes that are written here.
void planar(int h, int w, const float *from) {
  cv::Mat made(h, w, CV_32FC3);
  std::copy(from, from + 3 * h * w, made.ptr<float>());
  use(torch::from_blob(made.data, {3, made.rows, made.cols}));
}

void eigen(Eigen::Matrix4f pose, Eigen::MatrixXf m, Eigen::Matrix<float, 3, 4, Eigen::RowMajor> rows,
           Eigen::Matrix<float, 3, 1> vector, long n) {
  use(torch::from_blob(pose.data(), {4, 4}).t());
  use(torch::from_blob(pose.data(), {4, 4}).clone().transpose(0, 1));
  Tensor later = torch::from_blob(pose.data(), {4, 4});
  use(later.t());
  use(torch::from_blob(pose.data(), {4, 4}, {1, 4}));
  use(torch::from_blob(m.data(), {m.cols(), m.rows()}));
  use(torch::from_blob(m.data(), {n, n}));
  use(torch::from_blob(rows.data(), {3, 4}));
  use(torch::from_blob(vector.data(), {3, 1}));
  use(torch::from_blob(m.data(), {m.rows() * m.cols()}));
  Eigen::Matrix4f turned = pose.transpose();
  use(torch::from_blob(turned.data(), {4, 4}));
}

void to_eigen(Tensor t, Tensor other) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor> rows(t.data_ptr<float>(), t.size(0), t.size(1));
  Eigen::Map<Eigen::MatrixXf> turned(t.data_ptr<float>(), t.size(1), t.size(0));
  Eigen::Map<Eigen::MatrixXf> again(t.data_ptr<float>(), t.size(0), t.size(1));
  Eigen::MatrixXf back = again.transpose();
  Tensor columns = other.t().contiguous();
  Eigen::Map<Eigen::MatrixXf> by(columns.data_ptr<float>(), other.size(0), other.size(1));
  // What lies with gaps is the matter of libtorch-strided-access.
  auto part = t.slice(1, 1);
  Eigen::Map<Eigen::MatrixXf> gaps(part.data_ptr<float>(), part.size(0), part.size(1));
  auto view = t.t();
  Eigen::Map<Eigen::MatrixXf> same(view.data_ptr<float>(), view.size(0), view.size(1));
}

void lengths(std::vector<float> given, int h, int w, int n) {
  float values[12] = {};
  use(torch::from_blob(values, {3, 4}));
  use(torch::from_blob(values, {2, 4}));
  std::array<double, 6> six{};
  use(torch::from_blob(six.data(), {2, 3}, torch::kFloat64));
  std::vector<uint8_t> pixels(h * w * 3);
  use(torch::from_blob(pixels.data(), {w, h, 3}, torch::kByte));
  std::vector<uint8_t> bytes(h * w * 4);
  use(torch::from_blob(bytes.data(), {h, w}));
  std::vector<uint8_t> other(n);
  use(torch::from_blob(other.data(), {h, w}));
  std::vector<uint8_t> grown(h * w);
  grown.resize(4 * h * w);
  use(torch::from_blob(grown.data(), {h, w}));
  std::vector<float> replaced(3);
  refill(replaced);
  use(torch::from_blob(replaced.data(), {4}));
  use(torch::from_blob(given.data(), {static_cast<long>(given.size())}));
  use(torch::from_blob(given.data(), {static_cast<long>(given.size()) / 3, 3}));
  use(torch::from_blob(pixels.data(), {static_cast<long>(pixels.size() / 4)}));
  int side = 4;
  std::vector<float> square(side * side);
  side = 5;
  use(torch::from_blob(square.data(), {side, side}));
  use(torch::from_blob(values + 4, {8}));
}
