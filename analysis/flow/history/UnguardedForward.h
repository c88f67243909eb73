//===- UnguardedForward.h - A forward pass with gradient mode on *- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_UNGUARDEDFORWARD_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_UNGUARDEDFORWARD_H

#include "analysis/flow/unit/UnitModel.h"

namespace libtorch_tidy::flow {

/// A forward pass, in this unit or in another.
struct UnguardedForward {
  const clang::Expr *Site = nullptr; ///< Null: in another unit.
  std::string At;                    ///< As file:line.
};

/// The first that \p Flow runs when it is called with gradient mode on, or that
/// a function does which it calls; \p Depth: of these calls.
std::optional<UnguardedForward>
unguardedForward(const FunctionFlow &Flow, UnitModel &Unit, unsigned Depth = 3);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_UNGUARDEDFORWARD_H
