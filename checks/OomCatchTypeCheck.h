//===- OomCatchTypeCheck.h --------------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_OOMCATCHTYPECHECK_H
#define LIBTORCH_TIDY_CHECKS_OOMCATCHTYPECHECK_H

#include "checks/LibtorchCheck.h"
#include "checks/flow/TensorWork.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-oom-catch-type.md says what it finds and why.
class OomCatchTypeCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;

private:
  flow::TensorWork Amounts; ///< Of the one unit that a check object sees.
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_OOMCATCHTYPECHECK_H
