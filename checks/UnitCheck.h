//===- UnitCheck.h - Checks that ask the model of the unit ------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The base of checks that look at a unit once, through the model that all of
/// them share.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_UNITCHECK_H
#define LIBTORCH_TIDY_CHECKS_UNITCHECK_H

#include "checks/LibtorchCheck.h"
#include "checks/flow/UnitModel.h"

namespace libtorch_tidy {

class UnitCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  /// One definition is enough to find the unit.
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) final;
  void check(const clang::ast_matchers::MatchFinder::MatchResult &Result) final;

protected:
  /// Called once, for a unit that compiles.
  virtual void checkUnit(flow::UnitModel &Unit) = 0;

private:
  std::shared_ptr<flow::UnitModel> Unit;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_UNITCHECK_H
