//===- Batch.h - The analysis of many units ---------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_BATCH_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_BATCH_H

#include "driver/engine/Runner.h"
#include <optional>

namespace libtorch_tidy::driver {

/// Everything the units said.
struct Analysis {
  std::vector<Finding> Findings; ///< Merged.
  /// As the findings' Origin counts.
  std::vector<clang::tidy::ClangTidyError> Errors;
  std::vector<std::string> FailedUnits;  ///< Ordered, each once.
  std::vector<std::string> CrashedUnits; ///< Those that ended the analysis.
  clang::tidy::ClangTidyStats Stats;
  /// Units that include no header of LibTorch.
  unsigned SkippedUnits = 0;
};

/// Analyses the units in processes of their own, with what the cache has of
/// results and precompiled headers. The outcome depends on neither, nor on the
/// number of processes. Findings that \p IsAskedFor denies are dropped.
Analysis
analyseAll(llvm::ArrayRef<Unit> Units, const CommandLine &Options,
           const Configuration &Config,
           const clang::tooling::ArgumentsAdjuster &MakeOurs,
           SourceTexts &Texts,
           llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
           llvm::function_ref<bool(const Unit &, const Finding &)> IsAskedFor);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_BATCH_H
