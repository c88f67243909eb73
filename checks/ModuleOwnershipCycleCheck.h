//===- ModuleOwnershipCycleCheck.h ------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_MODULEOWNERSHIPCYCLECHECK_H
#define LIBTORCH_TIDY_CHECKS_MODULEOWNERSHIPCYCLECHECK_H

#include "checks/LibtorchCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-module-ownership-cycle.md says what it finds and why.
class ModuleOwnershipCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;
  void onEndOfTranslationUnit() override;

private:
  clang::ASTContext *Context = nullptr;
  /// Modules of the user, in source order.
  llvm::SmallVector<const clang::CXXRecordDecl *, 8> Modules;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_MODULEOWNERSHIPCYCLECHECK_H
