//===- HandlerOwners.h - Tensors alive inside a handler ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_OOM_HANDLEROWNERS_H
#define LIBTORCH_TIDY_CHECKS_OOM_HANDLEROWNERS_H

#include "analysis/flow/unit/UnitModel.h"
#include "checks/base/Finding.h"
#include "clang/AST/StmtCXX.h"

namespace libtorch_tidy {

inline constexpr struct OomRecoveryInCatchReasons {
  Reason ReadAgain{"read-again", Effect::Silent,
                   "The handler, the retry or what runs after it reads the "
                   "variable, or something that shares its storage, before it "
                   "is overwritten."};
  Reason Released{"released-first", Effect::Silent,
                  "The handler releases the variable before it retries "
                  "(`reset()`, `clear()`, `= Tensor()`, `= nullopt`, moved out "
                  "of)."};
  Reason ExceptionUsed{"exception-used", Effect::Silent,
                       "The retry works on what the exception carries."};
  Reason NoRelease{"no-release", Effect::NoFix,
                   "One of the variables is `const`, or of a type with no "
                   "member that releases it (structs, tuples, arrays, "
                   "`IValue`)."};
  Reason OtherRetries{"other-handler-retries", Effect::NoFix,
                      "Another handler of the same `try` statement retries as "
                      "well."};
  Reason NotMovable{
      "not-movable", Effect::NoFix,
      "The part to move uses the exception, rethrows it or calls "
      "`std::current_exception`, has labels, or uses a variable that the part "
      "that stays declares; the handler belongs to a function-try-block, holds "
      "preprocessor directives or raw strings, or comes from a macro; or the "
      "`try` statement is a branch without braces."};
} OomRecoveryInCatch{};

/// The name of \p T, the type of an exception, as messages have it.
std::string exceptionName(clang::QualType T, const clang::ASTContext &Context);

/// A variable declared outside a try statement, or a member, that owns tensors
/// when a handler runs.
struct HandlerOwner {
  const clang::ValueDecl *D;
  /// The assignment in the try block that made it own them; null when it did
  /// so before.
  const clang::Expr *AssignedInTry = nullptr;
  /// The assignment in an earlier round of a loop that did.
  const clang::Expr *AssignedEarlier = nullptr;
};

/// One statement of a handler, and what surrounds it.
struct HandlerPoint {
  const clang::FunctionDecl *In; ///< The innermost function.
  const clang::CXXTryStmt *Try;
  const clang::CXXCatchStmt *Handler;
  const clang::Stmt *Statement; ///< A child of the handler's block.
  const clang::Expr *At;        ///< An expression of that statement.
};

/// What owns tensors when \p Point.At runs although nothing reads them from
/// \p Point.Statement on: letting go of it would free memory. Leaves out what
/// it cannot tell. In order of declaration. \p WhyNot is given the reasons
/// against others.
llvm::SmallVector<HandlerOwner, 2>
needlessOwners(const HandlerPoint &Point, flow::TensorWork &Work,
               clang::ASTContext &Context,
               llvm::SmallVectorImpl<Because> &WhyNot);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_OOM_HANDLEROWNERS_H
