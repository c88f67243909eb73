//===- Progress.h - How far a run is ----------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_PROGRESS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_PROGRESS_H

#include "llvm/Support/VirtualFileSystem.h"
#include <optional>

namespace libtorch_tidy::driver {

struct ProgressOptions {
  std::optional<bool> Show; ///< Absent: if it is of use.
  bool Quiet = false;
};

/// Prints `[12/87] src/net.cpp  3 findings` on the standard error: on a
/// terminal, as one line that is overwritten and gone in the end, when there
/// are several units; elsewhere only if the user asks, a line per unit.
class Progress {
public:
  Progress(const ProgressOptions &Options, size_t Total,
           llvm::vfs::FileSystem &FS);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// \p How: what is special about it, or nothing.
  void finished(llvm::StringRef File, unsigned Findings, llvm::StringRef How);
  /// Something that units wait for has begun.
  void begun(llvm::StringRef What);

private:
  void tell(const llvm::Twine &Text);

  size_t Total, Count = 0;
  std::string Here; ///< The working directory, with a slash.
  bool Shown, OnTerminal;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_PROGRESS_H
