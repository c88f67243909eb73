//===- FixTrials.h - Tries the fixes of a unit ------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_FIXTRIALS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_FIXTRIALS_H

#include "driver/engine/Runner.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::driver {

/// Judges the fixes of the findings in \p Result, and withdraws those that are
/// not acceptable. \p Again analyses the unit once more with the compiler's
/// warnings, in the file system it is given: one of \p NewFileSystem with other
/// texts. Costs one analysis, one for each fix, and one for all of them
/// together when there are several.
void tryFixes(UnitResult &Result,
              llvm::function_ref<FileSystem()> NewFileSystem,
              llvm::function_ref<UnitResult(FileSystem)> Again);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_FIXTRIALS_H
