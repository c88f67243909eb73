//===- Summary.h - How a run went, in lines of text -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_SUMMARY_H
#define LIBTORCH_TIDY_DRIVER_SUMMARY_H

#include "driver/engine/Batch.h"

namespace libtorch_tidy::driver {

/// What is said of a run besides its findings.
struct Summary {
  const Analysis &All;
  llvm::ArrayRef<Finding> New; ///< Of All, without what the baseline holds.
  /// Growth that a run of the program had, and no finding explains.
  std::vector<std::string> Unexplained;
  bool IsSelection = false; ///< A baseline or changed lines left some out.
  bool AppliesFixes = false;
  bool Quiet = false; ///< Only what may have been missed.
};

/// Prints it on the standard error.
void printSummary(const Summary &Of);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_SUMMARY_H
