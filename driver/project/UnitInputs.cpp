//===- UnitInputs.cpp - The files that a unit was made of -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/UnitInputs.h"
#include "driver/project/Scope.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

namespace {

class InputRecorder : public PPCallbacks {
public:
  InputRecorder(CompilerInstance &Compiler, UnitInputs &Result,
                llvm::StringSet<> *Names)
      : SM(Compiler.getSourceManager()), FS(Compiler.getVirtualFileSystem()),
        Library(SM), Result(Result), Names(Names) {}

  void FileChanged(SourceLocation Loc, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind, FileID) override {
    if (Reason != EnterFile)
      return;
    const FileID File = SM.getFileID(Loc);
    OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File);
    if (!Entry || !Seen.insert(*Entry).second)
      return;
    // As it was asked for: an overlay can have it from elsewhere tomorrow.
    llvm::SmallString<256> Path(Entry->getNameAsRequested());
    (void)FS.makeAbsolute(Path);
    if (!Library.contains(Loc))
      // The text that is parsed, not what the file may hold by now.
      Result.User.push_back(
          {Path.str().str(), digest({SM.getBufferData(File)})});
    else if (std::optional<FileStamp> Stamp = stampOf(Path, FS))
      Result.Library.push_back(std::move(*Stamp));
  }

  void InclusionDirective(SourceLocation, const Token &, StringRef FileName,
                          bool, CharSourceRange, OptionalFileEntryRef,
                          StringRef, StringRef, const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    note(FileName);
  }
  void HasInclude(SourceLocation, StringRef FileName, bool,
                  OptionalFileEntryRef, SrcMgr::CharacteristicKind) override {
    note(FileName);
  }

private:
  void note(StringRef FileName) {
    if (Names)
      Names->insert(path::remove_leading_dotslash(FileName));
  }

  const SourceManager &SM;
  llvm::vfs::FileSystem &FS;
  LibraryCode Library;
  UnitInputs &Result;
  llvm::StringSet<> *Names;
  llvm::DenseSet<const FileEntry *> Seen;
};

} // namespace

std::unique_ptr<PPCallbacks> recordInputs(CompilerInstance &Compiler,
                                          UnitInputs &Result,
                                          llvm::StringSet<> *Names) {
  return std::make_unique<InputRecorder>(Compiler, Result, Names);
}

llvm::ErrorOr<llvm::vfs::Status>
ProbedFileSystem::status(const llvm::Twine &Path) {
  llvm::ErrorOr<llvm::vfs::Status> Result = ProxyFileSystem::status(Path);
  if (!Result)
    note(Path, InDriver ? DriverMissed : Missing);
  else if (InDriver)
    note(Path, DriverFound);
  return Result;
}

bool ProbedFileSystem::exists(const llvm::Twine &Path) {
  return bool(status(Path));
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
ProbedFileSystem::openFileForRead(const llvm::Twine &Path) {
  auto Result = ProxyFileSystem::openFileForRead(Path);
  note(Path, Result ? Opened : InDriver ? DriverMissed : Missing);
  return Result;
}

llvm::vfs::directory_iterator
ProbedFileSystem::dir_begin(const llvm::Twine &Folder, std::error_code &EC) {
  note(Folder, Listed);
  return ProxyFileSystem::dir_begin(Folder, EC);
}

void ProbedFileSystem::note(const llvm::Twine &Path,
                            llvm::StringSet<> &Paths) const {
  llvm::SmallString<256> Absolute;
  Path.toVector(Absolute);
  if (!makeAbsolute(Absolute))
    Paths.insert(Absolute);
}

void ProbedFileSystem::complete(UnitInputs &Inputs) {
  llvm::vfs::FileSystem &FS = getUnderlyingFS();
  // What was not asked here came from an overlay above, whose files were.
  llvm::erase_if(Inputs.User, [&](const PathAndText &File) {
    return !Opened.contains(File.first);
  });
  llvm::erase_if(Inputs.Library, [&](const FileStamp &File) {
    return !Opened.contains(File.Path);
  });
  llvm::StringSet<> Read;
  for (auto &[Path, Text] : Inputs.User) {
    Read.insert(Path);
    Text = textIdentity(Path, Text, FS);
  }
  for (const FileStamp &File : Inputs.Library)
    Read.insert(File.Path);
  constexpr uint64_t Large = 4 << 20;
  for (StringRef Path : Opened.keys()) {
    if (Read.contains(Path))
      continue;
    std::optional<FileStamp> Stamp = stampOf(Path, FS);
    if (Stamp && Stamp->Size >= Large) {
      Inputs.Library.push_back(std::move(*Stamp));
      continue;
    }
    auto Text = FS.getBufferForFile(Path);
    Inputs.Others.push_back(
        {Path.str(),
         Text ? textIdentity(Path, digest({(*Text)->getBuffer()}), FS) : ""});
  }
  for (StringRef Path : Missing.keys())
    Inputs.Missing.push_back(Path.str());
  for (StringRef Path : DriverMissed.keys())
    Inputs.Driver.push_back(FileStamp::missing(Path.str()));
  for (StringRef Path : DriverFound.keys())
    if (!Opened.contains(Path))
      Inputs.Driver.push_back({Path.str(), FileStamp::There, 0, 0});
  for (StringRef Path : Listed.keys())
    Inputs.Folders.push_back({Path.str(), namesIn(Path, FS)});
  llvm::sort(Inputs.Missing);
  llvm::sort(Inputs.Others);
  llvm::sort(Inputs.Folders);
}

} // namespace libtorch_tidy::driver
