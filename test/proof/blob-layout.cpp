// Tensors over images and matrices of other libraries, and what of them
// arrives.
#include "Memory.h"
#include <torch/torch.h>

// As OpenCV and Eigen lay out memory.
namespace cv {
struct Rect {
  Rect(int x, int y, int w, int h) : x(x), y(y), width(w), height(h) {}
  int x, y, width, height;
};
struct Mat {
  Mat(int rows, int cols) : rows(rows), cols(cols), step(cols * 3) {
    data = new unsigned char[rows * step];
    for (int i = 0; i < rows * step; ++i)
      data[i] = static_cast<unsigned char>(i);
  }
  Mat(int rows, int cols, int step, unsigned char *data)
      : rows(rows), cols(cols), step(step), data(data) {}
  Mat operator()(const Rect &r) const {
    return Mat(r.height, r.width, step, data + r.y * step + 3 * r.x);
  }
  Mat clone() const {
    Mat copy(rows, cols);
    for (int i = 0; i < rows; ++i)
      std::copy(data + i * step, data + i * step + cols * 3,
                copy.data + i * copy.step);
    return copy;
  }
  // CV_8U to CV_32F, with as much memory behind it as floats take.
  Mat floats() const {
    Mat image(rows, 4 * cols);
    image.cols = cols;
    for (int i = 0; i < rows * step; ++i)
      reinterpret_cast<float *>(image.data)[i] = data[i];
    return image;
  }
  unsigned char at(int row, int column, int channel) const {
    return data[row * step + 3 * column + channel];
  }
  int rows, cols, step;
  unsigned char *data;
};
} // namespace cv
namespace Eigen {
template <typename T, int Rows, int Columns, int Options = 0> struct Matrix {
  T values[Rows * Columns];
  T *data() { return values; }
  T &operator()(int row, int column) { return values[column * Rows + row]; }
};
} // namespace Eigen

void print(const char *what, int right, int all) {
  std::cout << what << ": " << right << " of " << all << "\n";
}

int main() {
  proof::begin();
  const cv::Mat image(8, 10);
#ifndef FIXED
  cv::Mat part = image(cv::Rect(2, 1, 4, 4));
#else
  cv::Mat part = image(cv::Rect(2, 1, 4, 4)).clone();
#endif
  auto pixels = torch::from_blob(part.data, {4, 4, 3}, torch::kByte);
#ifndef FIXED
  auto planes =
      torch::from_blob(image.data, {3, image.rows, image.cols}, torch::kByte);
#else
  auto planes =
      torch::from_blob(image.data, {image.rows, image.cols, 3}, torch::kByte)
          .permute({2, 0, 1});
#endif
  Eigen::Matrix<float, 3, 4> matrix;
  for (int i = 0; i < 12; ++i)
    matrix(i / 4, i % 4) = static_cast<float>(i);
#ifndef FIXED
  auto rows = torch::from_blob(matrix.data(), {3, 4});
#else
  auto rows = torch::from_blob(matrix.data(), {4, 3}).t();
#endif
  // The bytes of an image, and behind them what does not belong to it.
  cv::Mat photo(4 * image.rows, image.cols);
#ifdef FIXED
  photo = image.floats();
#endif
  auto numbers =
      torch::from_blob(photo.data, {image.rows, image.cols, 3}, torch::kFloat);
  int right[4] = {};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int c = 0; c < 3; ++c)
        right[0] += pixels[i][j][c].item<int>() == image.at(i + 1, j + 2, c);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 10; ++j)
      for (int c = 0; c < 3; ++c)
        right[1] += planes[c][i][j].item<int>() == image.at(i, j, c);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      right[2] += rows[i][j].item<float>() == matrix(i, j);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 10; ++j)
      for (int c = 0; c < 3; ++c)
        right[3] += numbers[i][j][c].item<float>() == image.at(i, j, c);
  print("pixels of a part that are right", right[0], 48);
  print("pixels of planes that are right", right[1], 240);
  print("elements of an Eigen matrix that are right", right[2], 12);
  print("numbers of an image of bytes that are right as floats", right[3], 240);
}
