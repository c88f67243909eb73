//===- AutogradContextCycleCheck.h ------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_AUTOGRADCONTEXTCYCLECHECK_H
#define LIBTORCH_TIDY_CHECKS_AUTOGRADCONTEXTCYCLECHECK_H

#include "checks/LibtorchCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-autograd-context-cycle.md says what it finds and why.
class AutogradContextCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;

private:
  void checkForward(const clang::FunctionDecl *Forward,
                    const clang::FunctionDecl *Backward,
                    clang::ASTContext &Context);
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_AUTOGRADCONTEXTCYCLECHECK_H
