//===- Effects.h - What a call of LibTorch does -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a call of LibTorch does besides computing, how much it computes, and
/// which operators do nothing but return a result.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_EFFECTS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_EFFECTS_H

#include "analysis/torch/api/OpFacts.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include <optional>

namespace libtorch_tidy::torch {

/// Does \p Call, of a function of LibTorch, keep what it is given where later
/// code of LibTorch uses it: hooks, saved tensors, buffers, set_data?
bool keepsArguments(const clang::CallExpr *Call);

/// x.reset(), x.detach_(): the tensor has no history from here on.
bool endsHistory(const clang::CXXMemberCallExpr *Call);

/// x.set_data(y), module->to(device): the tensor, or each one of the module,
/// has other memory from here on, which a copy of the handle that detach() made
/// before does not show (measured with LibTorch 1.13.1: test/variants/hooks).
bool replacesData(const clang::CXXMemberCallExpr *Call);

/// tensor.grad_fn(): the node of the graph that made the tensor.
bool asksForGraph(const clang::CallExpr *Call);

/// is_leaf(), requires_grad(), grad_fn(): is \p Call asked of the history of
/// its tensor and not of its values?
bool asksForHistory(const clang::CallExpr *Call);

/// How much a call may allocate by itself, its callee's body aside.
enum class Work {
  None,  ///< No tensor memory: views, accessors, anything else.
  Some,  ///< A tensor.
  Heavy, ///< A module's forward, backward, matrix products and the like.
};
/// How much tensor work \p Call is.
Work workOf(const clang::CallExpr *Call);

/// Is \p Call of a function of torch::nn::functional?
bool runsFunctional(const clang::CallExpr *Call);

/// A tensor operator that changes nothing but returns something: to call one
/// and drop its result is to do nothing. Only cheap ones count: matrix products
/// and convolutions are also run for the time they take.
struct PureOp {
  PureKind Kind;
  llvm::StringRef Name;
  /// The tensor that stays as it is: the object of a method, the first
  /// argument of a function.
  const clang::Expr *Tensor;
};

/// nullopt when \p Call (may be null) is another call: also for
/// in-place and out= variants, functions of torch::nn::functional whose options
/// may say inplace, and methods of other classes, such as Module::to.
std::optional<PureOp> asPureOp(const clang::CallExpr *Call);

/// The tensor that \p Call writes in place: `x` in x.fill_(0), torch::relu_(x)
/// and x += 1, the object of an assignment that copies elements (`t[i] = x`).
/// Null for others, and for null.
const clang::Expr *writtenInPlace(const clang::CallExpr *Call);

/// x.index({rows}), x.index_select(0, rows), masked_select, gather and similar
/// operators, which copy the elements that they are told.
bool selectsElements(const clang::CallExpr *Call);
/// The operator that fills what \p Call selects, with the arguments of
/// \p Call and a number: "index_put_", "masked_fill_", "scatter_". Empty for
/// others; index_select allows indices that index_fill_ refuses (int32).
llvm::StringRef filledInstead(const clang::CallExpr *Call);

/// cat, stack and similar operators: a new tensor that holds a copy of every
/// element of a list.
struct Concatenation {
  const clang::Expr *List;
  /// The dimension, where it is written.
  const clang::Expr *Dim;
  /// Joining the result with more tensors is the same as joining all at once:
  /// not for stack, which adds a dimension each time.
  bool Associative;
};

std::optional<Concatenation> asConcatenation(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_EFFECTS_H
