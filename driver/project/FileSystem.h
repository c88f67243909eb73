//===- FileSystem.h - The files that an analysis sees -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_FILESYSTEM_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_FILESYSTEM_H

#include "fixits/Verifier.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace clang {
class CompilerInvocation;
class DiagnosticConsumer;
class FileManager;
} // namespace clang

namespace libtorch_tidy::driver {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem>;

/// The disk, of which only regular files can be read, under the overlay that
/// the user gives as the YAML file \p VfsOverlay (empty: none), with a working
/// directory of its own: units do not move the process.
llvm::Expected<FileSystem> createFileSystem(llvm::StringRef VfsOverlay);

/// \p Files as the compiler sees them that \p Invocation starts: under the
/// overlays that its flags name (-ivfsoverlay), which Clang's tooling library
/// forgets. \p Consumer (may be null) hears of an overlay that cannot be read.
llvm::IntrusiveRefCntPtr<clang::FileManager>
filesOf(const clang::CompilerInvocation &Invocation, clang::FileManager &Files,
        clang::DiagnosticConsumer *Consumer);

/// Opens no more than so many files: files that name each other, such as those
/// of options, can do so without end.
class FewFiles : public llvm::vfs::ProxyFileSystem {
public:
  static constexpr unsigned Most = 1000;

  explicit FewFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Base)
      : ProxyFileSystem(std::move(Base)) {}

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override {
    if (Opened < Most) {
      ++Opened;
      return ProxyFileSystem::openFileForRead(Path);
    }
    Opened = Most + 1;
    return std::make_error_code(std::errc::too_many_files_open);
  }

  /// Begins to count again.
  void reset() { Opened = 0; }
  /// Was one more file asked for?
  bool isExhausted() const { return Opened > Most; }

private:
  unsigned Opened = 0;
};

/// \p Base, but with other texts for some files: those of \p Texts, by real
/// path. However a path is spelled, and through symbolic links, it leads to the
/// other text. A file of \p Texts that is not on the disk is there by its path;
/// a path through a link stands for itself only.
FileSystem withTexts(FileSystem Base, const fixits::FileTexts &Texts);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_FILESYSTEM_H
