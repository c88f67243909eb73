//===- Loops.h - What the shape of a loop tells -----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_LOOPS_H
#define LIBTORCH_TIDY_CHECKS_FLOW_LOOPS_H

#include "clang/AST/Stmt.h"

namespace clang {
class ASTContext;
} // namespace clang

namespace libtorch_tidy::flow {

/// Does \p Loop (may be null) run a small constant number of times, four at
/// most? Then it is over the parts of one thing, not over a run.
bool runsFewTimes(const clang::Stmt *Loop, const clang::ASTContext &Context);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_LOOPS_H
