//===- Sharing.h - Whose memory a tensor has --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a call does with memory: whether its result has memory of its own or
/// that of the tensor it was called on. Measured on LibTorch 1.13.1 where the
/// schema leaves it open.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_SHARING_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_SHARING_H

#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TensorTraits.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::torch {

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
  No,      ///< Somebody else holds it, or it cannot be known.
  Perhaps, ///< Only when an operator such as contiguous() had to copy.
  Likely,  ///< The result of a user's module.
  Yes,
};

/// What is known of a local variable that an expression starts from; null:
/// nothing.
using LocalTensors =
    llvm::function_ref<std::pair<Fresh, TensorTraits>(const clang::VarDecl *)>;

/// How sure is it that the result of a call is alone, where that is known from
/// elsewhere?
using FreshCalls = llvm::function_ref<Fresh(const clang::CallExpr *)>;

/// Does the memory of tensor, tuple or list \p E die with it, and what is known
/// of the tensor? With \p OfHandle: does the tensor object that \p E names,
/// with its sizes and strides? A view of a living tensor has memory that lives
/// on, and an object that does not.
std::pair<Fresh, TensorTraits> freshMemory(const clang::Expr *E,
                                           const clang::ASTContext &Context,
                                           LocalTensors Local = nullptr,
                                           bool OfHandle = false,
                                           FreshCalls Calls = nullptr);

/// The local or other variable whose memory \p E has or may have, through
/// views and conversions; null when \p E has its own or cannot be followed.
const clang::VarDecl *memoryRoot(const clang::Expr *E,
                                 const clang::ASTContext &Context);

/// What \p Call takes an element out of: `list` in list[0] and list.at(0),
/// `value` in value.toTuple()->elements() and std::get<0>(value). Null for
/// other calls, and for `t[0]` of a tensor, which is a view.
const clang::Expr *containerOf(const clang::CallExpr *Call);

/// Is \p Call a loss that is reduced to a number whose storage is the
/// unreduced elementwise buffer (1.13.1, CPU): mse_loss and similar losses, or
/// a criterion that runs one? False when another reduction is asked for, or may
/// be.
bool pinsUnreduced(const clang::CallExpr *Call,
                   const clang::ASTContext &Context);

/// The tensor whose memory the result of \p Call (may be null) has: its object
/// or first argument, when it is a view of it whatever it is (slice, transpose,
/// x.index({0})), the same tensor (add_), or a copy only by exception (reshape,
/// flatten). Null for the others: to, contiguous, x.index({mask}).
const clang::Expr *viewedBy(const clang::CallExpr *Call);

/// The tensor that \p Call (may be null), a method or `t[i]`, makes a view of,
/// with its history; null for others. Not for methods that may copy or return
/// the tensor itself, nor for detach().
const clang::Expr *viewOf(const clang::CallExpr *Call);

/// Asks about a tensor without holding on to its storage (size, dim, device,
/// defined), or about a container or optional (size, empty, has_value).
bool isMetadataAccess(const clang::CallExpr *Call);

/// x[0], x.select(0, 0), x.index({0}): does \p Call, which takes a part of its
/// tensor, take the first element, or one that is not known?
bool takesFirst(const clang::CallExpr *Call, const clang::ASTContext &Context);

/// x.slice(1, -n), x.narrow(0, i, n), x.index({Slice(-n)}): does \p Call, which
/// takes a part of its tensor, leave open how long that is?
bool takesOpenLength(const clang::CallExpr *Call,
                     const clang::ASTContext &Context);

/// Does \p Call (may be null) only read its tensor: metadata, values without
/// history (item, detach), or values of a new tensor (add, matmul)?
bool onlyReads(const clang::CallExpr *Call);

/// The object of a method whose result has the object's shape and elements:
/// detach, clone, contiguous, to, cpu, cuda. Null for others.
const clang::Expr *sameShapeObject(const clang::CallExpr *Call);

/// Does the result show all elements of its object, so that keeping it keeps
/// no more than it shows: unsqueeze, view, transpose; not slice?
bool showsWhole(const clang::CallExpr *View);

/// Does \p Call, of a tensor, make its dimensions stand in another order: t(),
/// transpose(0, 1), permute()?
bool turnsDimensions(const clang::CallExpr *Call);

/// t.size(0): the tensor and the dimension, as written; null for others.
struct SizeAsked {
  const clang::Expr *Of = nullptr, *Dimension = nullptr;
};
SizeAsked askedForSize(const clang::Expr *E);

/// Methods that give a tensor another size in place, or let it go.
bool resizesInPlace(const clang::CallExpr *Call);
/// Of these, those that keep the elements and may move them to other memory:
/// resize_, resize_as_.
bool mayMoveElements(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_SHARING_H
