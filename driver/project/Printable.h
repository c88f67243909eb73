//===- Printable.h - Text of strangers for a terminal -----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_PRINTABLE_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_PRINTABLE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace libtorch_tidy::driver {

/// \p Text with its control characters as \n and \x1b. A file name may hold
/// any: raw, a line end begins a line that the log of GitHub Actions takes for
/// a command, and an escape is one to the terminal. A tab stays.
std::string printable(llvm::StringRef Text);

/// \p Number, in decimal digits and perhaps with a fraction, with a comma
/// between thousands: "-1,234.5".
std::string grouped(std::string Number);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_PRINTABLE_H
