//===- Json.cpp - Reads JSON that anybody may have written ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/Json.h"

namespace libtorch_tidy::driver {

Json parseJson(llvm::StringRef Text) {
  return Json::parse(Text.begin(), Text.end(), nullptr,
                     /*allow_exceptions=*/false);
}

const Json &at(const Json &Value, std::initializer_list<const char *> Path) {
  static const Json Null;
  const Json *Here = &Value;
  for (const char *Name : Path) {
    if (!Here->is_object())
      return Null;
    auto It = Here->find(Name);
    if (It == Here->end())
      return Null;
    Here = &*It;
  }
  return *Here;
}

std::string textOf(const Json &Value) {
  return Value.is_string() ? Value.get<std::string>() : std::string();
}

std::optional<int64_t> numberOf(const Json &Value) {
  if (!Value.is_number_integer())
    return std::nullopt;
  return Value.get<int64_t>();
}

double realOf(const Json &Value) {
  return Value.is_number() ? Value.get<double>() : 0;
}

bool isTrue(const Json &Value) {
  return Value.is_boolean() && Value.get<bool>();
}

const Json &listOf(const Json &Value) {
  static const Json None = Json::array();
  return Value.is_array() ? Value : None;
}

} // namespace libtorch_tidy::driver
