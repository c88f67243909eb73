//===- WatchedRun.h - What a run of the program kept ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A RunReport says which lines of the program made what grew in a run. Joined
/// with the findings it says which of them the run confirms, and what grew that
/// no finding explains.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_WATCHEDRUN_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_WATCHEDRUN_H

#include "driver/findings/Finding.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace libtorch_tidy::driver {

class WatchedRun {
public:
  /// Reads the RunReport \p File. Files without a folder are \p Folder's.
  static llvm::Expected<WatchedRun>
  read(llvm::StringRef File, llvm::StringRef Folder,
       llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// Notes in each of \p Findings that is about what is kept (CWE-401) how much
  /// grew that was made on its line, or on that of one of its steps. Smaller
  /// growth of the same steps that was made in the functions of these lines is
  /// explained as well: a graph has nodes of many lines.
  void confirm(std::vector<Finding> &Findings);

  /// What grew that no finding has explained, one line of text each.
  std::vector<std::string> unexplained() const;

private:
  struct Line {
    std::string Path; ///< Canonical.
    unsigned Number = 0;
    std::string Function;
  };
  /// What one place made and the run kept.
  struct Growth {
    Measured PerStep;
    std::vector<Line> Calls; ///< Innermost first, of the user's code.
    bool Explained = false;
  };

  /// Operators of one line, called in the same way, are one place.
  void add(Growth New);

  std::vector<Growth> Growths;
  std::string Folder;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_WATCHEDRUN_H
