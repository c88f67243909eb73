//===- Json.h - Reads JSON that anybody may have written --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_JSON_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_JSON_H

#include "llvm/ADT/StringRef.h"
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace libtorch_tidy::driver {

using Json = nlohmann::json;

/// Discarded when \p Text is not JSON.
Json parseJson(llvm::StringRef Text);

// None of these fails: a value of another kind is taken for one that is absent.

/// The member of \p Value at \p Path; null when there is none.
const Json &at(const Json &Value, std::initializer_list<const char *> Path);
/// Empty when \p Value is no text.
std::string textOf(const Json &Value);
/// Absent when \p Value is no integer.
std::optional<int64_t> numberOf(const Json &Value);
/// 0 when \p Value is no number.
double realOf(const Json &Value);
bool isTrue(const Json &Value);
/// The elements of \p Value; none when it is no list.
const Json &listOf(const Json &Value);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_JSON_H
