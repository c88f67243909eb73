//===- HeaderUnits.cpp - Units to analyse headers through -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/HeaderUnits.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <tuple>

using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

const std::vector<HeaderUnits::Include> &
HeaderUnits::includesOf(StringRef File) {
  auto [It, New] = Includes.try_emplace(File);
  if (!New)
    return It->second;
  auto Buffer = FS->getBufferForFile(File);
  if (!Buffer)
    return It->second;
  StringRef Text = (*Buffer)->getBuffer();
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    Line = Line.ltrim();
    if (!Line.consume_front("#"))
      continue;
    Line = Line.ltrim();
    if (!Line.consume_front("include"))
      continue;
    Line = Line.ltrim();
    const bool Quoted = Line.consume_front("\"");
    if (!Quoted && !Line.consume_front("<"))
      continue;
    size_t End = Line.find(Quoted ? '"' : '>');
    if (End != StringRef::npos)
      It->second.push_back({Line.take_front(End).str(), Quoted});
  }
  return It->second;
}

/// The folders that a command searches, except for those of the system.
static std::vector<std::string>
searchedFolders(const clang::tooling::CompileCommand &Command) {
  std::vector<std::string> Result;
  auto Add = [&](StringRef Folder) {
    llvm::SmallString<256> Path(Folder);
    if (!path::is_absolute(Path)) {
      Path = Command.Directory;
      path::append(Path, Folder);
    }
    Result.push_back(Path.str().str());
  };
  for (size_t I = 0; I < Command.CommandLine.size(); ++I) {
    StringRef Arg = Command.CommandLine[I];
    if ((Arg == "-I" || Arg == "-iquote") && I + 1 < Command.CommandLine.size())
      Add(Command.CommandLine[++I]);
    else if (Arg.consume_front("-I") || Arg.consume_front("-iquote"))
      Add(Arg);
  }
  return Result;
}

/// The files below \p Folder that a unit includes, canonical.
const llvm::StringSet<> &HeaderUnits::closure(StringRef Unit,
                                              StringRef Folder) {
  auto [It, New] = Closures.try_emplace((Unit + "\n" + Folder).str());
  llvm::StringSet<> &Result = It->second;
  if (!New)
    return Result;
  auto Found = Commands.commandsFor(Unit);
  if (!Found) {
    llvm::consumeError(Found.takeError());
    return Result;
  }
  const std::vector<std::string> Searched = searchedFolders(Found->front());
  std::vector<std::string> ToRead = {Unit.str()};
  while (!ToRead.empty()) {
    const std::string File = std::move(ToRead.back());
    ToRead.pop_back();
    for (const Include &I : includesOf(File)) {
      auto Try = [&](StringRef In) {
        llvm::SmallString<256> Path(In);
        path::append(Path, I.Name);
        if (!FS->exists(Path))
          return false;
        std::string Real = canonicalPath(Path, "", *FS);
        StringRef Rest = Real;
        if (Rest.consume_front(Folder) && Rest.starts_with("/") &&
            Result.insert(Real).second)
          ToRead.push_back(std::move(Real));
        return true;
      };
      if (path::is_absolute(I.Name)) {
        (void)Try("/");
        continue;
      }
      if (!I.Quoted || !Try(path::parent_path(File)))
        (void)llvm::any_of(Searched, Try);
    }
  }
  return Result;
}

std::string HeaderUnits::unitFor(StringRef Header,
                                 const llvm::StringSet<> &Preferred) {
  std::vector<std::string> Units = Commands.allFiles(path::parent_path(Header));
  std::string Best;
  std::tuple<bool, bool, size_t> BestCost;
  for (const std::string &Listed : Units) {
    const std::string Unit = canonicalPath(Listed, "", *FS);
    // Headers of the project lie below what unit and header have in common.
    StringRef Folder = path::parent_path(Header);
    while (!Folder.empty() && !isBelow(Unit, Folder))
      Folder = path::parent_path(Folder);
    const llvm::StringSet<> &Included =
        closure(Unit, Folder == "/" ? "" : Folder);
    if (!Included.contains(Header))
      continue;
    std::tuple Cost(!Preferred.contains(Unit),
                    path::stem(Unit) != path::stem(Header), Included.size());
    // Units come in order, so that the first of equals stays the same.
    if (Best.empty() || Cost < BestCost) {
      Best = Unit;
      BestCost = Cost;
    }
  }
  return Best;
}

} // namespace libtorch_tidy::driver
