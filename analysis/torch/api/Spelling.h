//===- Spelling.h - LibTorch's names as edits write them --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_SPELLING_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_SPELLING_H

#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch::spelling {

inline constexpr llvm::StringLiteral Tensor = "torch::Tensor";
inline constexpr llvm::StringLiteral NoGradGuard = "torch::NoGradGuard";
/// An undefined tensor: assigning it lets go of what was held. `{}` is
/// ambiguous there and does not compile.
inline constexpr llvm::StringLiteral UndefinedTensor = "torch::Tensor()";
/// Returns gradients and stores none.
inline constexpr llvm::StringLiteral Grad = "torch::autograd::grad";
/// Gives a tensor memory of its own.
inline constexpr llvm::StringLiteral CloneCall = ".clone()";

} // namespace libtorch_tidy::torch::spelling

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_SPELLING_H
