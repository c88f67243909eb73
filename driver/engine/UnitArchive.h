//===- UnitArchive.h - The result of a unit as bytes ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_UNITARCHIVE_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_UNITARCHIVE_H

#include "driver/engine/Runner.h"
#include <optional>

namespace libtorch_tidy::driver {

/// For another process of this build.
std::string toBytes(const UnitResult &Result);

// The same bytes for equal values, and for no others.
std::string toBytes(const UnitOptions &Asked);
std::string toBytes(const flow::ProgramFacts &Facts);

/// Absent when \p Bytes are not what toBytes() made.
std::optional<UnitResult> unitResultFromBytes(llvm::StringRef Bytes);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_UNITARCHIVE_H
