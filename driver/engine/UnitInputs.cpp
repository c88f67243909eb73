//===- UnitInputs.cpp - The files that a unit was made of -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/UnitInputs.h"
#include "driver/engine/Scope.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

namespace {

class Recorder : public PPCallbacks {
public:
  Recorder(CompilerInstance &Compiler, UnitInputs &Result,
           llvm::StringSet<> &Names, bool AllNames)
      : SM(Compiler.getSourceManager()), FS(Compiler.getVirtualFileSystem()),
        Library(SM), Result(Result), Names(Names), AllNames(AllNames) {}

  void FileChanged(SourceLocation Loc, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind, FileID) override {
    if (Reason != EnterFile)
      return;
    const FileID File = SM.getFileID(Loc);
    OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File);
    if (!Entry || !Seen.insert(*Entry).second)
      return;
    llvm::SmallString<256> Path(Entry->getName());
    (void)FS.makeAbsolute(Path);
    if (!Library.contains(Loc))
      // The text that is parsed, not what the file may hold by now.
      Result.User.push_back(
          {Path.str().str(), digest({SM.getBufferData(File)})});
    else if (std::optional<FileStamp> Stamp = stampOf(Path, FS))
      Result.Library.push_back(std::move(*Stamp));
  }

  void InclusionDirective(SourceLocation HashLoc, const Token &,
                          StringRef FileName, bool, CharSourceRange,
                          OptionalFileEntryRef, StringRef, StringRef,
                          const Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    note(HashLoc, FileName);
  }
  void HasInclude(SourceLocation Loc, StringRef FileName, bool,
                  OptionalFileEntryRef, SrcMgr::CharacteristicKind) override {
    note(Loc, FileName);
  }

private:
  void note(SourceLocation Loc, StringRef FileName) {
    if (AllNames || !Library.contains(Loc))
      Names.insert(path::remove_leading_dotslash(FileName));
  }

  const SourceManager &SM;
  llvm::vfs::FileSystem &FS;
  LibraryCode Library;
  UnitInputs &Result;
  llvm::StringSet<> &Names;
  bool AllNames;
  llvm::DenseSet<const FileEntry *> Seen;
};

} // namespace

std::unique_ptr<PPCallbacks> recordInputs(CompilerInstance &Compiler,
                                          UnitInputs &Result,
                                          llvm::StringSet<> &Names,
                                          bool AllNames) {
  return std::make_unique<Recorder>(Compiler, Result, Names, AllNames);
}

llvm::ErrorOr<llvm::vfs::Status>
ProbedFileSystem::status(const llvm::Twine &Path) {
  llvm::ErrorOr<llvm::vfs::Status> Result = ProxyFileSystem::status(Path);
  if (!Result)
    note(Path);
  return Result;
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
ProbedFileSystem::openFileForRead(const llvm::Twine &Path) {
  auto Result = ProxyFileSystem::openFileForRead(Path);
  if (!Result)
    note(Path);
  return Result;
}

void ProbedFileSystem::note(const llvm::Twine &Path) {
  llvm::SmallString<256> Absolute;
  Path.toVector(Absolute);
  if (!makeAbsolute(Absolute))
    Missing.insert(Absolute);
}

std::vector<std::string>
ProbedFileSystem::missing(const llvm::StringSet<> &Names) const {
  // Where the folder of a name is missing, the name is not asked for.
  llvm::StringSet<> Ends;
  for (StringRef Name : Names.keys())
    for (; !Name.empty(); Name = path::parent_path(Name))
      Ends.insert(Name);
  std::vector<std::string> Result;
  for (StringRef Path : Missing.keys())
    for (size_t At = Path.rfind('/'); At != StringRef::npos && At;
         At = Path.rfind('/', At))
      if (Ends.contains(Path.drop_front(At + 1))) {
        Result.push_back(Path.str());
        break;
      }
  llvm::sort(Result);
  return Result;
}

} // namespace libtorch_tidy::driver
