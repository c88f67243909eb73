//===- Nesting.h - How deep a text of a stranger is nested ------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_NESTING_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_NESTING_H

#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::driver {

/// Is \p Text, which is YAML or JSON, nested deeper than anybody writes it?
/// LLVM's parser of both calls itself for each level, and the stack has an end.
bool isNestedTooDeep(llvm::StringRef Text);

/// The same of \p Text in JSON whose strings hold anything, such as source
/// code: brackets in them do not count.
bool isJsonNestedTooDeep(llvm::StringRef Text);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_NESTING_H
