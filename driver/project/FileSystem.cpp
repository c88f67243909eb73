//===- FileSystem.cpp - The files that an analysis sees -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/FileSystem.h"
#include "driver/llvm/Compat.h"
#include "driver/project/CudaUnits.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticFrontend.h"
#include "clang/Basic/FileManager.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "llvm/Support/Path.h"
#include <map>
#include <optional>
#include <set>
#include <system_error>

using namespace llvm;

namespace libtorch_tidy::driver {

namespace {

/// That a file is a device, a pipe or a socket, in words.
class NotRegular : public std::error_category {
public:
  const char *name() const noexcept override { return "libtorch-tidy"; }
  std::string message(int) const override { return "it is not a regular file"; }
};

/// A file whose text is copied. Memory that shows the file itself changes with
/// it in the middle of an analysis, and is gone when an editor makes it
/// shorter.
class CopiedFile : public vfs::File {
public:
  explicit CopiedFile(std::unique_ptr<vfs::File> Of) : Of(std::move(Of)) {}

  ErrorOr<vfs::Status> status() override { return Of->status(); }
  ErrorOr<std::string> getName() override { return Of->getName(); }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &Name, int64_t,
                                                   bool RequiresNullTerminator,
                                                   bool) override {
    // Of the size that it has now. The compiler sees that it had another.
    return Of->getBuffer(Name, /*FileSize=*/-1, RequiresNullTerminator,
                         /*IsVolatile=*/true);
  }
  std::error_code close() override { return Of->close(); }

private:
  const std::unique_ptr<vfs::File> Of;
};

/// Bytes. What is larger is no text that somebody writes.
constexpr uint64_t MostCopied = 16 << 20;

/// Opens regular files only. A pipe waits for a writer that never comes, and
/// /dev/zero has no end; a symbolic link of a stranger leads to either.
class RegularFileSystem : public vfs::ProxyFileSystem {
public:
  explicit RegularFileSystem(IntrusiveRefCntPtr<vfs::FileSystem> Base)
      : ProxyFileSystem(std::move(Base)) {
    if (ErrorOr<vfs::Status> Status = ProxyFileSystem::status("/dev/null"))
      Empty = Status->getUniqueID();
  }

  ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &Path) override {
    static const NotRegular Category{};
    const ErrorOr<vfs::Status> Status = ProxyFileSystem::status(Path);
    // Builds name /dev/null for a file that is empty.
    if (Status && !Status->isRegularFile() && !Status->isDirectory() &&
        Status->getUniqueID() != Empty)
      return std::error_code(1, Category);
    auto Result = ProxyFileSystem::openFileForRead(Path);
    if (Result && Status && Status->getSize() <= MostCopied)
      return std::make_unique<CopiedFile>(std::move(*Result));
    return Result;
  }

private:
  std::optional<sys::fs::UniqueID> Empty;
};

class EditedFileSystem : public vfs::ProxyFileSystem {
public:
  EditedFileSystem(IntrusiveRefCntPtr<vfs::FileSystem> Base,
                   const fixits::FileTexts &Texts)
      : ProxyFileSystem(std::move(Base)),
        Edited(makeIntrusiveRefCnt<vfs::InMemoryFileSystem>()) {
    for (const auto &[Path, Text] : Texts) {
      Edited->addFile(Path, /*ModificationTime=*/0,
                      MemoryBuffer::getMemBufferCopy(Text, Path));
      note(Path);
    }
  }

  bool exists(const Twine &Path) override { return bool(status(Path)); }

  ErrorOr<vfs::Status> status(const Twine &Path) override {
    ErrorOr<vfs::Status> Result = ProxyFileSystem::status(Path);
    const std::optional<std::string> Other = otherFor(Path, Result);
    if (!Other)
      return Result;
    ErrorOr<vfs::Status> Now = Edited->status(*Other);
    if (!Now)
      return Now;
    return vfs::Status::copyWithNewName(*Now, Path);
  }

  ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &Path) override {
    const std::optional<std::string> Other =
        otherFor(Path, ProxyFileSystem::status(Path));
    if (!Other)
      return ProxyFileSystem::openFileForRead(Path);
    return vfs::File::getWithPath(Edited->openFileForRead(*Other), Path);
  }

