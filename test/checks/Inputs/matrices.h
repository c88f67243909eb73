// What the tests need of OpenCV and Eigen.
#pragma once
#include <cstddef>

#define CV_8U 0
#define CV_8UC3 16
#define CV_8UC4 24
#define CV_32F 5
#define CV_32FC1 5
#define CV_32FC3 21
#define CV_64F 6

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
struct Mat;
// What a function fills.
struct _OutputArray {
  _OutputArray(Mat &);
  ~_OutputArray();
};
struct _InputOutputArray : _OutputArray {
  _InputOutputArray(Mat &);
};
typedef const _OutputArray &OutputArray;
struct MatExpr;
struct Mat {
  Mat();
  Mat(const MatExpr &);
  Mat(Size size, int type);
  static MatExpr zeros(int rows, int cols, int type);
  void create(int rows, int cols, int type);
  void convertTo(OutputArray m, int rtype, double alpha = 1, double beta = 0) const;
  Mat reshape(int channels) const;
  int type() const;
  void release();
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
struct MatExpr {
  ~MatExpr();
};
MatExpr operator/(const Mat &, double);
Mat &operator/=(Mat &, double);
template <typename T, int N> struct Vec {};
typedef Vec<unsigned char, 3> Vec3b;
template <typename T> struct Mat_ : Mat {
  Mat_(int rows, int cols);
};
enum { IMREAD_UNCHANGED = -1, IMREAD_GRAYSCALE = 0, IMREAD_COLOR = 1 };
Mat imread(const char *file, int flags = IMREAD_COLOR);
struct VideoCapture {
  VideoCapture(int device);
  VideoCapture &operator>>(Mat &image);
  bool read(OutputArray image);
};
void cvtColor(const Mat &from, OutputArray to, int code);
void rectangle(_InputOutputArray img, const Rect &place);
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
