//===- Documents.h - What is open in the editor -----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_LSP_DOCUMENTS_H
#define LIBTORCH_TIDY_DRIVER_LSP_DOCUMENTS_H

#include "driver/lsp/Protocol.h"
#include <cstdint>
#include <map>
#include <string>

namespace libtorch_tidy::driver::lsp {

/// A text that the editor holds: it counts, not what is on the disk.
struct Document {
  std::string Uri;  ///< As the client spells it.
  std::string Path; ///< Canonical; empty when it is not a file.
  std::string Language;
  int64_t Version = 0;
  std::string Text;

  /// Is it of a language that is analysed?
  bool isCxx() const;

  /// Makes the changes of `textDocument/didChange`, one after the other, of
  /// ranges or of the whole text. False, and nothing is changed, when one of
  /// them is malformed.
  bool change(const Json &Changes, PositionEncoding Encoding);
};

/// By canonical path.
using Documents = std::map<std::string, Document, std::less<>>;

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_DOCUMENTS_H
