//===- Matrices.h - Images and matrices of other libraries ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How the elements of OpenCV's images and Eigen's matrices lie in memory, as
/// far as types and calls say.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_MATRICES_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_MATRICES_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace libtorch_tidy::cpp {

/// cv::cuda::GpuMat, whose rows are padded.
bool isGpuMat(clang::QualType T);

/// The image, or the matrix of Eigen, whose elements \p Pointer leads to from
/// the first: image.data, image.ptr<float>(), matrix.data(). As written; null
/// for others.
const clang::Expr *elementsOf(const clang::Expr *Pointer);

/// Which number of an image or matrix an expression is.
enum class Extent : unsigned char { Rows, Columns, Channels };
struct ExtentOf {
  Extent Which;
  const clang::Expr *Object; ///< As written.
};
/// image.rows, image.size().height, matrix.cols(), image.channels(); nullopt
/// for others.
std::optional<ExtentOf> asExtent(const clang::Expr *E);

/// A part of an image, with the rows of the image: image(rect),
/// image.colRange(0, 10).
struct Crop {
  const clang::Expr *Image;
  /// Surely narrower than the image; else it may have all of its columns.
  bool Narrower;
};
/// nullopt for others, and for parts that surely are in one piece: rowRange(),
/// a Rect from column 0 to the last one, one of a single row. \p Origin says
/// where a value comes from, through variables.
std::optional<Crop>
asCrop(const clang::Expr *E, const clang::ASTContext &Context,
       llvm::function_ref<const clang::Expr *(const clang::Expr *)> Origin);

/// Is \p T a matrix or array of Eigen, which has memory of its own?
bool isEigenMatrix(clang::QualType T);

/// Does an assignment to a \p T copy elements to where it has its own? A map of
/// Eigen stays over the memory that it was made for.
bool assignsElements(clang::QualType T);

/// A matrix or array of Eigen by its type.
struct EigenType {
  int64_t Rows, Columns; ///< -1: known at run time.
  bool RowMajor;
  bool isVector() const { return Rows == 1 || Columns == 1; }
};
/// Of Eigen::Matrix and Eigen::Array, and what an Eigen::Map without a stride
/// shows; nullopt for others.
std::optional<EigenType> eigenType(clang::QualType T);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_MATRICES_H
