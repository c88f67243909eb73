//===- FlowCheck.h - Checks that ask the flow model -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The base of the checks that read how tensors move through a function. They
/// share one model of the unit.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOWCHECK_H
#define LIBTORCH_TIDY_CHECKS_FLOWCHECK_H

#include "checks/LibtorchCheck.h"
#include "checks/flow/UnitModel.h"

namespace libtorch_tidy {

class FlowCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  /// One function definition is enough to find the unit.
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) final;
  void check(const clang::ast_matchers::MatchFinder::MatchResult &Result) final;

protected:
  /// Called once for each function of user code, in source order. Templates
  /// come as their instantiations.
  virtual void checkFunction(const flow::FunctionFlow &Flow,
                             flow::UnitModel &Unit) = 0;

  /// Where the history of label \p L comes from, as a step of a story.
  static Step originStep(const flow::Label &L);

private:
  std::shared_ptr<flow::UnitModel> Unit;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_FLOWCHECK_H
