//===- TensorShape.h - Sizes and element types of tensors -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_TENSORSHAPE_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_TENSORSHAPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace libtorch_tidy::bytes {

/// The type of a tensor's elements, as LibTorch calls it.
struct ElementType {
  llvm::StringRef Name; ///< "float32". A literal.
  unsigned Bytes;       ///< Of one element.
};
inline constexpr ElementType Float32 = {"float32", 4};
inline constexpr ElementType Int64 = {"int64", 8};
inline constexpr ElementType Bool = {"bool", 1};

/// The type that \p Name names: kHalf, Half and float16 alike; nullopt for
/// others.
std::optional<ElementType> elementType(llvm::StringRef Name);
/// float16 to float64, and complex ones.
bool isFloating(ElementType Type);

/// A size that may not be known.
using Size = std::optional<int64_t>;

/// The sizes of a result of two tensors, by the rules of broadcasting; nullopt
/// when they do not fit. What is not known may fit.
std::optional<std::vector<Size>> broadcast(llvm::ArrayRef<Size> A,
                                           llvm::ArrayRef<Size> B);

/// A tensor as far as it is known.
struct TensorShape {
  /// Absent: not even the number of dimensions is known.
  std::optional<std::vector<Size>> Sizes;
  /// Absent: not known.
  std::optional<ElementType> Type = Float32;
  bool Defined = true; ///< Tensor() has no memory.

  /// The number of elements, in all memory: nullopt when a size is not known,
  /// is negative, or the product is beyond what memory can have.
  std::optional<uint64_t> elements() const;
  /// The same in bytes.
  std::optional<uint64_t> bytes() const;
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_TENSORSHAPE_H
