//===- TorchTypes.h - LibTorch's types and headers by name ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which types and declarations are LibTorch's. With its neighbours in
/// this folder, the only place that spells LibTorch's names. Facts are of
/// LibTorch 1.13.1 and 2.x headers; names that only one of them has are
/// marked.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_TORCHTYPES_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_TORCHTYPES_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// True when \p D is declared in namespace at, c10, torch or caffe2 (or one
/// nested in them) and outside user code: user types may live in
/// `namespace torch` too. Null is allowed.
bool isTorchDecl(const clang::Decl *D);

/// True for a unit that declares anything of LibTorch.
bool declaresTorch(clang::ASTContext &Context);

/// What \p Qualified, a name in namespaces, names first; null for nothing.
const clang::NamedDecl *declared(clang::ASTContext &Context,
                                 llvm::StringRef Qualified);

/// True for a unit in which at::Tensor or torch::stable::Tensor is declared.
bool declaresTensor(clang::ASTContext &Context);
/// The same for the guard that fixes write, spelling::NoGradGuard.
bool declaresNoGradGuard(clang::ASTContext &Context);

/// at::Tensor, at::TensorBase and classes derived from them, and
/// torch::stable::Tensor (2.9 and later), without references. A smart pointer
/// to one is not a tensor.
bool isTensor(clang::QualType T);
/// The same for a class; false for null.
bool isTensorClass(const clang::CXXRecordDecl *R);

/// torch::stable::Tensor, the tensor of extensions that keep working with later
/// versions: a handle of a tensor that copies share, as at::Tensor is
/// (torch/csrc/stable/tensor_struct.h), with the accessors of its memory, but
/// without operators as methods and without reset(): those are functions of
/// torch::stable.
bool isStableTensor(clang::QualType T);

/// Does a value of \p T own or refer to tensors: a tensor, a container, tuple,
/// optional, IValue, TensorList, PackedSequence, user struct with such a
/// field, or a pointer or reference to one?
bool mayHoldTensor(clang::QualType T);

/// Does a value of \p T have parts of which several may be tensors of their
/// own: a container, a tuple or struct of two, an optional or pointer of one?
/// An IValue has none: most are one tensor.
bool hasTensorParts(clang::QualType T);

/// A class derived from torch::nn::Module, or torch::jit::Module, a
/// torch::nn::ModuleHolder<...> of one, or a pointer, smart pointer or
/// reference to one. AnyModule counts.
bool isModule(clang::QualType T);

/// A call of LibTorch's function or method \p Name.
bool callsTorch(const clang::CallExpr *Call, llvm::StringRef Name);
/// The same for one of \p Names.
bool callsTorch(const clang::CallExpr *Call,
                llvm::ArrayRef<llvm::StringRef> Names);

/// The tensor that \p Call, of a method of LibTorch's, is called on, as
/// written; null for other calls, and for null.
const clang::Expr *tensorOf(const clang::CallExpr *Call);
/// What \p Call, of a method of a tensor, is called on, a pointer to one
/// included; null for other calls, and for null.
const clang::Expr *tensorAskedBy(const clang::CallExpr *Call);

/// How edits and messages spell LibTorch's names.
namespace spelling {

inline constexpr llvm::StringLiteral Tensor = "torch::Tensor";
inline constexpr llvm::StringLiteral NoGradGuard = "torch::NoGradGuard";
/// An undefined tensor: assigning it lets go of what was held. `{}` is
/// ambiguous there and does not compile.
inline constexpr llvm::StringLiteral UndefinedTensor = "torch::Tensor()";
/// Returns gradients and stores none.
inline constexpr llvm::StringLiteral Grad = "torch::autograd::grad";
inline constexpr llvm::StringLiteral JitLoad = "torch::jit::load";
inline constexpr llvm::StringLiteral JitModule = "torch::jit::Module";
/// Gives a tensor memory of its own.
inline constexpr llvm::StringLiteral CloneCall = ".clone()";
/// Packs it, where it is not.
inline constexpr llvm::StringLiteral ContiguousCall = ".contiguous()";
/// The same of a torch::stable::Tensor, which has no such method.
inline constexpr llvm::StringLiteral StableContiguous =
    "torch::stable::contiguous";

} // namespace spelling

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_TORCHTYPES_H
