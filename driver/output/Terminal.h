//===- Terminal.h - Markdown for a terminal ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_TERMINAL_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_TERMINAL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace libtorch_tidy::driver {

/// The pages of the checks are Markdown: this is how one looks in a terminal.
struct TerminalForm {
  unsigned Columns = 80;
  bool Styled = false; ///< With bold type and colours; else by signs alone.
  /// What a link's address stands for; empty, or null for all, where its text
  /// says it all.
  llvm::function_ref<std::string(llvm::StringRef Text, llvm::StringRef Address)>
      Address;
};

/// The form for the standard output.
TerminalForm formOfOutput();

/// Headings, paragraphs, lists, tables, blocks of code, bold type, code and
/// links; other lines stay as they are.
std::string inTerminal(llvm::StringRef Markdown, const TerminalForm &Form);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_TERMINAL_H
