//===- JitUnguardedWarmupCheck.h --------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_JITUNGUARDEDWARMUPCHECK_H
#define LIBTORCH_TIDY_CHECKS_JITUNGUARDEDWARMUPCHECK_H

#include "checks/FlowCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-jit-unguarded-warmup.md says what it finds and why.
class JitUnguardedWarmupCheck : public FlowCheck {
public:
  using FlowCheck::FlowCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  /// Does the unit switch the executor's profiling off? Asked once.
  bool avoidsProfiling(flow::UnitModel &Unit);
  std::optional<bool> Avoids;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_JITUNGUARDEDWARMUPCHECK_H
