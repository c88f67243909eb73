//===- RunPrinter.h - The report of a run, for a reader ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_RUNPRINTER_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_RUNPRINTER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>

namespace libtorch_tidy::driver {

/// What the command line says about --watch-report.
struct WatchReportOptions {
  bool Asked = false;
  std::string File; ///< A RunReport.
  std::string Html; ///< Where a page with charts goes; empty: nowhere.
  std::string Json; ///< Where the report with its lines goes.
  std::string Root; ///< Paths below it are relative to it; empty: to here.
};

/// Prints the verdicts of a report with the lines of what grew, and writes the
/// files that \p Options name.
llvm::Error printRun(const WatchReportOptions &Options,
                     llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_RUNPRINTER_H
