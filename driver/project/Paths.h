//===- Paths.h - One spelling for each file ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_PATHS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_PATHS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>

namespace libtorch_tidy::driver {

/// \p Path in its one spelling: absolute (\p Folder in front of relative
/// ones), without dots, symbolic links resolved.
std::string canonicalPath(llvm::StringRef Path, llvm::StringRef Folder,
                          llvm::vfs::FileSystem &FS);

/// Is \p Path below \p Folder? Both are canonical.
bool isBelow(llvm::StringRef Path, llvm::StringRef Folder);

/// The top of the git work tree around \p File, an absolute path, as a part of
/// that; empty when there is none. A work tree of git-worktree counts.
llvm::StringRef gitWorkTree(llvm::StringRef File, llvm::vfs::FileSystem &FS);

/// The folder that paths are written relative to: the top of the git work tree
/// that \p Files are in (of several, the folder that holds them all), else
/// \p WorkingDirectory.
std::string findProjectRoot(llvm::ArrayRef<std::string> Files,
                            llvm::StringRef WorkingDirectory,
                            llvm::vfs::FileSystem &FS);

/// \p Path relative to \p Root; absolute when it lies outside.
llvm::StringRef relativePath(llvm::StringRef Path, llvm::StringRef Root);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_PATHS_H
