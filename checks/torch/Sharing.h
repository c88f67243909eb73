//===- Sharing.h - Whose memory a tensor has --------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a call does with memory: whether its result has memory of its own or
/// that of the tensor it was called on. Measured on LibTorch 1.13.1 where the
/// schema leaves it open.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_SHARING_H
#define LIBTORCH_TIDY_CHECKS_TORCH_SHARING_H

#include "checks/torch/TensorTraits.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::torch {

enum class Sharing : unsigned char {
  Unknown, ///< Not an operator of LibTorch.
  None,    ///< The result has memory of its own.
  Perhaps, ///< A copy where there is something to do, else the same tensor.
  Memory,  ///< A new tensor object over the same memory: a view.
  Handle,  ///< The same tensor: in-place operators, conversions to itself.
};

struct StorageUse {
  Sharing How = Sharing::Unknown;
  const clang::Expr *Of = nullptr; ///< The tensor it may share with.
  TensorTraits Traits;             ///< Of the result.
  /// The result shows a part of the tensor only: x[0], x.slice(...).
  bool IsPart = false;
  /// The result is another tensor object, whatever its memory is.
  bool NewHandle = false;
};

/// \p Input is what is known of the tensor that \p Call is called on. Null is
/// allowed.
StorageUse storageUse(const clang::CallExpr *Call, const TensorTraits &Input,
                      const clang::ASTContext &Context);

/// How sure it is that a value has memory that nobody else holds, so that it
/// dies with the value. Ordered.
enum class Fresh : unsigned char {
  No,      ///< Somebody else holds it, or it cannot be told.
  Perhaps, ///< Only when an operator such as contiguous() had to copy.
  Likely,  ///< The result of a user's module.
  Yes,
};

/// What is known of a local variable that an expression starts from.
using LocalTensors =
    llvm::function_ref<std::pair<Fresh, TensorTraits>(const clang::VarDecl *)>;

/// Does the memory of tensor, tuple or list \p E die with it?
Fresh freshMemory(const clang::Expr *E, const clang::ASTContext &Context,
                  LocalTensors Local);
/// Does the tensor object behind \p E, with its sizes and strides? A view of a
/// living tensor has memory that lives on, and an object that does not.
Fresh freshHandle(const clang::Expr *E, const clang::ASTContext &Context,
                  LocalTensors Local);

/// The local or other variable whose memory \p E has or may have, through
/// views and conversions; null when \p E has its own or cannot be followed.
const clang::VarDecl *memoryRoot(const clang::Expr *E,
                                 const clang::ASTContext &Context);

/// What \p Call takes an element out of: `list` in list[0] and list.at(0),
/// `value` in value.toTuple()->elements() and std::get<0>(value). Null for
/// other calls, and for `t[0]` of a tensor, which is a view.
const clang::Expr *containerOf(const clang::CallExpr *Call);

/// Is \p Call a loss that is reduced to a number whose storage is the
/// unreduced elementwise buffer (1.13.1, CPU): mse_loss and its kin, or a
/// criterion that runs one? False when another reduction is asked for, or may
/// be.
bool pinsUnreduced(const clang::CallExpr *Call,
                   const clang::ASTContext &Context);

/// Does the result of \p Call share storage with its object or first argument
/// whatever the arguments are: slice, view, transpose; not to, contiguous?
/// That operand; null otherwise.
const clang::Expr *viewedBy(const clang::CallExpr *Call);

/// Methods that tell about a tensor without holding on to its storage: size,
/// dim, device, defined.
bool isMetadataAccess(const clang::CallExpr *Call);

/// Does every call of this method of Tensor (or `t[i]`) make a view of its
/// object? Not those that may copy or return the object itself.
bool makesView(const clang::CallExpr *Call);

/// The object of a method whose result has the object's shape and elements:
/// detach, clone, contiguous, to, cpu, cuda. Null for others.
const clang::Expr *sameShapeObject(const clang::CallExpr *Call);

/// Does the result show all elements of its object, so that keeping it keeps
/// no more than it shows: unsqueeze, view, transpose; not slice?
bool showsWhole(const clang::CallExpr *View);

/// Methods that give a tensor another size in place, or let it go.
bool resizesInPlace(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_SHARING_H
