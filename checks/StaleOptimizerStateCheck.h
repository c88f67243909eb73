//===- StaleOptimizerStateCheck.h -------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_STALEOPTIMIZERSTATECHECK_H
#define LIBTORCH_TIDY_CHECKS_STALEOPTIMIZERSTATECHECK_H

#include "checks/LibtorchCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-stale-optimizer-state.md says what it finds and why.
class StaleOptimizerStateCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;

private:
  static bool isHandled(const clang::FunctionDecl *In);

  llvm::DenseSet<const clang::FunctionDecl *> Visited;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_STALEOPTIMIZERSTATECHECK_H
