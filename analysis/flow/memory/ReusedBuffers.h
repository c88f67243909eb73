//===- ReusedBuffers.h - Buffers that each iteration writes -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_REUSEDBUFFERS_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_REUSEDBUFFERS_H

#include "analysis/flow/memory/Memory.h"

namespace libtorch_tidy::flow {

/// Is the buffer of \p B declared before \p Loop and written in each iteration,
/// while container \p Into collects the tensors over it?
bool isReused(const Borrow &B, const clang::ValueDecl *Into,
              const clang::Stmt *Loop, const clang::ASTContext &Context);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_REUSEDBUFFERS_H
