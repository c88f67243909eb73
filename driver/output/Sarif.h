//===- Sarif.h - Findings as SARIF 2.1.0 ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_SARIF_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_SARIF_H

#include "driver/findings/Finding.h"
#include "driver/findings/SourceText.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace libtorch_tidy::driver {

/// What a SARIF run says beside its results.
struct SarifRun {
  /// Paths are written relative to this folder (%SRCROOT%), those outside it
  /// as absolute file: URIs. Canonical, without a slash at the end.
  std::string Root;
  /// Canonical paths of the units that could not be analysed in full.
  std::vector<std::string> FailedUnits;
  int ExitCode = 0;
};

/// One run with the defects among \p Findings as results, and the rest as
/// notifications. Equal input gives equal bytes: there is no clock in it and
/// no name of a machine.
std::string toSarif(llvm::ArrayRef<Finding> Findings, const SarifRun &Run,
                    SourceTexts &Texts);

/// The folder that SARIF paths are relative to: the top of the git work tree
/// that \p Files are in (of several, the folder that holds them all), else
/// \p WorkingDirectory.
std::string findProjectRoot(llvm::ArrayRef<std::string> Files,
                            llvm::StringRef WorkingDirectory,
                            llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_SARIF_H
