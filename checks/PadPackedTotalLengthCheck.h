//===- PadPackedTotalLengthCheck.h ------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_PADPACKEDTOTALLENGTHCHECK_H
#define LIBTORCH_TIDY_CHECKS_PADPACKEDTOTALLENGTHCHECK_H

#include "checks/LibtorchCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-pad-packed-total-length.md says what it finds and why.
class PadPackedTotalLengthCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;
  void onEndOfTranslationUnit() override;

private:
  struct PadCall {
    const clang::CallExpr *Call;
    const clang::FunctionDecl *In; ///< The innermost function, if any.
  };
  Finding findingFor(const PadCall &Pad) const;

  clang::ASTContext *Context = nullptr;
  /// Whether a call is run by replicas is known at the end of the unit. The
  /// calls of one place are a template's pattern and instantiations.
  llvm::SmallVector<PadCall, 4> PadCalls;
  llvm::SmallVector<const clang::CallExpr *, 2> DataParallelCalls;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_PADPACKEDTOTALLENGTHCHECK_H
