//===- Escape.cpp - Text between markup -----------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/Escape.h"
#include "llvm/Support/JSON.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string
escapeMarkup(StringRef Text,
             llvm::function_ref<std::optional<StringRef>(char)> Special) {
  std::string Result;
  for (char C : llvm::json::fixUTF8(Text)) {
    switch (C) {
    case '&':
      Result += "&amp;";
      break;
    case '<':
      Result += "&lt;";
      break;
    case '>':
      Result += "&gt;";
      break;
    case '"':
      Result += "&quot;";
      break;
    default:
      if (std::optional<StringRef> Instead = Special(C))
        Result += *Instead;
      else
        Result += C;
    }
  }
  return Result;
}

std::string escapeHtml(StringRef Text) {
  return escapeMarkup(Text, [](char C) -> std::optional<StringRef> {
    if (C == 0x7F)
      return "";
    if (static_cast<unsigned char>(C) < 0x20 && C != '\t' && C != '\n')
      return "\xEF\xBF\xBD";
    return std::nullopt;
  });
}

} // namespace libtorch_tidy::driver
