//===- Calls.h - Reading a call of LibTorch's API ---------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Small questions about call expressions, shared by the files of this folder:
/// what is called, on what object, with which constant arguments. All of them
/// accept null, dependent and implicit nodes.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_CALLS_H
#define LIBTORCH_TIDY_CHECKS_TORCH_CALLS_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::torch {

/// \p E without parentheses, casts, temporaries, cleanups, default arguments,
/// and without constructor calls that only copy, move or convert one written
/// argument (shared handles: a copied Tensor or module is the same one), also
/// written as T(x) or T{x}.
const clang::Expr *stripImplicit(const clang::Expr *E);

/// The plain identifier of the callee: "backward"; "" for operators,
/// conversions and calls through pointers.
llvm::StringRef calleeName(const clang::CallExpr *Call);

/// A call of LibTorch's function or method \p Name.
bool callsTorch(const clang::CallExpr *Call, llvm::StringRef Name);

/// The object of a method call or member operator, as written (`p` in p->f()),
/// null for functions and for an implicit or written `this`.
const clang::Expr *objectOf(const clang::CallExpr *Call);

/// The arguments of a call that are written, without the object of a member
/// operator call.
llvm::SmallVector<const clang::Expr *, 4>
writtenArguments(const clang::CallExpr *Call);

/// The value of \p E where the compiler can compute it, looking into the
/// optional<bool> that arguments are wrapped in. nullopt for others.
std::optional<bool> constantBool(const clang::Expr *E,
                                 const clang::ASTContext &Context);

/// The elements of a list that is written in place: {a, b},
/// std::vector<T>{a, b}, ArrayRef of such. The list itself as only element
/// otherwise; nothing for an empty list or null.
llvm::SmallVector<const clang::Expr *, 4> listElements(const clang::Expr *E);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_CALLS_H
