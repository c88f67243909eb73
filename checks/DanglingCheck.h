//===- DanglingCheck.h - Checks of memory that is used too late -*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the checks of dangling memory have in common: place, level and story of
/// a finding follow from what the model says.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_DANGLINGCHECK_H
#define LIBTORCH_TIDY_CHECKS_DANGLINGCHECK_H

#include "checks/UnitCheck.h"

namespace libtorch_tidy {

class DanglingCheck : public UnitCheck {
public:
  using UnitCheck::UnitCheck;

protected:
  /// Message and fix of \p D; nullopt when it is not for this check.
  virtual std::optional<Finding>
  findingFor(const flow::Dangling &D, const clang::ASTContext &Context) = 0;

private:
  void checkUnit(flow::UnitModel &Unit) final;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_DANGLINGCHECK_H
