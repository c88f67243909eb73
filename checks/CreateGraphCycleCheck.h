//===- CreateGraphCycleCheck.h ----------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_CREATEGRAPHCYCLECHECK_H
#define LIBTORCH_TIDY_CHECKS_CREATEGRAPHCYCLECHECK_H

#include "checks/LibtorchCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-create-graph-cycle.md says what it finds and why.
class CreateGraphCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;
  void onEndOfTranslationUnit() override;

private:
  /// A backward() that makes the graph of gradients, for certain or when a
  /// parameter of its function says so.
  struct Backward {
    const clang::CallExpr *Call;
    const clang::FunctionDecl *In;
    const clang::ParmVarDecl *When; ///< Null: always.
  };
  clang::ASTContext *Context = nullptr;
  /// Who resets gradients is known at the end of the unit.
  llvm::SmallVector<Backward, 2> Calls;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_CREATEGRAPHCYCLECHECK_H
