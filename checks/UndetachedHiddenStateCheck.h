//===- UndetachedHiddenStateCheck.h -----------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_UNDETACHEDHIDDENSTATECHECK_H
#define LIBTORCH_TIDY_CHECKS_UNDETACHEDHIDDENSTATECHECK_H

#include "checks/FlowCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-undetached-hidden-state.md says what it finds and why.
/// Loops without backward() are libtorch-accumulated-history's.
class UndetachedHiddenStateCheck : public FlowCheck {
public:
  using FlowCheck::FlowCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_UNDETACHEDHIDDENSTATECHECK_H
