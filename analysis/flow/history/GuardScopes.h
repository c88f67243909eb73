//===- GuardScopes.h - Where one guard does ---------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_GUARDSCOPES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_GUARDSCOPES_H

#include "analysis/flow/unit/UnitModel.h"

namespace libtorch_tidy::flow {

/// The outermost block around \p Site that a guard can own: nothing in it
/// trains, and no history that arises in it is needed. Null when there is none.
const clang::CompoundStmt *guardableBlock(const clang::Stmt *Site,
                                          const FunctionFlow &Flow,
                                          UnitModel &Unit);

/// Does something in \p S visibly train, or is a value computed there
/// back-propagated? A value of unknown origin that is back-propagated after
/// \p S counts as one.
bool isSeenToTrain(const clang::Stmt *S, const FunctionFlow &Flow,
                   UnitModel &Unit);

/// The block around all that one reader would guard at once when \p Guardable
/// has a guard: blocks of a function with nothing between them that needs
/// history, and the lambdas that it runs; with \p UpToMain, what the unit's
/// main calls, too.
const clang::Stmt *neighbourhoodOf(const clang::CompoundStmt *Guardable,
                                   const FunctionFlow &Flow, UnitModel &Unit,
                                   bool UpToMain = false);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_GUARDSCOPES_H
