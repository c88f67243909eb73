//===- TensorGrowth.h - Tensors that a loop regrows -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds tensors that every iteration of a loop replaces by a longer copy.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_COST_TENSORGROWTH_H
#define LIBTORCH_TIDY_CHECKS_COST_TENSORGROWTH_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>

namespace libtorch_tidy {

/// One `all = torch::cat({all, x})`.
struct GrowthStep {
  const clang::CXXOperatorCallExpr *Assign = nullptr;
  const clang::CallExpr *Cat = nullptr;
  /// `all`, as the element of the list; null when it is in no list.
  const clang::Expr *Old = nullptr;
  /// x, when it is the only part and stands after `all`.
  const clang::Expr *Part = nullptr;
  /// The call is the whole value, written in the assignment.
  bool Plain = false;
};

struct TensorGrowth {
  /// The loop over whose iterations it grows: the outermost where nothing else
  /// is done with it, or else the innermost.
  const clang::Stmt *Loop = nullptr;
  /// What grows, as the first step writes it.
  const clang::Expr *Target = nullptr;
  llvm::SmallVector<GrowthStep, 2> Steps; ///< In source order.
  /// Reads the elements within the loop; null when the loop only collects.
  const clang::Expr *Read = nullptr;
  /// Asks for the size or the like of it within the loop.
  bool Queried = false;
  /// The first iteration sets it instead: the statement that does, an operand
  /// of `if` with a step as the other.
  const clang::Expr *FirstSet = nullptr;
  /// The list all of whose elements each iteration joins, where it is not the
  /// tensor that is joined with a part.
  const clang::VarDecl *Parts = nullptr;
};

/// The growth of variables, and of other names, over loops of the unit: many
/// calls can grow the same tensor in the same loop.
using KnownGrowths = std::map<std::pair<const clang::Stmt *, const void *>,
                              std::optional<TensorGrowth>>;

/// The growth that \p Cat, a call of user code, is the first step of; nullopt
/// when there is none, when it stays small (a few iterations, something else
/// sets or cuts it in the loop) or when each iteration needs the whole
/// (attention caches, dense connections, the sequence that a model continues).
std::optional<TensorGrowth> growthBy(const clang::CallExpr *Cat,
                                     clang::ASTContext &Context,
                                     KnownGrowths &Known);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_COST_TENSORGROWTH_H
