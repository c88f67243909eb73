//===- Why.h - Which reasons decided at a place -----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_WHY_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_WHY_H

#include "driver/findings/Finding.h"

namespace libtorch_tidy::driver {

/// What --why asks about: FILE or FILE:LINE.
struct WhyQuery {
  std::string File;  ///< Empty: nothing is asked.
  unsigned Line = 0; ///< 0: all lines.

  static WhyQuery parse(llvm::StringRef Text);
};

/// What each check says of the place, a line each; of a whole file with the
/// number of the line in front. \p Path is the canonical name of the file.
std::string answerWhy(const WhyQuery &Query, llvm::StringRef Path,
                      llvm::ArrayRef<Finding> Findings,
                      llvm::ArrayRef<Silence> Silences);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_WHY_H
