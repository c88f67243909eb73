//===- Json.h - Reads JSON that anybody may have written --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_JSON_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace libtorch_tidy::driver {

using Json = nlohmann::ordered_json;

/// Discarded when \p Text is not JSON.
template <typename AnyJson = Json> AnyJson parseJson(llvm::StringRef Text) {
  return AnyJson::parse(Text.begin(), Text.end(), nullptr,
                        /*allow_exceptions=*/false);
}

/// \p Value as text; names of files and texts of sources in it need not be
/// UTF-8. On one line unless \p Indent is at least 0.
template <typename AnyJson>
std::string written(const AnyJson &Value, int Indent = -1,
                    bool OnlyAscii = false) {
  return Value.dump(Indent, ' ', OnlyAscii, AnyJson::error_handler_t::replace);
}

/// The report in \p File. The error says why there is none.
llvm::Expected<Json> readJson(llvm::StringRef File, llvm::vfs::FileSystem &FS);

/// Is \p Text, which is YAML or JSON, nested deeper than anybody writes it?
/// LLVM's parser of both calls itself for each level, and the stack has an end.
bool isNestedTooDeep(llvm::StringRef Text);

/// The same of \p Text in JSON whose strings hold anything, such as source
/// code: brackets in them do not count.
bool isJsonNestedTooDeep(llvm::StringRef Text);

// None of these fails: a value of another kind is taken for one that is absent.

/// The member of \p Value at \p Path; null when there is none.
template <typename AnyJson>
const AnyJson &at(const AnyJson &Value,
                  std::initializer_list<const char *> Path) {
  static const AnyJson Null;
  const AnyJson *Here = &Value;
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

/// Empty when \p Value is no text.
template <typename AnyJson> std::string textOf(const AnyJson &Value) {
  return Value.is_string() ? Value.template get<std::string>() : std::string();
}

/// Absent when \p Value is no integer.
template <typename AnyJson>
std::optional<int64_t> numberOf(const AnyJson &Value) {
  if (!Value.is_number_integer())
    return std::nullopt;
  return Value.template get<int64_t>();
}

/// 0 when \p Value is no number.
template <typename AnyJson> double realOf(const AnyJson &Value) {
  return Value.is_number() ? Value.template get<double>() : 0;
}

template <typename AnyJson> bool isTrue(const AnyJson &Value) {
  return Value.is_boolean() && Value.template get<bool>();
}

/// The elements of \p Value; none when it is no list.
template <typename AnyJson> const AnyJson &listOf(const AnyJson &Value) {
  static const AnyJson None = AnyJson::array();
  return Value.is_array() ? Value : None;
}

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_JSON_H
