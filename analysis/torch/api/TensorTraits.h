//===- TensorTraits.h - What is known of a tensor unrun ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What is known of a tensor without running anything, and what arguments ask
/// of one: the type of its elements, its device.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_TENSORTRAITS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_TENSORTRAITS_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

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
/// A dtype in either form: c10::ScalarType, caffe2::TypeMeta.
bool isDtype(clang::QualType T);
/// c10::Device, c10::DeviceType.
bool isDeviceType(clang::QualType T);
/// c10::TensorOptions.
bool isTensorOptions(clang::QualType T);

/// The elements of a dtype.
struct DtypeFacts {
  llvm::StringLiteral Name; ///< As in torch::kFloat32.
  unsigned Bytes;
  bool Floating;
  llvm::StringLiteral Type; ///< In C++: float.
};
/// \p Dtype is a value of enum c10::ScalarType. nullopt for complex, quantized
/// and 16-bit floating ones, which have no arithmetic type in C++, and for
/// kBool and the bytes, which hold anything.
std::optional<DtypeFacts> dtypeFacts(int64_t Dtype);
/// The name, as in torch::kFloat16, and the bytes of an element of \p Dtype, a
/// value of enum c10::ScalarType; nullopt for complex and quantized ones, and
/// rare ones of one byte.
std::optional<std::pair<llvm::StringRef, unsigned>> elementSize(int64_t Dtype);
/// Has an element of \p Dtype, a value of enum c10::ScalarType, one byte?
bool hasOneByte(int64_t Dtype);
/// The tensor whose scalar_type() or dtype() \p E is; null for others.
const clang::Expr *askedForDtype(const clang::Expr *E);
/// The tensor whose element_size() \p E is, or itemsize() of its dtype; null
/// for others.
const clang::Expr *askedForElementSize(const clang::Expr *E);

/// What arguments ask of a tensor: dtype, device.
struct Asked {
  std::optional<int64_t> Dtype;
  bool Integral = false; ///< Dtype is one of whole numbers, or bool.
  bool AnyDtype = false; ///< Some dtype, perhaps one that is not known.
  bool AnyDevice = false, Cpu = false, Cuda = false;
  bool Unknown = false;
};

/// Does device \p E say that it is the CPU: kCPU, Device("cpu")?
bool namesCpu(const clang::Expr *E);

/// Adds what \p E, a dtype, device or TensorOptions, asks for.
void readAsked(const clang::Expr *E, const clang::ASTContext &Context,
               Asked &A);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_TENSORTRAITS_H
