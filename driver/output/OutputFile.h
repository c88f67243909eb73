//===- OutputFile.h - Files that appear whole -------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_OUTPUTFILE_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace libtorch_tidy::driver {

/// A file that is written under a temporary name next to it and renamed when it
/// is whole, or the standard output when its name is "-". Opened before the
/// analysis, so that a name that cannot be written is reported at once.
class OutputFile {
public:
  static llvm::Expected<OutputFile> open(llvm::StringRef Path);
  OutputFile(OutputFile &&Other);
  OutputFile &operator=(OutputFile &&Other);
  /// Discards what was not written.
  ~OutputFile();

  bool isStdout() const { return Path == "-"; }
  llvm::Error write(llvm::StringRef Content);

private:
  explicit OutputFile(llvm::StringRef Path) : Path(Path) {}

  std::string Path;
  std::string Temporary; ///< Empty when written in place.
  int FD = -1;           ///< Of the temporary file.
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_OUTPUTFILE_H
