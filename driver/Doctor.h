//===- Doctor.h - How a file is analysed, and with what ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_DOCTOR_H
#define LIBTORCH_TIDY_DRIVER_DOCTOR_H

#include "driver/engine/Batch.h"
#include "driver/project/CompileCommands.h"

namespace libtorch_tidy::driver {

/// What a run has found out before and while it analysed.
struct Checkup {
  const AnalysisJob &Work;
  const Analysis &All;
  CompileCommands &Commands;
  FileSystem FS;
  /// As makeCommandsOurs(), telling of each flag that is left out.
  std::function<clang::tooling::ArgumentsAdjuster(FlagListener)> MakeOurs;
};

/// The `doctor` command: prints for each unit which compile command it has,
/// what of it is left out, which LibTorch it includes, whether the library's
/// headers are precompiled, its configuration, and how the analysis went.
void printCheckup(const Checkup &Seen);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_DOCTOR_H
