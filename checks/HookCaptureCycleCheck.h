//===- HookCaptureCycleCheck.h ----------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_HOOKCAPTURECYCLECHECK_H
#define LIBTORCH_TIDY_CHECKS_HOOKCAPTURECYCLECHECK_H

#include "checks/LibtorchCheck.h"
#include "checks/flow/UnitModel.h"
#include "checks/torch/Hooks.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-hook-capture-cycle.md says what it finds and why.
class HookCaptureCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;

private:
  void checkHook(const clang::CallExpr *Call, const torch::HookRegistration &R,
                 const clang::FunctionDecl *In, clang::ASTContext &Context);
  void checkStoredFunction(const clang::CallExpr *Call,
                           const clang::FunctionDecl *In,
                           clang::ASTContext &Context);
  /// Made when first asked for: most units have no hooks.
  flow::UnitModel &unit(clang::ASTContext &Context);

  std::shared_ptr<flow::UnitModel> Unit;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_HOOKCAPTURECYCLECHECK_H
