//===- Headers.cpp - How LibTorch's headers overlap -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Headers.h"

namespace libtorch_tidy::torch {

bool isLargeBesideFrontend(llvm::StringRef Name) {
  return Name == "torch/script.h";
}

} // namespace libtorch_tidy::torch
