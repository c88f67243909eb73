//===- UnitInputs.h - The files that a unit was made of ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_UNITINPUTS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_UNITINPUTS_H

#include "driver/cache/CacheFolder.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/StringSet.h"

namespace clang {
class CompilerInstance;
} // namespace clang

namespace libtorch_tidy::driver {

/// What the preprocessor read: a unit is as it was while these are.
struct UnitInputs {
  struct UserFile {
    std::string Path;    ///< Absolute.
    std::string Content; ///< Its digest.
  };
  std::vector<UserFile> User;
  std::vector<FileStamp> Library;
  /// Files that the user's code would have included, had they been there. One
  /// that turns up changes the unit.
  std::vector<std::string> Missing;
};

/// Writes down in \p Result what \p Compiler reads. It lasts as long as the
/// unit is preprocessed. \p Names receives how the user's #includes are
/// spelled.
std::unique_ptr<clang::PPCallbacks>
recordInputs(clang::CompilerInstance &Compiler, UnitInputs &Result,
             llvm::StringSet<> &Names, bool AllNames = false);

/// A file system that remembers what it was asked for without success.
class ProbedFileSystem : public llvm::vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override;

  /// The absolute paths, ordered, at which one of \p Names was looked for.
  std::vector<std::string> missing(const llvm::StringSet<> &Names) const;

private:
  void note(const llvm::Twine &Path);

  llvm::StringSet<> Missing;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_UNITINPUTS_H
