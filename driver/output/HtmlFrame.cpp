//===- HtmlFrame.cpp - What all pages begin and end with ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/HtmlFrame.h"
#include "driver/output/Escape.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

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
