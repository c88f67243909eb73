//===- NolintView.h - What a unit says about NOLINT comments ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_NOLINTVIEW_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_NOLINTVIEW_H

#include "driver/engine/Units.h"
#include "driver/findings/NolintAudit.h"
#include "clang/Lex/PPCallbacks.h"

namespace libtorch_tidy::driver {

class EnclosingFunctions;

/// A user file that speaks of NOLINT, once for each time it was read.
struct NolintFile {
  clang::FileID Id;
  std::string Path; ///< As in diagnostics.
  /// What the preprocessor skipped, from and to which byte.
  std::vector<std::pair<unsigned, unsigned>> Skipped;
  /// The function around each comment.
  std::vector<std::string> Functions;
};

/// Writes down in \p Result where NOLINT comments are, and what the unit does
/// not see.
std::unique_ptr<clang::PPCallbacks>
recordNolintFiles(const clang::SourceManager &SM,
                  std::vector<NolintFile> &Result);

/// Fills in the functions.
void nameFunctions(std::vector<NolintFile> &Files,
                   const clang::SourceManager &SM,
                   const EnclosingFunctions &Functions);

/// All that the audit of NOLINT comments must know of \p U, if it is analysed
/// in full. \p Unreported is what its checks said and the engine kept back,
/// with paths as in diagnostics.
NolintAudit::View nolintView(const Unit &U, std::vector<NolintFile> Files,
                             std::vector<NolintAudit::Heard> Unreported,
                             const Configuration &Config,
                             llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_NOLINTVIEW_H
