//===- Tests.h - Code that tests other code ---------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Knows the test frameworks by the macros that they are used through, and code
/// that measures by the clock that it reads.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_TESTS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_TESTS_H

#include "clang/AST/Decl.h"

namespace libtorch_tidy::cpp {

/// Is \p F, or a function around it, a case of GoogleTest, Catch2, doctest or
/// Boost.Test? Such code runs once, for a moment, on small data.
bool isTestCase(const clang::FunctionDecl *F);

/// Is \p E a statement that a test expects to throw: the argument of
/// EXPECT_THROW, REQUIRE_THROWS_AS, ...?
bool isExpectedToThrow(const clang::Expr *E, const clang::ASTContext &Context);

/// now, clock, omp_get_wtime, cudaEventRecord. Code that reads the clock runs
/// operators for the time they take: libtorch-discarded-result does not
/// report those.
bool namesClock(llvm::StringRef Name);
/// Does \p Body, or a lambda in it, read a clock (see namesClock())? It
/// runs operators for the time that they take.
bool readsClock(const clang::Stmt *Body);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_TESTS_H
