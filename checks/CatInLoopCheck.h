//===- CatInLoopCheck.h -----------------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_CATINLOOPCHECK_H
#define LIBTORCH_TIDY_CHECKS_CATINLOOPCHECK_H

#include "checks/LibtorchCheck.h"
#include "llvm/ADT/StringSet.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-cat-in-loop.md says what it finds and why.
class CatInLoopCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;

private:
  /// Names that fixes have given, by function.
  llvm::DenseMap<clang::SourceLocation, llvm::StringSet<>> Given;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_CATINLOOPCHECK_H
