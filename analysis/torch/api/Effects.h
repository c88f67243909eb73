//===- Effects.h - What calls do besides computing --------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_EFFECTS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_EFFECTS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

namespace libtorch_tidy::torch {

/// Does \p Call, of a function of LibTorch, keep what it is given where later
/// code of LibTorch uses it: hooks, saved tensors, buffers, set_data?
bool keepsArguments(const clang::CallExpr *Call);

/// A method that changes its object although it may be const: in LibTorch const
/// says nothing, and the names of in-place operators end in an underscore.
bool changesObject(const clang::CXXMethodDecl *Method);

/// x.reset(), x.detach_(): the tensor has no history from here on.
bool endsHistory(const clang::CXXMemberCallExpr *Call);

/// x.set_data(y), module->to(device): the tensor, or each one of the module,
/// has other memory from here on, which a copy of the handle that detach() made
/// before does not show (measured with LibTorch 1.13.1: test/variants/hooks).
bool replacesData(const clang::CXXMemberCallExpr *Call);

/// is_leaf(), requires_grad(), grad_fn(): is \p Call asked of the history of
/// its tensor and not of its values?
bool asksForHistory(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_EFFECTS_H
