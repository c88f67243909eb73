//===- TensorTraits.h - What is known of a tensor unrun ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What is known of a tensor without running anything: its sizes, of which some
/// may be open, the type of its elements, its device.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_TENSORTRAITS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_TENSORTRAITS_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace libtorch_tidy::torch {

/// c10::ScalarType::Float, unless torch::set_default_dtype() says otherwise.
inline constexpr int64_t DefaultDtype = 6;

/// What is known of a tensor without running anything.
struct TensorTraits {
  std::optional<int64_t> Dtype; ///< A value of enum c10::ScalarType.
  bool OnHost = false;          ///< In memory of the CPU.
  bool Contiguous = false;
  bool OnDevice = false; ///< Surely in memory of a device.
};

/// A dtype, c10::ScalarType.
bool isScalarType(clang::QualType T);
/// c10::Device, c10::DeviceType.
bool isDeviceType(clang::QualType T);

/// The elements of a dtype.
struct DtypeFacts {
  llvm::StringLiteral Name; ///< As in torch::kFloat32.
  unsigned Bytes;
  bool Floating;
};
/// \p Dtype is a value of enum c10::ScalarType. nullopt for complex, quantized
/// and 16-bit floating ones, which have no arithmetic type in C++, and for
/// kBool and the bytes, which hold anything.
std::optional<DtypeFacts> dtypeFacts(int64_t Dtype);

/// What arguments ask of a tensor: dtype, device.
struct Asked {
  std::optional<int64_t> Dtype;
  bool AnyDtype = false; ///< Some dtype, perhaps one that is not known.
  bool AnyDevice = false, Cpu = false, Cuda = false;
  bool Unknown = false;
};

/// Adds what \p E, a dtype, device or TensorOptions, asks for.
void readAsked(const clang::Expr *E, const clang::ASTContext &Context,
               Asked &A);

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

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_TENSORTRAITS_H
