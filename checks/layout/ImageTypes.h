//===- ImageTypes.h - Images read with another type --------------*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_LAYOUT_IMAGETYPES_H
#define LIBTORCH_TIDY_CHECKS_LAYOUT_IMAGETYPES_H

#include "analysis/cpp/Pixels.h"
#include "analysis/torch/storage/Storage.h"

namespace libtorch_tidy {

/// A tensor over an image, or an image over a tensor, whose numbers have
/// another size than those that it reads.
struct OtherType {
  const clang::Expr *Object; ///< The image or the tensor that is read.
  cpp::Pixels Image;
  std::string Type; ///< Of the tensor: kFloat32, or in C++.
  unsigned Bytes;   ///< Of one element of the tensor.
  /// The shape is that of \p Object, number for number.
  bool SameShape;
};

/// A tensor over \p Image. nullopt where the two agree, the types are not
/// known, or the shape accounts for the difference.
std::optional<OtherType>
otherTypeThan(const clang::Expr *Image, const torch::BlobCall &Blob,
              llvm::ArrayRef<const clang::Expr *> Sizes, cpp::Body &In);

/// The same of an image that \p Made makes over the data of a tensor.
std::optional<OtherType> overTensor(const clang::CXXConstructExpr *Made,
                                    cpp::Body &In);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LAYOUT_IMAGETYPES_H
