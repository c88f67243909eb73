//===- LineEnds.h - Line ends of what is inserted ---------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_FIXITS_LINEENDS_H
#define LIBTORCH_TIDY_FIXITS_LINEENDS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace libtorch_tidy::fixits {

/// \p Text, which is for insertion, with the line ends of the text \p File.
std::string withLineEndsOf(llvm::StringRef File, llvm::StringRef Text);

} // namespace libtorch_tidy::fixits

#endif // LIBTORCH_TIDY_FIXITS_LINEENDS_H
