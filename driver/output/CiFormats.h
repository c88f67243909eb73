//===- CiFormats.h - Findings for services of CI ----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_CIFORMATS_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_CIFORMATS_H

#include "driver/output/Report.h"

namespace libtorch_tidy::driver {

/// GitLab's Code Quality report: a JSON array. Defects only, as the service
/// knows nothing else.
std::string toGitlab(const Report &R);

/// Workflow commands of GitHub Actions (`::warning file=...::message`), one
/// line each; the steps follow the message.
std::string toGithub(const Report &R);

/// reviewdog's diagnostic format, one JSON object per line.
std::string toRdjsonl(const Report &R);

/// JUnit's XML: a suite for each file, in it a failed test for each finding,
/// or one that passed.
std::string toJunit(const Report &R);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_CIFORMATS_H
