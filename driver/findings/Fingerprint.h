//===- Fingerprint.h - Names for findings that outlive edits ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_FINGERPRINT_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_FINGERPRINT_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// The `primaryLocationLineHash` of every line of \p Text (index 0 is line 1),
/// as GitHub code scanning computes it: a rolling hash over the 100 UTF-16
/// units from the start of the line, white space left out, and the count of
/// lines seen so far with the same hash.
std::vector<std::string> lineHashes(llvm::StringRef Text);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_FINGERPRINT_H
