//===- CarriedGraphs.h - Graphs that outlive their backward() ---*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds variables that carry a graph, through which backward() has gone, into
/// the next iteration, whose backward() goes through it again.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_CARRIEDGRAPHS_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_CARRIEDGRAPHS_H

#include "analysis/flow/history/FunctionFlow.h"

namespace libtorch_tidy::flow {

struct CarriedGraph {
  const Accumulation *Made =
      nullptr;                       ///< What makes the value anew from itself.
  const Label *Spent = nullptr;      ///< The backward() calls.
  const clang::Stmt *Loop = nullptr; ///< The innermost loop that carries it.
  /// The module call that it comes out of; null when none takes part.
  const Label *Module = nullptr;
  /// Something in the loop may cut it now and then.
  bool MayBeCut = false;
};

/// One for each accumulation, in source order.
llvm::SmallVector<CarriedGraph, 2> carriedGraphs(const FunctionFlow &Flow);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_CARRIEDGRAPHS_H