private:
  /// \p Path is one of the edited files.
  void note(const std::string &Path) {
    ErrorOr<vfs::Status> Status = ProxyFileSystem::status(Path);
    if (!Status)
      return;
    SmallString<256> Real;
    // Where a link stands, the file that it names is another one.
    if (!ProxyFileSystem::getRealPath(Path, Real) && Real != Path)
      Links.insert(Path);
    else
      Paths[Status->getUniqueID()] = Path;
  }

  /// The path among the edited files of what is at \p Path; absent for what is
  /// as on the disk.
  std::optional<std::string> otherFor(const Twine &Path,
                                      const ErrorOr<vfs::Status> &OnDisk) {
    if (!OnDisk || !Links.empty()) {
      std::string Absolute = absolute(Path);
      if (!OnDisk)
        return Edited->exists(Absolute) ? std::optional(std::move(Absolute))
                                        : std::nullopt;
      if (Links.count(Absolute))
        return Absolute;
    }
    auto It = Paths.find(OnDisk->getUniqueID());
    return It == Paths.end() ? std::nullopt : std::optional(It->second);
  }

  /// A file that is not on the disk has only the path that it was given.
  std::string absolute(const Twine &Path) const {
    SmallString<256> Result;
    Path.toVector(Result);
    (void)makeAbsolute(Result);
    sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
    return Result.str().str();
  }

  IntrusiveRefCntPtr<vfs::InMemoryFileSystem> Edited;
  /// The real paths of the edited files, by what they are on the disk, however
  /// they are spelled.
  std::map<sys::fs::UniqueID, std::string> Paths;
  std::set<std::string> Links; ///< Edited paths that lead through a link.
};

/// The files of \p Below as the overlay in \p File shows them.
Expected<IntrusiveRefCntPtr<vfs::FileSystem>>
readOverlay(StringRef File, IntrusiveRefCntPtr<vfs::FileSystem> Below) {
  auto Buffer = Below->getBufferForFile(File);
  if (!Buffer)
    return makeError("cannot read the file system overlay '" + File +
                     "': " + Buffer.getError().message());
  std::string Message;
  if (isNestedTooDeep((*Buffer)->getBuffer()))
    Message = "it is nested too deeply";
  else if (IntrusiveRefCntPtr<vfs::FileSystem> Overlay =
               vfs::getVFSFromYAML(std::move(*Buffer), keepFirstMessage, File,
                                   &Message, std::move(Below)))
    return Overlay;
  return makeError("invalid file system overlay '" + File + "': " + Message);
}

} // namespace

Expected<FileSystem> createFileSystem(StringRef VfsOverlay) {
  auto Disk =
      makeIntrusiveRefCnt<RegularFileSystem>(vfs::createPhysicalFileSystem());
  // Overlays take it for granted.
  if (auto Here = Disk->getCurrentWorkingDirectory(); !Here)
    return makeError("there is no working directory: " +
                     Here.getError().message());
  FileSystem FS(new vfs::OverlayFileSystem(Disk));
  if (!VfsOverlay.empty()) {
    Expected<IntrusiveRefCntPtr<vfs::FileSystem>> Overlay =
        readOverlay(VfsOverlay, std::move(Disk));
    if (!Overlay)
      return Overlay.takeError();
    FS->pushOverlay(std::move(*Overlay));
  }
  mountCudaHeaders(*FS);
  return FS;
}

IntrusiveRefCntPtr<clang::FileManager>
filesOf(const clang::CompilerInvocation &Invocation, clang::FileManager &Files,
        clang::DiagnosticConsumer *Consumer) {
  const std::vector<std::string> &Overlays =
      Invocation.getHeaderSearchOpts().VFSOverlayFiles;
  if (Overlays.empty())
    return &Files;
  IntrusiveRefCntPtr<vfs::FileSystem> Result = Files.getVirtualFileSystemPtr();
  clang::IgnoringDiagConsumer Nobody;
  const compat::Diagnostics Diags(Consumer ? Consumer : &Nobody,
                                  /*OwnsConsumer=*/false);
  Diags->setErrorsAsFatal(true);
  for (const std::string &File : Overlays) {
    Expected<IntrusiveRefCntPtr<vfs::FileSystem>> Overlay =
        readOverlay(File, Result);
    if (Overlay)
      Result = std::move(*Overlay);
    else
      // One of Clang's own: the consumer knows no custom ones but those of the
      // engine that it was made with.
      Diags->Report(clang::diag::err_fe_source_mgr)
          << toString(Overlay.takeError());
  }
  return makeIntrusiveRefCnt<clang::FileManager>(Files.getFileSystemOpts(),
                                                 std::move(Result));
}

FileSystem withTexts(FileSystem Base, const fixits::FileTexts &Texts) {
  if (Texts.empty() || !Base)
    return Base;
  return makeIntrusiveRefCnt<vfs::OverlayFileSystem>(
      makeIntrusiveRefCnt<EditedFileSystem>(std::move(Base), Texts));
}

} // namespace libtorch_tidy::driver
