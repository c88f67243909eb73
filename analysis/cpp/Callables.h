//===- Callables.h - Who runs a function object -----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_CALLABLES_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_CALLABLES_H

#include "clang/AST/ExprCXX.h"

namespace libtorch_tidy::cpp {

/// Does \p Call run the function object that is its argument \p Index in the
/// calling thread: std::for_each and other algorithms, std::invoke, std::async
/// with std::launch::deferred, a visible function that calls its parameter?
/// Whoever stores it, or starts a thread with it, does not.
bool runsArgument(const clang::CallExpr *Call, unsigned Index);

/// The constructor of a user's class that \p E runs: T x(a), also through
/// std::make_shared<T>(a), std::make_unique and holders of modules. The first
/// that fits, of several. Null for others and for copies.
const clang::CXXConstructorDecl *constructorRunBy(const clang::Expr *E);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_CALLABLES_H
