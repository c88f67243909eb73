//===- DanglingStory.h - How memory comes to be used too late ---*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_LIFETIME_DANGLINGSTORY_H
#define LIBTORCH_TIDY_CHECKS_LIFETIME_DANGLINGSTORY_H

#include "checks/base/LibtorchCheck.h"

namespace libtorch_tidy {

/// A finding about \p D without its message and its fix: place, level and steps
/// follow from what the model says.
Finding findingAt(const flow::Dangling &D);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LIFETIME_DANGLINGSTORY_H
