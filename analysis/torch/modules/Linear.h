//===- Linear.h - Fully connected layers ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_LINEAR_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_LINEAR_H

#include "clang/AST/Expr.h"
#include <optional>

namespace libtorch_tidy::torch {

inline constexpr llvm::StringLiteral LinearName = "Linear";
inline constexpr llvm::StringLiteral LinearClass = "::torch::nn::Linear";
inline constexpr llvm::StringLiteral LinearImplClass =
    "::torch::nn::LinearImpl";
inline constexpr llvm::StringLiteral MakeShared = "::std::make_shared";

struct LinearShape {
  uint64_t In, Out;
};
/// The features of the layer that \p E makes: Linear(in, out),
/// Linear(LinearOptions(in, out).bias(false)), make_shared<LinearImpl>(...),
/// where the compiler can compute both. nullopt for everything else, and where
/// one of them is a vocabulary's size: such a head has to be that large.
std::optional<LinearShape> linearShape(const clang::Expr *E,
                                       const clang::ASTContext &Context);

/// Does \p E make such a layer with sizes that are computed when the program
/// runs? Not where a vocabulary takes part.
bool makesLinearOfGivenSizes(const clang::Expr *E);

/// Does \p E make such a layer of which one size is that of a vocabulary?
bool makesLinearOfVocabulary(const clang::Expr *E);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_LINEAR_H
