//===- Amounts.cpp - Bytes in messages ------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/base/Amounts.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace libtorch_tidy {

ByteUnit unitFor(uint64_t Bytes) {
  static constexpr const char *Names[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  double Size = 1;
  unsigned Which = 0;
  for (; static_cast<double>(Bytes) / Size >= 1024 &&
         Which + 1 < std::size(Names);
       ++Which)
    Size *= 1024;
  return {Names[Which], Size};
}

std::string readableBytes(uint64_t Bytes) {
  if (Bytes < 1024)
    return std::to_string(Bytes) + (Bytes == 1 ? " byte" : " bytes");
  const ByteUnit Unit = unitFor(Bytes);
  // Not formatv, which a clang-tidy of another version does not have: it could
  // not load the plugin to be informed of it.
  std::string Result;
  llvm::raw_string_ostream(Result) << llvm::format(
      "%.1f %s", static_cast<double>(Bytes) / Unit.Bytes, Unit.Name);
  return Result;
}

} // namespace libtorch_tidy
