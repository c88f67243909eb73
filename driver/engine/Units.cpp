//===- Units.cpp - What is analysed ---------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/Units.h"
#include "driver/project/HeaderUnits.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using clang::tooling::CompileCommand;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

bool Units::askFor(const Unit &U, const Finding &F,
                   const Configuration &Config) const {
  if (U.OnlyForFacts)
    return false;
  StringRef Path = F.Where.Path;
  if (F.Kind != FindingKind::Defect || Headers.empty() || Path.empty() ||
      Headers.contains(Path))
    return true;
  if (U.OnlyForHeaders)
    return false;
  return Path == F.Unit || Config.filterTakes(U.File, Path);
}

std::vector<std::string> Units::sources(llvm::vfs::FileSystem &FS) const {
  std::vector<std::string> Result;
  for (const Unit &U : List)
    if (!U.OnlyForHeaders && !U.OnlyForFacts)
      Result.push_back(canonicalPath(U.File, "", FS));
  for (StringRef Header : Headers.keys())
    Result.push_back(Header.str());
  llvm::sort(Result);
  Result.erase(llvm::unique(Result), Result.end());
  return Result;
}

Expected<std::vector<std::string>>
filesToAnalyse(llvm::ArrayRef<std::string> GivenFiles,
               CompileCommands &Commands, FileSystem FS) {
  std::vector<std::string> Result;
  llvm::StringSet<> Seen;
  auto Add = [&](StringRef File) {
    if (Seen.insert(canonicalPath(File, "", *FS)).second)
      Result.push_back(File.str());
  };
  Error Problems = Error::success();
  for (const std::string &Given : GivenFiles) {
    llvm::SmallString<256> Path(Given);
    FS->makeAbsolute(Path);
    llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
    llvm::ErrorOr<llvm::vfs::Status> Status = FS->status(Path);
    if (!Status) {
      Problems = joinErrors(std::move(Problems),
                            makeError("cannot read '" + Given +
                                      "': " + Status.getError().message()));
      continue;
    }
    if (Status->isRegularFile()) {
      Add(Path);
      continue;
    }
    if (!Status->isDirectory()) {
      Problems = joinErrors(
          std::move(Problems),
          makeError("'" + Given +
                    "' is a device or a pipe; write what it has to a file"));
      continue;
    }
    Expected<std::vector<std::string>> Below = Commands.filesBelow(Path);
    if (!Below) {
      Problems = joinErrors(std::move(Problems), Below.takeError());
      continue;
    }
    for (const std::string &File : *Below)
      Add(File);
  }
  if (Problems)
    return Problems;
  return Result;
}

namespace {

/// Collects the units of a run, and what is wrong with them.
class Collector {
public:
  Collector(Configuration &Config, CompileCommands &Commands, FileSystem FS)
      : Config(Config), Commands(Commands), FS(std::move(FS)) {}

  /// One malformed configuration speaks for all below it: false.
  bool addFile(const std::string &File);
  void addHeaders();

  Units Result;
  Error Problems = Error::success();

private:
  void add(const std::string &File, bool OnlyForHeaders);

  Configuration &Config;
  CompileCommands &Commands;
  FileSystem FS;
  std::vector<std::string> Headers; ///< That no database lists.
};

} // namespace

void Collector::add(const std::string &File, bool OnlyForHeaders) {
  Expected<std::vector<CompileCommand>> Found = Commands.commandsFor(File);
  if (!Found) {
    Problems = joinErrors(std::move(Problems), Found.takeError());
    return;
  }
  for (CompileCommand &Command : *Found)
    Result.List.push_back(
        {File, std::move(Command), OnlyForHeaders, /*OnlyForFacts=*/false});
}

bool Collector::addFile(const std::string &File) {
  Expected<clang::tidy::ClangTidyOptions> Options = Config.optionsFor(File);
  if (!Options) {
    Problems = joinErrors(std::move(Problems), Options.takeError());
    return false;
  }
  Config.warnOfUnknown(File);
  if (Configuration::enabledChecks(*Options).empty())
    Result.WithoutChecks.push_back(File);
  else if (isHeader(File) && !Commands.lists(File))
    Headers.push_back(File);
  else
    add(File, /*OnlyForHeaders=*/false);
  return true;
}

void Collector::addHeaders() {
  if (Headers.empty())
    return;
  llvm::StringSet<> Listed;
  for (const Unit &U : Result.List)
    Listed.insert(canonicalPath(U.File, "", *FS));
  HeaderUnits Including(Commands, FS);
  for (const std::string &Header : Headers) {
    const std::string Path = canonicalPath(Header, "", *FS);
    const std::string Through = Including.unitFor(Path, Listed);
    if (Through.empty()) {
      add(Header, /*OnlyForHeaders=*/false);
      continue;
    }
    Result.Headers.insert(Path);
    if (Listed.insert(Through).second)
      add(Through, /*OnlyForHeaders=*/true);
  }
  if (Result.Headers.empty())
    return;
  std::vector<std::string> Paths;
  for (StringRef Path : Result.Headers.keys())
    Paths.push_back(Path.str());
  Config.reportHeaders(Paths);
}

Expected<Units> unitsToAnalyse(llvm::ArrayRef<std::string> Files,
                               Configuration &Config, CompileCommands &Commands,
                               FileSystem FS) {
  Collector All(Config, Commands, std::move(FS));
  for (const std::string &File : Files)
    if (!All.addFile(File))
      return std::move(All.Problems);
  All.addHeaders();
  if (All.Problems)
    return std::move(All.Problems);
  return std::move(All.Result);
}

Error addOtherUnits(Units &All, llvm::ArrayRef<std::string> Files,
                    CompileCommands &Commands, llvm::vfs::FileSystem &FS) {
  llvm::StringSet<> Seen, Folders;
  for (const Unit &U : All.List)
    Seen.insert(canonicalPath(U.File, "", FS));
  for (StringRef File : Files) {
    const StringRef Folder = llvm::sys::path::parent_path(File);
    if (!Folders.insert(Folder).second)
      continue;
    for (const std::string &Other : Commands.allFiles(Folder)) {
      if (!isCxxFile(Other) || isHeader(Other) || !FS.exists(Other) ||
          !Seen.insert(canonicalPath(Other, "", FS)).second)
        continue;
      Expected<std::vector<CompileCommand>> Found = Commands.commandsFor(Other);
      if (!Found)
        return Found.takeError();
      for (CompileCommand &Command : *Found)
        All.List.push_back({Other, std::move(Command), /*OnlyForHeaders=*/false,
                            /*OnlyForFacts=*/true});
    }
  }
  return Error::success();
}

} // namespace libtorch_tidy::driver
