//===- LongLivedIntermediateCheck.h -----------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_LONGLIVEDINTERMEDIATECHECK_H
#define LIBTORCH_TIDY_CHECKS_LONGLIVEDINTERMEDIATECHECK_H

#include "checks/FlowCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-long-lived-intermediate.md says what it finds and why.
class LongLivedIntermediateCheck : public FlowCheck {
public:
  using FlowCheck::FlowCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  void checkDeclaredBeforeLoop(const flow::FunctionFlow &Flow,
                               flow::UnitModel &Unit);
  void checkKept(const flow::FunctionFlow &Flow, flow::UnitModel &Unit);
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LONGLIVEDINTERMEDIATECHECK_H
