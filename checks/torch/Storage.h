//===- Storage.h - Who owns the memory of a tensor --------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a call does with memory: whether its result has memory of its own or
/// that of the tensor it was called on, which calls hand out pointers and
/// references into a tensor, and which make a tensor over memory of others.
/// Measured on LibTorch 1.13.1 where the schema leaves it open.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_STORAGE_H
#define LIBTORCH_TIDY_CHECKS_TORCH_STORAGE_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace libtorch_tidy::torch {

/// What is known of a tensor without running anything.
struct TensorTraits {
  std::optional<int64_t> Dtype; ///< A value of enum c10::ScalarType.
  bool OnHost = false;          ///< In memory of the CPU.
  bool Contiguous = false;
};

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

/// The tensors that \p Call, torch::save or pickle_save, writes.
llvm::SmallVector<const clang::Expr *, 4>
savedTensors(const clang::CallExpr *Call);

/// A pointer, array reference or C++ reference into a tensor or a tuple.
struct Access {
  enum Kind {
    Data,     ///< data_ptr(), accessor(), storage().data()
    Shape,    ///< sizes(), strides(), storage(): parts of the tensor object
    Elements, ///< elements() of a TorchScript tuple
  } What;
  const clang::CallExpr *Call;
  const clang::Expr *Object; ///< The tensor or tuple, as written.
  llvm::StringRef Name;      ///< Of the method.
};
std::optional<Access> asAccess(const clang::CallExpr *Call);

/// torch::from_blob without a deleter.
struct BlobCall {
  const clang::CallExpr *Call;
  const clang::Expr *Buffer;
  TensorTraits Traits;
};
std::optional<BlobCall> asFromBlob(const clang::CallExpr *Call,
                                   const clang::ASTContext &Context);

/// c10::ArrayRef, so IntArrayRef and TensorList, and OptionalArrayRef.
bool isArrayRef(clang::QualType T);
/// TensorAccessor and its kin: pointers to data, sizes and strides.
bool isAccessor(clang::QualType T);

/// How code spells the element type of ArrayRef \p T; empty when there is no
/// short way.
llvm::StringRef spellElement(clang::QualType T,
                             const clang::ASTContext &Context);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_STORAGE_H
