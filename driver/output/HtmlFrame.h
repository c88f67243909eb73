//===- HtmlFrame.h - What all pages begin and end with ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_HTMLFRAME_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_HTMLFRAME_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace libtorch_tidy::driver {

/// Up to the beginning of the body, with the style that all pages have and \p
/// Style. Nothing is fetched, whatever a source may hold.
void beginPage(llvm::raw_ostream &OS, llvm::StringRef Title,
               llvm::StringRef Style, bool HasScript);
/// \p Script may be empty.
void endPage(llvm::raw_ostream &OS, llvm::StringRef Script);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_HTMLFRAME_H
