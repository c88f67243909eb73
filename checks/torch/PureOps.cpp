//===- PureOps.cpp - Operators that matter by their result ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/PureOps.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"

using namespace clang;

namespace libtorch_tidy::torch {

std::optional<PureOp> asPureOp(const CallExpr *Call) {
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const OpFacts *Facts = opFacts(Callee);
  // An operator's sign is no name: compilers warn of `x + y;` by themselves.
  if (!Facts || Facts->Pure == PureKind::No || Facts->Outputs != 1 ||
      !Callee->getIdentifier() || !isTensor(Call->getType()))
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
  return PureOp{Facts->Pure, calleeName(Call), Tensor};
}

} // namespace libtorch_tidy::torch
