//===- Escape.h - Text between markup ---------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_ESCAPE_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_ESCAPE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace libtorch_tidy::driver {

/// \p Text, which need not be UTF-8, for XML and HTML: none of its bytes is
/// taken for markup. \p Special says what stands for other bytes that the form
/// cannot have as they are.
std::string
escapeMarkup(llvm::StringRef Text,
             llvm::function_ref<std::optional<llvm::StringRef>(char)> Special);

/// \p Text for HTML, which has no control characters but tabs and line ends.
std::string escapeHtml(llvm::StringRef Text);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_ESCAPE_H
