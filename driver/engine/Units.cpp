//===- Units.cpp - What is analysed ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/Units.h"
#include "driver/project/IncludeScanner.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"
#include <optional>
#include <set>
#include <tuple>

using clang::tooling::CompileCommand;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace path = llvm::sys::path;
namespace scan = clang::dependency_directives_scan;

namespace libtorch_tidy::driver {

bool Units::askFor(const Unit &U, StringRef File, FindingKind Kind,
                   StringRef Path, const Configuration &Config) const {
  if (U.OnlyForFacts)
    return false;
  if (Kind != FindingKind::Defect || Headers.empty() || Path.empty() ||
      Headers.contains(Path))
    return true;
  return !U.OnlyForHeaders &&
         (Path == File || Config.filterTakes(U.File, Path));
}

std::vector<std::string> Units::sources(llvm::vfs::FileSystem &FS) const {
  std::set<std::string> Result;
  for (StringRef Header : Headers.keys())
    Result.insert(Header.str());
  for (const Unit &U : List)
    if (!U.OnlyForHeaders && !U.OnlyForFacts)
      Result.insert(canonicalPath(U.File, "", FS));
  return {Result.begin(), Result.end()};
}

Error noCheckEnabled() {
  return makeError("no check is enabled: add libtorch-* to the Checks of the "
                   ".clang-tidy file, or give --checks='libtorch-*'");
}

Error exclude(llvm::ArrayRef<std::string> Globs, StringRef Here,
              std::vector<std::string> &Files) {
  std::vector<llvm::GlobPattern> Patterns;
  for (StringRef Glob : Globs) {
    // A folder can be written with a slash at its end.
    Expected<llvm::GlobPattern> Pattern = llvm::GlobPattern::create(
        Glob.size() > 1 ? Glob.rtrim('/') : Glob, /*MaxSubPatterns=*/1024);
    if (!Pattern)
      return makeError("--exclude: '" + Glob +
                       "' is not a glob: " + toString(Pattern.takeError()));
    Patterns.push_back(std::move(*Pattern));
  }
  llvm::erase_if(Files, [&](StringRef File) {
    for (StringRef Path = File; !Path.empty(); Path = path::parent_path(Path)) {
      StringRef Relative = Path;
      if (Relative.consume_front(Here))
        Relative = Relative.ltrim('/');
      // What lies around the working folder is not excluded by its name.
      if (Relative.empty())
        break;
      if (llvm::any_of(Patterns, [&](const llvm::GlobPattern &Pattern) {
            return Pattern.match(Path) || Pattern.match(Relative) ||
                   Pattern.match(path::filename(Path));
          }))
        return true;
    }
    return false;
  });
  return Error::success();
}

/// The folders that a command searches, except for those of the system.
static std::vector<std::string>
searchedFolders(const clang::tooling::CompileCommand &Command) {
  std::vector<std::string> Result;
  auto Add = [&](StringRef Folder) {
    Result.push_back(
        compat::absolutePath(Command.Directory, Folder).str().str());
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

namespace {

/// Units to analyse files through that no compile database lists: headers, and
/// the sources of unity builds. One is analysed best as a part of a unit that
/// includes it, with the flags of that, and after what comes in front of the
/// #include. Only #include lines are read, of all branches: a few milliseconds
/// for a project.
class IncludingUnits {
public:
  IncludingUnits(CompileCommands &Commands,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Commands(Commands), FS(std::move(FS)) {}

  /// The source file of the database for \p Header that includes it, also by
  /// way of other headers of the project: one of \p Preferred, else the one of
  /// the header's own name, else the one that includes the fewest files. Empty
  /// when there is none. Paths are canonical.
  std::string unitFor(StringRef Header, const llvm::StringSet<> &Preferred) {
    std::vector<std::string> Units =
        Commands.allFiles(path::parent_path(Header));
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

  /// The source files below \p Folder that units of unity builds elsewhere
  /// include, ordered. Build systems name these units so.
  std::vector<std::string> sourcesBelow(StringRef Folder) {
    std::set<std::string> Result;
    for (const std::string &Listed : Commands.allFiles(Folder)) {
      const StringRef Name = path::filename(Listed);
      const std::string Unit = canonicalPath(Listed, "", *FS);
      if ((!Name.contains_insensitive("unity") &&
           !Name.contains_insensitive("jumbo")) ||
          isBelow(Unit, Folder))
        continue;
      for (StringRef File : closure(Unit, Folder).keys())
        if (isCxxFile(File) && !isHeader(File))
          Result.insert(File.str());
    }
    return {Result.begin(), Result.end()};
  }

private:
  struct Include {
    std::string Name;
    bool Quoted;
  };

  const std::vector<Include> &includesOf(StringRef File) {
    auto [It, New] = Includes.try_emplace(File);
    if (!New)
      return It->second;
    auto Text = FS->getBufferForFile(File);
    if (!Text)
      return It->second;
    if (std::optional<Directives> Read = Directives::read((*Text)->getBuffer()))
      for (const Directives::Line &Line : Read->Lines)
        if (Line.Included && Line.Kind == scan::pp_include)
          It->second.push_back(
              {Line.Included->Name.str(), !Line.Included->Angled});
    return It->second;
  }

  /// The files below \p Folder that a unit includes, canonical.
  const llvm::StringSet<> &closure(StringRef Unit, StringRef Folder) {
    auto [It, New] = Closures.try_emplace((Unit + "\n" + Folder).str());
    llvm::StringSet<> &Result = It->second;
    if (!New)
      return Result;
    const auto Found = llvm::expectedToOptional(Commands.commandsFor(Unit));
    if (!Found)
      return Result;
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
          if (isBelow(Real, Folder) && Result.insert(Real).second)
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

  CompileCommands &Commands;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  llvm::StringMap<std::vector<Include>> Includes;
  llvm::StringMap<llvm::StringSet<>> Closures; ///< By unit and folder.
};

} // namespace

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
  auto Tell = [&](Error Problem) {
    Problems = joinErrors(std::move(Problems), std::move(Problem));
  };
  for (const std::string &Given : GivenFiles) {
    llvm::SmallString<256> Path(Given);
    FS->makeAbsolute(Path);
    path::remove_dots(Path, /*remove_dot_dot=*/true);
    llvm::ErrorOr<llvm::vfs::Status> Status = FS->status(Path);
    if (!Status)
      Tell(makeError("cannot read '" + Given +
                     "': " + Status.getError().message()));
    else if (Status->isRegularFile())
      Add(Path);
    else if (!Status->isDirectory())
      Tell(makeError("'" + Given +
                     "' is a device or a pipe; write its contents to a file"));
    else if (auto Below = Commands.filesBelow(Path)) {
      llvm::append_range(*Below,
                         IncludingUnits(Commands, FS).sourcesBelow(Path));
      llvm::for_each(*Below, Add);
      if (Below->empty())
        Tell(Commands.nothingBelow(Path));
    } else
      Tell(Below.takeError());
  }
  if (Problems)
    return Problems;
  return Result;
}

/// Adds the compilations of \p File to \p All.
static Error add(const std::string &File, CompileCommands &Commands,
                 bool OnlyForHeaders, bool OnlyForFacts, Units &All) {
  Expected<std::vector<CompileCommand>> Found = Commands.commandsFor(File);
  if (!Found)
    return Found.takeError();
  for (CompileCommand &Command : *Found)
    All.List.push_back(
        {File, std::move(Command), OnlyForHeaders, OnlyForFacts});
  return Error::success();
}

/// Adds units for \p Unlisted, which no database lists.
static Error addIncluding(llvm::ArrayRef<std::string> Unlisted, bool Named,
                          Units &All, Configuration &Config,
                          CompileCommands &Commands, FileSystem FS) {
  Error Problems = Error::success();
  if (Unlisted.empty())
    return Problems;
  llvm::StringSet<> Listed;
  for (const Unit &U : All.List)
    Listed.insert(canonicalPath(U.File, "", *FS));
  IncludingUnits Including(Commands, FS);
  std::vector<std::string> Reported;
  for (const std::string &File : Unlisted) {
    const std::string Path = canonicalPath(File, "", *FS);
    const std::string Through = Including.unitFor(Path, Listed);
    if (Through.empty() && !Named && Commands.isListed(File) == false &&
        !isHeader(File)) {
      All.OutsideBuild.push_back(File);
      continue;
    }
    if (!Through.empty() && All.Headers.insert(Path).second)
      Reported.push_back(Path);
    if (Through.empty() || Listed.insert(Through).second)
      Problems = joinErrors(std::move(Problems),
                            add(Through.empty() ? File : Through, Commands,
                                /*OnlyForHeaders=*/!Through.empty(),
                                /*OnlyForFacts=*/false, All));
  }
  if (!Reported.empty())
    Config.reportHeaders(Reported);
  return Problems;
}

Expected<Units> unitsToAnalyse(llvm::ArrayRef<std::string> Files, bool Named,
                               Configuration &Config, CompileCommands &Commands,
                               FileSystem FS) {
  Units Result;
  Error Problems = Error::success();
  std::vector<std::string> Unlisted;
  llvm::StringMap<std::string> Wrong; // Speaks once for a folder.
  for (const std::string &File : Files) {
    const StringRef Folder = path::parent_path(File);
    if (auto It = Wrong.find(Folder); It != Wrong.end()) {
      Result.Misconfigured[canonicalPath(File, "", *FS)] = It->second;
      continue;
    }
    Expected<clang::tidy::ClangTidyOptions> Options = Config.optionsFor(File);
    if (!Options) {
      Result.Misconfigured[canonicalPath(File, "", *FS)] = Wrong[Folder] =
          llvm::toString(Options.takeError());
      continue;
    }
    Config.warnOfUnknown(File);
    if (Configuration::enabledChecks(*Options).empty())
      Result.WithoutChecks.push_back(File);
    else if (!Commands.isListed(File).value_or(!isHeader(File)))
      Unlisted.push_back(File);
    else
      Problems = joinErrors(std::move(Problems),
                            add(File, Commands, /*OnlyForHeaders=*/false,
                                /*OnlyForFacts=*/false, Result));
  }
  if (Result.Misconfigured.size() == Files.size() && !Files.empty())
    return joinErrors(std::move(Problems),
                      makeError(Result.Misconfigured.begin()->second));
  Problems = joinErrors(
      std::move(Problems),
      addIncluding(Unlisted, Named, Result, Config, Commands, std::move(FS)));
  if (Problems)
    return Problems;
  return Result;
}

Error addOtherUnits(Units &All, llvm::ArrayRef<std::string> Files,
                    CompileCommands &Commands, llvm::vfs::FileSystem &FS) {
  llvm::StringSet<> Seen, Folders;
  for (const Unit &U : All.List)
    Seen.insert(canonicalPath(U.File, "", FS));
  for (StringRef File : Files) {
    const StringRef Folder = path::parent_path(File);
    if (!Folders.insert(Folder).second)
      continue;
    for (const std::string &Other : Commands.allFiles(Folder))
      if (isCxxFile(Other) && !isHeader(Other) && FS.exists(Other) &&
          Seen.insert(canonicalPath(Other, "", FS)).second)
        if (Error E = add(Other, Commands, /*OnlyForHeaders=*/false,
                          /*OnlyForFacts=*/true, All))
          return E;
  }
  return Error::success();
}

} // namespace libtorch_tidy::driver
