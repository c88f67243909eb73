//===- KnownSizes.h - Bytes of tensors in plain functions -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_KNOWNSIZES_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_KNOWNSIZES_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace libtorch_tidy::bytes {

/// What the interpreter of constructors says of expressions elsewhere. It
/// costs nothing until it is asked; all answers together are bounded.
class KnownSizes {
public:
  /// \p Functions are those that the unit defines, alive as long as this.
  KnownSizes(clang::ASTContext &Context,
             llvm::ArrayRef<const clang::FunctionDecl *> Functions)
      : Context(Context), Functions(Functions) {}

  /// The bytes of the elements of the tensor that \p E gives: of factories with
  /// sizes that the unit alone decides, and of what operators make of them.
  /// nullopt where they are not certain, and for null. A tensor whose type
  /// nothing says is float32.
  std::optional<uint64_t> bytesOf(const clang::Expr *E);

  /// What the graph of call \p Forward keeps, as keptByForward() has it. Of a
  /// few calls of a unit; null is allowed.
  std::optional<uint64_t> keptBy(const clang::Expr *Forward, bool Training,
                                 bool InputsGo);

private:
  clang::ASTContext &Context;
  llvm::ArrayRef<const clang::FunctionDecl *> Functions;
  unsigned Passes = 0;
  std::optional<std::vector<const clang::Stmt *>> Bodies;
  unsigned Steps = 0;
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_KNOWNSIZES_H
