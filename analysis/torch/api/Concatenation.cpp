//===- Concatenation.cpp - Operators that join tensors --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/api/Concatenation.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TorchTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

std::optional<Concatenation> asConcatenation(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  bool IsStack = Name == "stack";
  // concatenate is of 2.x.
  bool Known = IsStack || llvm::StringSwitch<bool>(Name)
                              .Cases("cat", "concat", "concatenate", true)
                              .Cases("hstack", "vstack", "row_stack", true)
                              .Cases("dstack", "column_stack", true)
                              .Default(false);
  if (!Known || !isTorchDecl(Call->getDirectCallee()) ||
      isa<CXXMethodDecl>(Call->getDirectCallee()) || Call->getNumArgs() == 0 ||
      !isTensor(Call->getType()))
    return std::nullopt;
  llvm::SmallVector<const Expr *, 4> Written = cpp::writtenArguments(Call);
  return Concatenation{Call->getArg(0),
                       Written.size() > 1 ? Written[1] : nullptr, !IsStack};
}

} // namespace libtorch_tidy::torch
