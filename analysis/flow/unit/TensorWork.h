//===- TensorWork.h - Which code runs tensor work ---------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_TENSORWORK_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_TENSORWORK_H

#include "analysis/torch/api/Effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy::flow {

/// The way to the first call that \p IsGoal accepts among those that running
/// \p S runs outside the try statements in it, so that what the call throws
/// comes out of \p S. A call of \p S, one in the body of the function that it
/// calls, and so on to the goal; empty when there is none.
llvm::SmallVector<const clang::CallExpr *, 2>
wayToFreeCall(const clang::Stmt *S,
              llvm::function_ref<bool(const clang::CallExpr *)> IsGoal);

/// Does \p S run a call that \p IsGoal accepts, by itself or through functions
/// of the unit, also in try statements? The first such call, in \p S or in one
/// of the functions; null when there is none.
const clang::CallExpr *
findRunCall(const clang::Stmt *S,
            llvm::function_ref<bool(const clang::CallExpr *)> IsGoal);

/// Tensor work of one unit, through the functions whose bodies it has.
class TensorWork {
public:
  using Throws = llvm::SmallVector<const clang::CXXThrowExpr *, 2>;

  /// The work of \p Call itself, and of all that its callee's body runs.
  torch::Work of(const clang::CallExpr *Call);
  /// The work of all calls that \p S runs.
  torch::Work of(const clang::Stmt *S);

  /// The throw expressions whose exception owns tensors that come out of
  /// \p S, outside the try statements in it.
  Throws ownersThrownBy(const clang::Stmt *S);

private:
  struct Summary {
    torch::Work Amount = torch::Work::None;
    Throws Thrown;
  };
  /// By value: later summaries move the table.
  Summary of(const clang::FunctionDecl *F);

  llvm::DenseMap<const clang::FunctionDecl *, Summary> Known;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_TENSORWORK_H
