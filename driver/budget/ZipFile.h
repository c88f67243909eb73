//===- ZipFile.h - The records of a zip archive -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Reads archives of strangers: whatever their bytes are, nothing outside of
/// them is read, and no more is unpacked than was asked for.

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_ZIPFILE_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_ZIPFILE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace libtorch_tidy::driver {

class ZipFile {
public:
  struct Record {
    uint64_t Size = 0;    ///< Bytes that it holds.
    llvm::StringRef Data; ///< In the archive, maybe deflated.
    bool IsDeflated = false;
  };

  /// \p Bytes have to live as long as the result. It is an error when its
  /// directory does not fit them, and when records overlap.
  static llvm::Expected<ZipFile> read(llvm::StringRef Bytes);

  /// Null without one.
  const Record *find(llvm::StringRef Name) const;
  /// By their names, in no order.
  const llvm::StringMap<Record> &records() const { return Records; }

private:
  llvm::StringMap<Record> Records;
};

/// What \p R holds. It is an error when that is more than \p Most bytes, or
/// is not what the archive says of it.
llvm::Expected<std::string> contentsOf(const ZipFile::Record &R, uint64_t Most);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_ZIPFILE_H
