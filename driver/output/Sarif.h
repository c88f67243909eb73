//===- Sarif.h - Findings as SARIF 2.1.0 ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_SARIF_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_SARIF_H

#include "driver/output/Report.h"
#include <string>

namespace libtorch_tidy::driver {

/// One run with the defects among the findings as results, and the rest as
/// notifications. Paths are relative to %SRCROOT%, those outside it absolute
/// file: URIs. Equal input gives equal bytes: there is no clock in it and no
/// name of a machine.
std::string toSarif(const Report &R);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_SARIF_H
