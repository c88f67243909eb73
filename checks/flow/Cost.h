//===- Cost.h - What the flow model took ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_COST_H
#define LIBTORCH_TIDY_CHECKS_FLOW_COST_H

#include <string>
#include <vector>

namespace libtorch_tidy::flow {

/// What the model did in one thread since the last reset, for --stats.
struct Cost {
  unsigned Functions = 0; ///< Flows made, each round of a recursion.
  unsigned Skipped = 0;   ///< Functions without tensors, not looked at.
  unsigned Visits = 0;    ///< CFG blocks evaluated.
  double Seconds = 0;     ///< Wall time of all of it.
  /// Functions beyond the caps of the interpreter, as the user names them.
  std::vector<std::string> GivenUp;
  static Cost &ofThisThread();
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_COST_H
