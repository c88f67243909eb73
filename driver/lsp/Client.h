//===- Client.h - What the client has open, and sets ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_LSP_CLIENT_H
#define LIBTORCH_TIDY_DRIVER_LSP_CLIENT_H

#include "driver/lsp/Protocol.h"
#include "driver/options/CommandLine.h"
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

/// The settings of `initializationOptions` and of
/// `workspace/didChangeConfiguration`. What is absent is as on the command line
/// of the server.
struct Settings {
  std::optional<Level> WeakestLevel;            ///< "level"
  std::optional<std::string> Checks, BuildPath; ///< "checks", "buildPath"
  std::vector<std::string> Before, After; ///< "extraArgsBefore", "extraArgs"

  /// Reads \p Value, or its member "libtorch-tidy" if it has one. What is wrong
  /// with it is said in \p Problems, and is not used.
  static Settings of(const Json &Value, std::vector<std::string> &Problems);

  void applyTo(CommandLine &Options) const;
};

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_CLIENT_H
