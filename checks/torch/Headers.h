//===- Headers.h - What units see of LibTorch's headers ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_HEADERS_H
#define LIBTORCH_TIDY_CHECKS_TORCH_HEADERS_H

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// True for a header that takes as long to read behind the whole frontend (see
/// isWholeFrontend) as all that a small unit has of its own: 0.3 s for
/// TorchScript of 1.13.1. Others take a few milliseconds.
bool isLargeBesideFrontend(llvm::StringRef Name);

/// True for a unit in which at::Tensor is declared.
bool declaresTensor(clang::ASTContext &Context);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_HEADERS_H
