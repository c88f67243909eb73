//===- Effects.cpp - What calls do besides computing ----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Effects.h"
#include "checks/torch/Calls.h"
#include "llvm/ADT/StringSwitch.h"

namespace libtorch_tidy::torch {

bool keepsArguments(const clang::CallExpr *Call) {
  return llvm::StringSwitch<bool>(calleeName(Call))
      .Cases("register_hook", "save_for_backward", "set_data",
             "register_buffer", true)
      .Default(false);
}

} // namespace libtorch_tidy::torch
