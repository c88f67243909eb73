// What the tests need of OpenCV and Eigen.
#pragma once
#include <cstddef>

#define CV_32FC1 5
#define CV_32FC3 21

namespace cv {
struct Size {
  Size(int width, int height);
  int width, height;
};
struct MatSize {
  Size operator()() const;
};
struct Range {
  Range(int from, int to);
  static Range all();
};
struct Rect {
  Rect(int x, int y, int width, int height);
  int x, y, width, height;
};
struct Mat {
  Mat();
  Mat(int rows, int cols, int type);
  Mat(int rows, int cols, int type, void *data, size_t step = 0);
  Mat(Size size, int type, void *data, size_t step = 0);
  Mat(const Mat &);
  Mat &operator=(const Mat &);
  ~Mat();
  Mat clone() const;
  Mat operator()(const Rect &part) const;
  Mat operator()(Range rows, Range columns) const;
  Mat rowRange(int from, int to) const;
  Mat colRange(int from, int to) const;
  Mat col(int column) const;
  void copyTo(Mat &to) const;
  int channels() const;
  bool isContinuous() const;
  size_t total() const;
  size_t elemSize() const;
  unsigned char *ptr(int row = 0);
  template <typename T> T *ptr(int row = 0);
  int rows, cols;
  unsigned char *data;
  MatSize size;
};
void resize(const Mat &from, Mat &to, Size size);
namespace cuda {
struct GpuMat {
  GpuMat();
  GpuMat(int rows, int cols, int type, void *data, size_t step = 0);
  GpuMat(const GpuMat &);
  ~GpuMat();
  bool isContinuous() const;
  template <typename T> T *ptr(int row = 0);
  int rows, cols;
  size_t step;
  unsigned char *data;
};
void createContinuous(int rows, int cols, int type, GpuMat &to);
} // namespace cuda
} // namespace cv

namespace Eigen {
constexpr int Dynamic = -1;
enum { ColMajor = 0, RowMajor = 1 };
template <typename T, int Rows, int Columns, int Options = ColMajor> class Matrix {
public:
  Matrix();
  Matrix(long rows, long cols);
  template <typename Other> Matrix(const Other &other);
  Matrix(const Matrix &);
  ~Matrix();
  template <typename Other> Matrix &operator=(const Other &other);
  T *data();
  const T *data() const;
  long rows() const;
  long cols() const;
  Matrix transpose() const;

private:
  T *Elements;
};
typedef Matrix<float, Dynamic, Dynamic> MatrixXf;
typedef Matrix<float, 4, 4> Matrix4f;
template <int Outer, int Inner> class Stride {};
template <typename M, int Options = 0, typename S = Stride<0, 0>> class Map {
public:
  Map(float *data, long rows, long cols);
  Map(float *data, long rows, long cols, S stride);
  float *data();
  long rows() const;
  long cols() const;
  M transpose() const;
};
} // namespace Eigen
