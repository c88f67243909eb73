//===- StoredArguments.h - What a function leaves in its object -*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_STOREDARGUMENTS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_STOREDARGUMENTS_H

#include "clang/AST/Decl.h"
#include <vector>

namespace libtorch_tidy::torch {

/// A parameter that a constructor or method leaves in its own object, in a
/// field that owns what it holds or that holds functions.
struct StoredArgument {
  unsigned Index; ///< Of the parameter.
  /// Null when it is registered with the object as a module of its own.
  const clang::FieldDecl *Field;
};

/// What \p F stores; of one without a body here, what other units say of it.
std::vector<StoredArgument> storedArguments(const clang::FunctionDecl *F);

/// The part of a cpp::UnitContext that storedArguments() asks about functions
/// without a body here.
struct StoredElsewhere {
  /// Null: nobody knows.
  std::vector<StoredArgument> (*Of)(const clang::FunctionDecl *F) = nullptr;
};

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_STOREDARGUMENTS_H
