//===- AutocastCacheCheck.h -------------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_AUTOCASTCACHECHECK_H
#define LIBTORCH_TIDY_CHECKS_AUTOCASTCACHECHECK_H

#include "checks/LibtorchCheck.h"
#include "checks/torch/Autocast.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-autocast-cache.md says what it finds and why.
class AutocastCacheCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;
  void onEndOfTranslationUnit() override;

private:
  /// A call, and the function of namespace or class scope that it stands in.
  struct Use {
    const clang::CallExpr *Call;
    const clang::FunctionDecl *In;
    torch::AutocastUse What;
  };
  bool isClearedFor(const clang::FunctionDecl *F) const;
  void checkFunction(const clang::FunctionDecl *F);
  void checkClass(const Use &Begin);
  void report(const Use &Begin, const Use *End, const clang::CallExpr *Step,
              bool SameBlock);

  clang::ASTContext *Context = nullptr;
  llvm::SmallVector<Use, 8> Uses; ///< In source order of each function.
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_AUTOCASTCACHECHECK_H
