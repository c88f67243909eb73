//===- Concatenation.cpp - Operators that join tensors --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Concatenation.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

std::optional<Concatenation> asConcatenation(const CallExpr *Call) {
  StringRef Name = calleeName(Call);
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
  llvm::SmallVector<const Expr *, 4> Written = writtenArguments(Call);
  return Concatenation{Call->getArg(0),
                       Written.size() > 1 ? Written[1] : nullptr, !IsStack};
}

/// The tensor that a method of LibTorch is called on.
static const Expr *tensorObject(const CallExpr *Call) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  if (!Member || !isTorchDecl(Member->getMethodDecl()))
    return nullptr;
  const Expr *Object = Member->getImplicitObjectArgument();
  return Object && isTensor(Object->getType()) ? Object : nullptr;
}

const Expr *sameShapeObject(const CallExpr *Call) {
  const Expr *Object = tensorObject(Call);
  return Object && llvm::StringSwitch<bool>(calleeName(Call))
                       .Cases("detach", "clone", "contiguous", true)
                       .Cases("to", "cpu", "cuda", true)
                       .Default(false)
             ? Object
             : nullptr;
}

bool showsWhole(const CallExpr *View) {
  return llvm::StringSwitch<bool>(calleeName(View))
      .Cases("unsqueeze", "squeeze", "view", "view_as", "reshape", true)
      .Cases("flatten", "unflatten", "ravel", "detach", "t", true)
      .Cases("transpose", "permute", "movedim", "swapaxes", "swapdims", true)
      .Cases("contiguous", "to", "cpu", "cuda", "alias", true)
      .Default(false);
}

bool resizesInPlace(const CallExpr *Call) {
  return tensorObject(Call) && llvm::StringSwitch<bool>(calleeName(Call))
                                   .Cases("resize_", "resize_as_", true)
                                   .Cases("set_", "set_data", "reset", true)
                                   .Default(false);
}

} // namespace libtorch_tidy::torch
