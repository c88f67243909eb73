//===- Conventions.h - What names suggest -----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Guesses from names, where code that is not seen or a human habit leaves
/// nothing else to go by. Everything else of libtorch-tidy goes by types and
/// declarations. Each guess says why it is made and what it is used for.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_CONVENTIONS_H
#define LIBTORCH_TIDY_CHECKS_TORCH_CONVENTIONS_H

#include "clang/AST/Decl.h"

namespace libtorch_tidy::torch {

/// A method called sample of a class that is no module. In torch.distributions,
/// and in what is written after it, that draws with gradient mode off;
/// rsample() is the one that carries history.
bool drawsSample(const clang::FunctionDecl *F);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_CONVENTIONS_H
