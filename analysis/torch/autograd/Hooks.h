//===- Hooks.h - Functions that autograd keeps ------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_HOOKS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_HOOKS_H

#include "clang/AST/ExprCXX.h"
#include <optional>

namespace libtorch_tidy::torch {

/// A call that makes a tensor, or the graph node of one, keep a function.
/// Tensors and nodes keep hooks until they die or remove_hook() is called;
/// backward() does not release them.
struct HookRegistration {
  const clang::Expr *Tensor; ///< `y` also in y.grad_fn()->add_post_hook(...).
  const clang::Expr *Hook;
  bool OnNode; ///< It cannot be removed by remove_hook().
};
std::optional<HookRegistration> asHookRegistration(const clang::CallExpr *Call);

/// The tensor whose history \p Call needs: x.retain_grad() and
/// x.register_hook() throw where x requires no gradient, and x.grad_fn() is
/// null there. Null for other calls.
const clang::Expr *needsHistory(const clang::CallExpr *Call);

/// The tensor in tensor.remove_hook(handle); null for other calls.
const clang::Expr *asHookRemoval(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_HOOKS_H
