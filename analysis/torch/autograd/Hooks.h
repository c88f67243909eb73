//===- Hooks.h - Users' functions that autograd keeps -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Hooks, and custom autograd functions with what they keep for their backward
/// pass. Facts of torch/csrc/autograd/custom_function.h, which 1.13 and 2.x
/// share: the graph node owns the context; a backward pass releases what
/// save_for_backward was given, and never what is in saved_data.

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

/// The name of the base class, for matchers.
inline constexpr llvm::StringLiteral CustomFunction =
    "::torch::autograd::Function";
/// The static methods that a class derived from it has.
inline constexpr llvm::StringLiteral ForwardMethod = "forward",
                                     BackwardMethod = "backward";

/// Is \p F the backward() of a custom function, which autograd calls?
bool isCustomBackward(const clang::FunctionDecl *F);

/// A pointer or reference to an AutogradContext.
bool isAutogradContext(clang::QualType T);

/// Is \p E the saved_data of a context, by itself or by a reference to it?
bool isSavedData(const clang::Expr *E);

/// The key of an element of saved_data, `ctx->saved_data[key]` or .at(key);
/// null when \p E is something else.
const clang::Expr *savedDataKey(const clang::Expr *E);

/// A value that goes into saved_data: by assignment to an element, by insert,
/// emplace or insert_or_assign.
struct SavedDataStore {
  const clang::Expr *Key; ///< Null where it is not written apart.
  const clang::Expr *Value;
};
std::optional<SavedDataStore> asSavedDataStore(const clang::CallExpr *Call);

/// The list given to ctx->save_for_backward, mark_dirty or
/// mark_non_differentiable; null for other calls.
enum class ContextList { Saved, Dirty, NonDifferentiable };
const clang::Expr *asContextList(const clang::CallExpr *Call,
                                 ContextList Which);

/// ctx->get_saved_variables()
bool readsSavedVariables(const clang::CallExpr *Call);

/// Does \p Var register operators, which TorchScript and Python call by their
/// names (TORCH_LIBRARY, RegisterOperators)?
bool registersOperators(const clang::VarDecl *Var);

/// The IValue in `value.toTensor()`; null for other calls.
const clang::Expr *asToTensor(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_HOOKS_H
