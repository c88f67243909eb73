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

/// Fills Result.Trials, and withdraws the fixes that do not do. \p Again
/// analyses the unit once more with the compiler's warnings, in the file system
/// it is given: one of \p NewFileSystem with other texts. Costs one analysis,
/// one for each fix, and one for all of them together when there are several.
void tryFixes(
    UnitResult &Result,
    llvm::function_ref<llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem>()>
        NewFileSystem,
    llvm::function_ref<
        UnitResult(llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem>)>
        Again);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_FIXTRIALS_H
