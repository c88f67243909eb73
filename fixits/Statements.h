//===- Statements.h - Edits of statements and lists -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_FIXITS_STATEMENTS_H
#define LIBTORCH_TIDY_FIXITS_STATEMENTS_H

#include "fixits/FixIts.h"

namespace libtorch_tidy::fixits {

/// What one level of indentation adds, judged by the lines of \p Outer; two
/// spaces, or a tab after a tab, when they do not tell.
std::string indentationStep(const clang::Stmt *Outer,
                            const clang::ASTContext &Context);

/// Adds elements to a list in braces:  {a}  ->  {a, <Elements>}
/// Empty for a list that is empty or ends with a comma.
Edits appendToList(const clang::InitListExpr *List, llvm::StringRef Elements,
                   const clang::ASTContext &Context);

/// Gives a variable that a lambda captures by value another value there:
///   [x]  ->  [x = <Value>]        [=]  ->  [=, x = <Value>]
Edits captureAs(const clang::LambdaExpr *Lambda,
                const clang::LambdaCapture *Capture, llvm::StringRef Value,
                const clang::ASTContext &Context);

} // namespace libtorch_tidy::fixits

#endif // LIBTORCH_TIDY_FIXITS_STATEMENTS_H
