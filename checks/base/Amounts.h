//===- Amounts.h - Bytes in messages ----------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_BASE_AMOUNTS_H
#define LIBTORCH_TIDY_CHECKS_BASE_AMOUNTS_H

#include <cstdint>
#include <string>

namespace libtorch_tidy {

/// The unit that suits \p Bytes: "B", "KB", "MB" and so on, and its bytes.
struct ByteUnit {
  const char *Name;
  double Bytes;
};
ByteUnit unitFor(uint64_t Bytes);

/// "38.1 MB", "12 bytes". A KB is 1,024 bytes.
std::string readableBytes(uint64_t Bytes);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_BASE_AMOUNTS_H
