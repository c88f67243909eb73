//===- OversizedLinearCheck.h -----------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_OVERSIZEDLINEARCHECK_H
#define LIBTORCH_TIDY_CHECKS_OVERSIZEDLINEARCHECK_H

#include "checks/LibtorchCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-oversized-linear.md says what it finds and why.
class OversizedLinearCheck : public LibtorchCheck {
public:
  OversizedLinearCheck(llvm::StringRef Name,
                       clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;

private:
  const uint64_t TrainingBytes; ///< What a layer may take.
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_OVERSIZEDLINEARCHECK_H
