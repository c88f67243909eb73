//===- LayoutSteps.h - What views make of a layout --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Operators that give a tensor other sizes and strides over the same memory,
/// for layoutOf(): see Layout.h.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUTSTEPS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUTSTEPS_H

#include "analysis/torch/storage/Layout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

/// Asks for the layout of an operand.
using LayoutOfOperand = llvm::function_ref<Layout(const clang::Expr *)>;

/// What operator \p Name, a view or reshape, makes of \p Of with \p Args, those
/// after the tensor; nullopt for others.
std::optional<Layout> rearranged(llvm::StringRef Name, const Layout &Of,
                                 llvm::ArrayRef<const clang::Expr *> Args,
                                 LayoutOfOperand Operand,
                                 const clang::ASTContext &Context);

/// The same for an operator whose result has other sizes than \p Of and is
/// packed: a sum over a dimension, index_select().
std::optional<Layout> resized(llvm::StringRef Name, const Layout &Of,
                              llvm::ArrayRef<const clang::Expr *> Args,
                              LayoutOfOperand Operand,
                              const clang::ASTContext &Context);

/// What cat() or stack() make of a list of tensors, the first of \p Args.
/// Others give a layout of which nothing is known.
Layout joined(llvm::StringRef Name, llvm::ArrayRef<const clang::Expr *> Args,
              LayoutOfOperand Operand, const clang::ASTContext &Context);

/// The dimensions that \p List, of constants in braces, names; else empty.
llvm::SmallVector<unsigned, 4> orderOf(const clang::Expr *List,
                                       const clang::ASTContext &Context);

/// A packed tensor of \p Sizes, a list in braces; of others only the order is
/// known.
Layout packedOf(const clang::Expr *Sizes, bool Sure,
                const clang::ASTContext &Context);

/// A tensor of \p Sizes and \p Strides, lists in braces. Nothing is known
/// where strides are no constants, or sizes that they depend on.
Layout stridedOf(const clang::Expr *Sizes, const clang::Expr *Strides,
                 const clang::ASTContext &Context);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_STORAGE_LAYOUTSTEPS_H
