//===- ResultCache.h - What was found, unless something changed -*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_CACHE_RESULTCACHE_H
#define LIBTORCH_TIDY_DRIVER_CACHE_RESULTCACHE_H

#include "driver/cache/CacheFolder.h"
#include <utility>

namespace libtorch_tidy::driver {

/// Results of units, findings and all, with what they depend on. A result whose
/// inputs are as they were is what an analysis would give.
class ResultCache {
public:
  ResultCache(CacheFolder Folder, FileSets &Sets,
              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Folder(std::move(Folder)), Sets(Sets), FS(std::move(FS)) {}

  struct Inputs {
    /// Files, by path, and their textIdentity().
    std::vector<std::pair<std::string, std::string>> Files;
    /// Paths where nothing was.
    std::vector<std::string> Missing;
    /// Folders that were listed, and digests of what they held.
    std::vector<std::pair<std::string, std::string>> Folders;
    /// Names of FileSets.
    std::vector<std::string> Libraries;
  };

  /// The name of the results for a unit: \p Question is all that was asked,
  /// the flags and the configuration, and \p File the source file as it is now,
  /// so that results of other contents (another branch) stay next to it. Empty
  /// when the file cannot be read.
  std::string keyOf(llvm::StringRef Question, llvm::StringRef File) const;

  /// The result that was stored, if everything is as it was.
  std::optional<std::string> find(llvm::StringRef Key);

  void store(llvm::StringRef Key, Inputs In, llvm::StringRef Result);

private:
  bool unchanged(llvm::StringRef Path, llvm::StringRef Identity);

  CacheFolder Folder;
  FileSets &Sets;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  /// The files that were read, by path, with their textIdentity().
  std::map<std::string, std::string, std::less<>> Known;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_CACHE_RESULTCACHE_H
