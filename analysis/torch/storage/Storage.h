//===- Storage.h - Ways into and out of a tensor's memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which calls hand out pointers and references into a tensor, which make a
/// tensor over memory of others, which write its memory to a file.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_STORAGE_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_STORAGE_H

#include "analysis/torch/api/TensorTraits.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace libtorch_tidy::torch {

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

/// The tensor whose numel() \p E is; null for others.
const clang::Expr *countedBy(const clang::Expr *E);

/// torch::from_blob.
struct BlobCall {
  const clang::CallExpr *Call;
  const clang::Expr *Buffer;
  TensorTraits Traits;
  bool OnCuda = false; ///< The options ask for a CUDA device.
  const clang::Expr *Sizes;
  const clang::Expr *Strides = nullptr; ///< Null when none are given.
  const clang::Expr *Deleter = nullptr;
};
std::optional<BlobCall> asAnyBlob(const clang::CallExpr *Call,
                                  const clang::ASTContext &Context);
/// The same without those whose deleter frees the buffer, or may keep what
/// owns it alive.
std::optional<BlobCall> asFromBlob(const clang::CallExpr *Call,
                                   const clang::ASTContext &Context);

/// Makes a tensor over memory that LibTorch has not allocated, with or without
/// a deleter: from_blob, for_blob, from_file, fromDLPack. Null is allowed.
bool wrapsMemory(const clang::CallExpr *Call);

/// c10::ArrayRef, so IntArrayRef and TensorList, HeaderOnlyArrayRef and
/// OptionalArrayRef.
bool isArrayRef(clang::QualType T);
/// c10::SmallVector: a vector whose elements lie in memory of its own.
bool isSmallVector(clang::QualType T);
/// c10::string_view, which refers to the characters of another object.
bool isStringView(clang::QualType T);
/// TensorAccessor and similar classes: pointers to data, sizes and strides.
bool isAccessor(clang::QualType T);

/// How code spells the element type of ArrayRef \p T; empty when there is no
/// short way.
llvm::StringRef spellElement(clang::QualType T,
                             const clang::ASTContext &Context);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_STORAGE_H
