//===- Markup.cpp - Text between markup, and the frame of a page ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/output/Markup.h"
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

static constexpr llvm::StringLiteral PageStyle =
#include "driver/page.css.inc"
    ;

void beginPage(llvm::raw_ostream &OS, StringRef Title, StringRef Style,
               bool HasScript) {
  OS << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
     << "<meta charset=\"utf-8\">\n"
     << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'"
     << (HasScript ? "; script-src 'unsafe-inline'" : "") << "\">\n"
     << "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
     << "<title>" << escapeHtml(Title) << "</title>\n"
     << "<style>" << PageStyle << Style.drop_front() << "</style>\n"
     << "</head>\n<body>\n";
}

void endPage(llvm::raw_ostream &OS, StringRef Script) {
  OS << "<footer><p class=\"meta\">libtorch-tidy " << LIBTORCH_TIDY_VERSION
     << "</p></footer>\n";
  if (!Script.empty())
    OS << "<script>" << Script << "</script>\n";
  OS << "</body>\n</html>\n";
}

} // namespace libtorch_tidy::driver
