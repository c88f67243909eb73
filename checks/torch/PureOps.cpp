//===- PureOps.cpp - Operators that matter by their result ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/PureOps.h"
#include "checks/torch/Calls.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/TorchTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace libtorch_tidy::torch {

static std::optional<PureKind> kindOf(llvm::StringRef Name) {
  using Result = std::optional<PureKind>;
  return llvm::StringSwitch<Result>(Name)
      .Case("detach", PureKind::Detach)
      .Cases("to", "cpu", "cuda", "toType", "contiguous", "pin_memory",
             PureKind::Converts)
      .Cases("view", "view_as", "reshape", "reshape_as", "flatten", "unflatten",
             "squeeze", "unsqueeze", PureKind::Converts)
      .Cases("transpose", "permute", "t", "movedim", "moveaxis", "swapaxes",
             "swapdims", "expand", "expand_as", PureKind::Converts)
      .Cases("clamp", "clamp_min", "clamp_max", "clip", PureKind::Converts)
      .Cases("fill", "masked_fill", "masked_scatter", "index_put", "index_fill",
             "index_add", "index_copy", PureKind::Fills)
      .Cases("scatter", "scatter_add", PureKind::Fills)
      .Cases("add", "sub", "subtract", "mul", "multiply", "div", "divide",
             "neg", "negative", PureKind::Computes)
      .Cases("abs", "absolute", "exp", "log", "sqrt", "rsqrt", "square", "pow",
             PureKind::Computes)
      .Cases("floor", "ceil", "round", "sign", "reciprocal", "clone",
             PureKind::Computes)
      .Default(std::nullopt);
}

std::optional<PureOp> asPureOp(const CallExpr *Call) {
  std::optional<PureKind> Kind = kindOf(calleeName(Call));
  if (!Kind || !isTensor(Call->getType()))
    return std::nullopt;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!isTorchDecl(Callee))
    return std::nullopt;
  // toType is no operator of the table; an in-place variant never is one here.
  const OpFacts *Facts = opFacts(Callee);
  if (Facts && (Facts->InPlace || Facts->Outputs != 1))
    return std::nullopt;
  const Expr *Tensor = nullptr;
  if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call)) {
    Tensor = Method->getImplicitObjectArgument();
  } else {
    const auto *Space = dyn_cast<NamespaceDecl>(Callee->getDeclContext());
    if (!Space || Space->getName() != "at" || Call->getNumArgs() == 0)
      return std::nullopt;
    Tensor = Call->getArg(0);
  }
  if (!Tensor || !isTensor(Tensor->getType()))
    return std::nullopt;
  return PureOp{*Kind, calleeName(Call), Tensor};
}

} // namespace libtorch_tidy::torch
