//===- RetainedGraphCheck.h -------------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_RETAINEDGRAPHCHECK_H
#define LIBTORCH_TIDY_CHECKS_RETAINEDGRAPHCHECK_H

#include "checks/FlowCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-retained-graph.md says what it finds and why.
class RetainedGraphCheck : public FlowCheck {
public:
  using FlowCheck::FlowCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_RETAINEDGRAPHCHECK_H
