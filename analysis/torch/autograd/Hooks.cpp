//===- Hooks.cpp - Functions that autograd keeps --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/autograd/Hooks.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// A method called \p Name of a tensor, or of what points to one.
static const Expr *tensorOf(const CallExpr *Call, StringRef Name) {
  const auto *Method = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  return Method && cpp::calleeName(Call) == Name &&
                 isTensor(Method->getObjectType())
             ? Method->getImplicitObjectArgument()
             : nullptr;
}

/// The tensor in `tensor.grad_fn()`, also through a variable.
static const Expr *tensorOfNode(const Expr *E) {
  E = cpp::stripPointers(E);
  if (const VarDecl *Var = cpp::variableOf(E);
      Var && Var->isLocalVarDecl() && Var->getInit())
    E = cpp::stripPointers(Var->getInit());
  return tensorOf(dyn_cast_or_null<CallExpr>(E), "grad_fn");
}

std::optional<HookRegistration> asHookRegistration(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  if (!Name.contains("hook") || Call->getNumArgs() == 0)
    return std::nullopt;
  if (const Expr *Tensor = tensorOf(Call, "register_hook"))
    return HookRegistration{Tensor, Call->getArg(0), /*OnNode=*/false};
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (!Method || (Name != "add_post_hook" && Name != "add_pre_hook" &&
                  Name != "add_tensor_pre_hook"))
    return std::nullopt;
  if (!cpp::isOrDerivesFrom(Method->getRecordDecl(), "torch::autograd::Node"))
    return std::nullopt;
  const Expr *Tensor = tensorOfNode(Method->getImplicitObjectArgument());
  if (!Tensor)
    return std::nullopt;
  return HookRegistration{Tensor, Call->getArg(0), /*OnNode=*/true};
}

const Expr *needsHistory(const CallExpr *Call) {
  if (const Expr *Tensor = tensorOf(Call, "retain_grad"))
    return Tensor;
  const std::optional<HookRegistration> Hook = asHookRegistration(Call);
  return Hook ? Hook->Tensor : nullptr;
}

const Expr *asHookRemoval(const CallExpr *Call) {
  return tensorOf(Call, "remove_hook");
}

} // namespace libtorch_tidy::torch
