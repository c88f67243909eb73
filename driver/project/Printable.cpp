//===- Printable.cpp - Text of strangers for a terminal -------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/Printable.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string printable(StringRef Text) {
  std::string Result;
  for (size_t I = 0; I < Text.size(); ++I) {
    const unsigned char C = Text[I];
    // U+0080 to U+009F in UTF-8: the second half of the control characters.
    const bool IsC1 = C == 0xc2 && I + 1 < Text.size() &&
                      static_cast<unsigned char>(Text[I + 1]) >= 0x80 &&
                      static_cast<unsigned char>(Text[I + 1]) < 0xa0;
    if (C == '\n')
      Result += "\\n";
    else if (C == '\r')
      Result += "\\r";
    else if ((C < 0x20 && C != '\t') || C == 0x7f)
      Result += "\\x" + llvm::utohexstr(C, /*LowerCase=*/true, /*Width=*/2);
    else if (IsC1)
      Result +=
          "\\xc2\\x" + llvm::utohexstr(Text[++I] & 0xff, /*LowerCase=*/true);
    else
      Result += Text[I];
  }
  return Result;
}

std::string grouped(std::string Number) {
  const size_t First = Number.front() == '-' ? 1 : 0;
  for (size_t At = std::min(Number.find('.'), Number.size()); At > First + 3;)
    Number.insert(At -= 3, ",");
  return Number;
}

} // namespace libtorch_tidy::driver
