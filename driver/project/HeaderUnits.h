//===- HeaderUnits.h - Units to analyse headers through ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A compile database lists no headers. One is analysed best as a part of a
/// unit that includes it: with that unit's flags, and after what comes in
/// front of the #include.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_HEADERUNITS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_HEADERUNITS_H

#include "driver/project/CompileCommands.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace libtorch_tidy::driver {

/// Reads #include lines only, of all branches, and knows no macros: a few
/// milliseconds for a project.
class HeaderUnits {
public:
  HeaderUnits(CompileCommands &Commands,
              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Commands(Commands), FS(std::move(FS)) {}

  /// The source file of the database for \p Header that includes it, also by
  /// way of other headers of the project: one of \p Preferred, else the one of
  /// the header's own name, else the one that includes the fewest files. Empty
  /// when there is none. Paths are canonical.
  std::string unitFor(llvm::StringRef Header,
                      const llvm::StringSet<> &Preferred);

private:
  struct Include {
    std::string Name;
    bool Quoted;
  };
  const std::vector<Include> &includesOf(llvm::StringRef File);
  const llvm::StringSet<> &closure(llvm::StringRef Unit,
                                   llvm::StringRef Folder);

  CompileCommands &Commands;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  llvm::StringMap<std::vector<Include>> Includes;
  llvm::StringMap<llvm::StringSet<>> Closures; ///< By unit and folder.
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_HEADERUNITS_H
