//===- HoistRecovery.h - Moving a recovery out of its handler ---*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_FIXITS_HOISTRECOVERY_H
#define LIBTORCH_TIDY_FIXITS_HOISTRECOVERY_H

#include "fixits/FixIts.h"
#include "clang/AST/StmtCXX.h"

namespace clang {
class FunctionDecl;
} // namespace clang

namespace libtorch_tidy::fixits {

/// Moves the statements of \p Handler from the first that neither only logs
/// nor uses the exception, and \p Retry at the latest, after the try
/// statement:
///   try {                              bool failed = false;
///     out = run(x);                    try {
///   } catch (const Error &e) {           out = run(x);
///     log(e.what());               ->  } catch (const Error &e) {
///     out = run(half);                   log(e.what());
///   }                                    failed = true;
///                                      }
///                                      if (failed) {
///                                        out = run(half);
///                                      }
/// Without the flag where control comes behind the try statement from this
/// handler alone. \p Prefix (whole statements, or empty) goes before what is
/// moved. \p FlagWish is the flag's name unless \p In uses it.
///
/// Empty when the moved part uses the exception, rethrows it, has labels or
/// uses what the part that stays declares; for function-try-blocks; where the
/// try statement is not one of a block; with preprocessor directives or raw
/// strings in the handler.
Edits hoistRecovery(const clang::CXXTryStmt *Try,
                    const clang::CXXCatchStmt *Handler,
                    const clang::Stmt *Retry, llvm::StringRef Prefix,
                    llvm::StringRef FlagWish, const clang::FunctionDecl *In,
                    clang::ASTContext &Context);

} // namespace libtorch_tidy::fixits

#endif // LIBTORCH_TIDY_FIXITS_HOISTRECOVERY_H
