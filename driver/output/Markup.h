//===- Markup.h - Text between markup, and the frame of a page --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_MARKUP_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_MARKUP_H

#include "driver/project/Messages.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
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

/// The same of what strangers have written.
inline std::string escapeForeign(llvm::StringRef Text) {
  return escapeHtml(printable(Text));
}

/// Up to the beginning of the body, with the style that all pages have and \p
/// Style. Nothing is fetched, whatever a source may hold.
void beginPage(llvm::raw_ostream &OS, llvm::StringRef Title,
               llvm::StringRef Style, bool HasScript);
/// \p Script may be empty.
void endPage(llvm::raw_ostream &OS, llvm::StringRef Script);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_MARKUP_H
