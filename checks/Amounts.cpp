//===- Amounts.cpp - Bytes in messages ------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/Amounts.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace libtorch_tidy {

std::string readableBytes(uint64_t Bytes) {
  if (Bytes < 1024)
    return std::to_string(Bytes) + (Bytes == 1 ? " byte" : " bytes");
  static constexpr const char *Units[] = {"KB", "MB", "GB", "TB", "PB"};
  double Value = static_cast<double>(Bytes) / 1024;
  unsigned Unit = 0;
  for (; Value >= 1024 && Unit + 1 < std::size(Units); ++Unit)
    Value /= 1024;
  // Not formatv, which a clang-tidy of another version does not have: it could
  // not load the plugin to be informed of it.
  std::string Result;
  llvm::raw_string_ostream(Result)
      << llvm::format("%.1f %s", Value, Units[Unit]);
  return Result;
}

} // namespace libtorch_tidy
