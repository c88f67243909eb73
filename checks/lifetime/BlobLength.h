//===- BlobLength.h - Buffers that are shorter than their tensor -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_LIFETIME_BLOBLENGTH_H
#define LIBTORCH_TIDY_CHECKS_LIFETIME_BLOBLENGTH_H

#include "analysis/cpp/Body.h"
#include "analysis/torch/storage/Storage.h"

namespace libtorch_tidy {

/// A buffer that has fewer bytes than a tensor over it.
struct ShortBuffer {
  const clang::VarDecl *Of; ///< The array or container.
  unsigned Bytes;           ///< Of one of its elements.
  bool SameNumber;          ///< It has as many elements as the tensor.
  std::optional<uint64_t> Has, Asked; ///< Bytes, where they are constants.
};

/// nullopt where the buffer is long enough, or it is not known how long it is:
/// the array, or the vector that keeps the size that its declaration gives it,
/// against a shape of constants or of the same factors.
std::optional<ShortBuffer> shortBuffer(const torch::BlobCall &Blob,
                                       cpp::Body &In);

/// The arithmetic type that array or pointer \p Buffer leads to; null when it
/// is another.
clang::QualType elementOf(const clang::Expr *Buffer);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LIFETIME_BLOBLENGTH_H
