//===- Html.h - Findings as a page to read ----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_HTML_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_HTML_H

#include "driver/output/Report.h"

namespace libtorch_tidy::driver {

/// One HTML file that needs nothing else: findings by file, the source
/// around each with the numbered steps of its path, the fix as lines before
/// and after, and what the checks mean. Without scripts all is shown; with
/// them levels and checks can be filtered. Equal input gives equal bytes.
std::string toHtml(const Report &R);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_HTML_H
