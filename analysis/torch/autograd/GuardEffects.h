//===- GuardEffects.h - What objects do to gradient mode --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What an object does to gradient mode while it lives, as its constructor, its
/// members and the functions that make it say. For GradGuards.cpp.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_GUARDEFFECTS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_GUARDEFFECTS_H

#include "analysis/torch/autograd/GradGuards.h"

namespace libtorch_tidy::torch {

/// What an object does to gradient mode while it lives.
struct GuardEffect {
  GradMode Mode = GradMode::Unknown;
  bool Inference = false; ///< By an InferenceMode.
};
using MaybeEffect = std::optional<GuardEffect>;

/// How a guard class of LibTorch decides.
enum class Decides { No, AlwaysOff, ByEnabled, ByInference };
Decides decides(const clang::CXXRecordDecl *R);

/// The class that owner \p R keeps in a box that may be empty: a smart
/// pointer or an optional. Null for everything else.
const clang::CXXRecordDecl *boxed(const clang::CXXRecordDecl *R);

/// nullopt where there is no guard.
MaybeEffect effectOf(const clang::VarDecl *V);
/// Of an object of class \p R of which nothing else is known.
MaybeEffect effectOf(const clang::CXXRecordDecl *R);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_GUARDEFFECTS_H
