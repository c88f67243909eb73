//===- Settings.h - What the client sets ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_LSP_SETTINGS_H
#define LIBTORCH_TIDY_DRIVER_LSP_SETTINGS_H

#include "driver/lsp/Protocol.h"
#include "driver/options/CommandLine.h"

namespace libtorch_tidy::driver::lsp {

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

#endif // LIBTORCH_TIDY_DRIVER_LSP_SETTINGS_H
