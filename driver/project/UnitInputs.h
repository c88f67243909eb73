//===- UnitInputs.h - The files that a unit was made of ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_UNITINPUTS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_UNITINPUTS_H

#include "driver/cache/CacheFolder.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/StringSet.h"

namespace clang {
class CompilerInstance;
} // namespace clang

namespace libtorch_tidy::driver {

/// All that was asked of the file system, and what it said: a unit is as it was
/// while it would say the same.
struct UnitInputs {
  /// What the preprocessor read: files of the user, with their digests (after
  /// complete(): identities), and of libraries.
  std::vector<PathAndText> User;
  std::vector<FileStamp> Library;
  /// What else was read: configuration files, overlays, precompiled headers.
  /// Large ones are among those of libraries.
  std::vector<PathAndText> Others;
  /// Files and folders that were not there.
  std::vector<std::string> Missing;
  /// What the compiler's driver asked, whether something is there. It is the
  /// same for many units.
  std::vector<FileStamp> Driver;
  std::vector<PathAndText> Folders; ///< That were listed, with namesIn().
};

/// Writes down in \p Result what the preprocessor of \p Compiler reads. It
/// lasts as long as the unit is preprocessed. \p Names, when not null, receives
/// how #includes are spelled.
std::unique_ptr<clang::PPCallbacks>
recordInputs(clang::CompilerInstance &Compiler, UnitInputs &Result,
             llvm::StringSet<> *Names = nullptr);

/// A file system that remembers what it was asked. It goes below everything
/// that reads for a unit: the compiler's driver, the preprocessor, overlays.
class ProbedFileSystem : public llvm::vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override;
  bool exists(const llvm::Twine &Path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &Folder,
                                          std::error_code &EC) override;

  /// From here on it is not the driver that asks.
  void driverEnded() { InDriver = false; }

  /// Adds to \p Inputs, which has what the preprocessor read, all the rest.
  void complete(UnitInputs &Inputs);

private:
  void note(const llvm::Twine &Path, llvm::StringSet<> &Paths) const;

  bool InDriver = true;
  llvm::StringSet<> Opened, Missing, Listed;
  llvm::StringSet<> DriverFound, DriverMissed;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_UNITINPUTS_H
