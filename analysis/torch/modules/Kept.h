//===- Kept.h - What values and objects keep --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a value owns: a lambda, a std::bind or a container owns what it was
/// given by value; and what a function leaves in its object. By syntax, for
/// variables that keep their value.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_KEPT_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_KEPT_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace libtorch_tidy::torch {

/// The expressions whose values a copy of \p E keeps, seen through lambdas
/// (what they capture by value), std::function, std::bind, tuples, lists,
/// containers, IValues and user classes that store what they are made of. \p E
/// itself when it is something else.
llvm::SmallVector<const clang::Expr *, 4> keptBy(const clang::Expr *E,
                                                 const clang::Stmt *Body);

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

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_KEPT_H
