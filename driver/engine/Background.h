//===- Background.h - Work after the answer ---------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Nobody waits for library headers that only a later run needs precompiled: a
/// process of its own makes them, when this run has ended.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_BACKGROUND_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_BACKGROUND_H

#include "driver/engine/Batch.h"

namespace libtorch_tidy::driver {

/// Starts a process that makes what \p After postponed, and comes back at once.
/// The process belongs to no terminal, holds no file of the caller's open, and
/// gives way to everything else. There is one at a time for a cache: where
/// another one is at work, it ends.
void precompileAfter(const Analysis &After, const AnalysisOptions &Options,
                     llvm::StringRef VfsOverlay);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_BACKGROUND_H
