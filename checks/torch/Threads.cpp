//===- Threads.cpp - LibTorch's own threads -------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Threads.h"
#include "checks/torch/Calls.h"

using namespace clang;

namespace libtorch_tidy::torch {

bool isParallelFor(const CallExpr *Call) {
  return callsTorch(Call, "parallel_for") && Call->getNumArgs() == 4;
}

} // namespace libtorch_tidy::torch
