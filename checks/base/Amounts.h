//===- Amounts.h - Bytes in messages ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_BASE_AMOUNTS_H
#define LIBTORCH_TIDY_CHECKS_BASE_AMOUNTS_H

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>

namespace libtorch_tidy {

/// The unit that suits \p Bytes: "B", "KB", "MB" and so on, and its bytes.
struct ByteUnit {
  const char *Name;
  double Bytes;
};
inline ByteUnit unitFor(uint64_t Bytes) {
  static constexpr const char *Names[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  double Size = 1;
  unsigned Which = 0;
  for (; static_cast<double>(Bytes) / Size >= 1024 &&
         Which + 1 < std::size(Names);
       ++Which)
    Size *= 1024;
  return {Names[Which], Size};
}

/// "38.1 MB", "12 bytes". A KB is 1,024 bytes.
inline std::string readableBytes(uint64_t Bytes) {
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

#endif // LIBTORCH_TIDY_CHECKS_BASE_AMOUNTS_H
