//===- Elements.h - What elements a pointer leads to ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The type and the bytes of the elements in the memory of a tensor, as far as
/// the code says.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_ELEMENTS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_ELEMENTS_H

#include "analysis/cpp/Body.h"
#include <optional>
#include <string>

namespace libtorch_tidy::torch {

struct Elements {
  unsigned Bytes;   ///< Of one.
  std::string Type; ///< In C++; empty for those of one byte.
};

/// The elements of \p Tensor, as far as the call that makes it says; nullopt
/// where they are not known, or have no type of C++.
std::optional<Elements> elementsIn(const clang::Expr *Tensor, cpp::Body &In);

/// What a pointer leads to.
struct PointedTo {
  const clang::Expr *Of = nullptr; ///< The tensor or container; or null.
  std::optional<Elements> Has;
};
PointedTo elementsAt(const clang::Expr *Pointer, cpp::Body &In);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_ELEMENTS_H
