//===- Git.cpp - What git knows of the sources ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/ChangedLines.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "driver/workers/Workers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <csignal>
#include <optional>
#include <unistd.h>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::sys::Process;
namespace fs = llvm::sys::fs;

namespace libtorch_tidy::driver {

/// Bytes that git may print. No list or diff of source files has as many.
static constexpr uint64_t MaxOutput = 512 << 20;

/// Submodules in submodules.
static constexpr unsigned MaxSubmodules = 16;

/// What the process in which git ran says when all went well.
static constexpr const char *AllWentWell = "good";

namespace {

/// A work tree.
struct Repository {
  std::string Top; ///< Canonical.
  /// That one call of git may take, 0: any. Each file that it reads can be a
  /// pipe that nobody writes to.
  unsigned Seconds = 0;
  bool IsSubmodule = false;
  /// The names of the filters that its configuration and those of its
  /// submodules define: programs that git would run for files.
  std::vector<std::string> Filters = {};
};

} // namespace

/// The environment for git, in which it starts no program that the repository
/// names: no transport that fetches a missing object, and no filter. A hook has
/// variables in it that name the repository it runs in, and hold for no
/// submodule.
static std::vector<std::string> environmentFor(const Repository &R) {
  std::vector<std::string> Result;
  unsigned Settings = 0; // Those of the user, in variables that have a number.
  for (char **Entry = ::environ; *Entry; ++Entry) {
    StringRef Name = StringRef(*Entry).split('=').first;
    const bool NamesRepository = llvm::is_contained(
        {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX",
         "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
         "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE",
         "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE"},
        Name);
    if (Name == "GIT_CONFIG_COUNT")
      (void)StringRef(*Entry).split('=').second.getAsInteger(10, Settings);
    // Context lines that the first asks for win over --unified.
    else if (!llvm::is_contained(
                 {"GIT_DIFF_OPTS", "GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL"},
                 Name) &&
             !(R.IsSubmodule && NamesRepository))
      Result.push_back(*Entry);
  }
  Result.push_back("GIT_NO_LAZY_FETCH=1");
  Result.push_back("GIT_ALLOW_PROTOCOL=none");
  auto Set = [&](const std::string &Key, StringRef Value) {
    const std::string Number = std::to_string(Settings++);
    Result.push_back("GIT_CONFIG_KEY_" + Number + "=" + Key);
    Result.push_back(("GIT_CONFIG_VALUE_" + Number + "=" + Value).str());
  };
  for (const std::string &Filter : R.Filters) {
    for (const char *Program : {".clean", ".smudge", ".process"})
      Set("filter." + Filter + Program, "");
    Set("filter." + Filter + ".required", "false");
  }
  Result.push_back("GIT_CONFIG_COUNT=" + std::to_string(Settings));
  return Result;
}

/// In a process of its own: what git begins, for instance git in a submodule,
/// ends with this process, and this one with who waits for it.
static void leadGroup() {
  ::setpgid(0, 0);
  for (int Signal : {SIGINT, SIGTERM})
    ::signal(Signal, [](int) { ::kill(0, SIGKILL); });
}

/// What `git ARGUMENTS` prints, run in \p Where. The error is git's own.
static Expected<std::string> git(const Repository &Where,
                                 llvm::ArrayRef<std::string> Arguments) {
  llvm::ErrorOr<std::string> Program = llvm::sys::findProgramByName("git");
  if (!Program)
    return makeError("git is not installed");
  llvm::SmallString<128> Out, Err;
  auto Clean = llvm::make_scope_exit([&] {
    for (StringRef File : {StringRef(Out), StringRef(Err)})
      if (!File.empty()) {
        (void)fs::remove(File);
        llvm::sys::DontRemoveFileOnSignal(File);
      }
  });
  for (llvm::SmallString<128> *File : {&Out, &Err})
    if (std::error_code EC =
            fs::createTemporaryFile("libtorch-tidy-git", "", *File))
      return makeError("cannot write a temporary file: " + EC.message());
    else
      llvm::sys::RemoveFileOnSignal(*File);

  // Neither writes the index of the user's repository: `git diff` does it in
  // spite of the first when only the times of files have changed.
  std::vector<StringRef> Args = {
      *Program, "--no-optional-locks", "--literal-pathspecs", "-c",
      "diff.autoRefreshIndex=false", "-c", "core.quotePath=false",
      // Programs that the repository names.
      "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
      // A folder of the sources that looks like a repository is not used.
      "-c", "safe.bareRepository=explicit", "-C", Where.Top};
  Args.insert(Args.end(), Arguments.begin(), Arguments.end());
  const std::vector<std::string> Entries = environmentFor(Where);
  const std::vector<StringRef> Environment(Entries.begin(), Entries.end());
  auto Failed = [&](const llvm::Twine &Why,
                    std::error_code Kind = llvm::inconvertibleErrorCode()) {
    return llvm::createStringError(Kind,
                                   "git " + Arguments.front() + ": " + Why);
  };
  auto Read = [&](StringRef File) -> Expected<std::string> {
    uint64_t Size = 0;
    if (std::error_code EC = fs::file_size(File, Size))
      return Failed("its output cannot be read: " + EC.message());
    if (Size > MaxOutput)
      return Failed("its output has more than " + llvm::Twine(MaxOutput >> 20) +
                    " MB");
    auto Buffer = llvm::MemoryBuffer::getFile(File);
    if (!Buffer)
      return Failed("its output cannot be read: " +
                    Buffer.getError().message());
    return (*Buffer)->getBuffer().str();
  };
  Workers One(1, {/*Processor=*/0, /*Clock=*/Where.Seconds});
  One.start(0, [&]() -> std::string {
    leadGroup();
    std::string Why;
    const int Code = llvm::sys::ExecuteAndWait(
        *Program, Args, llvm::ArrayRef(Environment),
        {StringRef(""), StringRef(Out), StringRef(Err)}, 0, 0, &Why);
    return Code == 0 ? AllWentWell : Why;
  });
  const Workers::Outcome Ran = One.wait();
  if (Ran.Met == WorkCap::Clock)
    return Failed("it took longer than " + llvm::Twine(Where.Seconds) +
                      " seconds",
                  std::make_error_code(std::errc::timed_out));
  if (!Ran.Finished)
    return Failed("it cannot be run");
  if (Ran.Result == AllWentWell)
    return Read(Out);
  if (!Ran.Result.empty())
    return Failed(Ran.Result);
  Expected<std::string> Said = Read(Err);
  if (!Said)
    return Said.takeError();
  return Failed(StringRef(*Said).trim().split('\n').first);
}

static std::string below(StringRef Top, StringRef Name) {
  llvm::SmallString<256> Path(Top), Real;
  llvm::sys::path::append(Path, Name);
  return fs::real_path(Path, Real) ? Path.str().str() : Real.str().str();
}

/// The submodule \p Name of \p R; absent when it is not checked out.
static std::optional<Repository> submodule(const Repository &R,
                                           StringRef Name) {
  std::string Top = below(R.Top, Name);
  if (!fs::exists(Top + "/.git"))
    return std::nullopt;
  return Repository{std::move(Top), R.Seconds, /*IsSubmodule=*/true, R.Filters};
}

/// Adds the filters that \p R and the submodules that are checked out in it
/// define. git asks those, too, what has changed in them.
static Error addFilters(const Repository &R, unsigned Depth,
                        llvm::StringSet<> &Names) {
  if (Depth > MaxSubmodules)
    return makeError(R.Top + ": submodules are nested too deeply");
  Expected<std::string> Keys =
      git(R, {"config", "-z", "--name-only", "--list"});
  if (!Keys)
    return Keys.takeError();
  for (StringRef Key : llvm::split(*Keys, '\0'))
    if (Key.consume_front("filter."))
      Names.insert(Key.rsplit('.').first);
  Expected<std::string> Entries = git(R, {"ls-files", "-z", "--stage"});
  if (!Entries)
    return Entries.takeError();
  for (StringRef Entry : llvm::split(*Entries, '\0'))
    if (std::optional<Repository> Sub =
            Entry.consume_front("160000 ")
                ? submodule(R, Entry.split('\t').second)
                : std::nullopt)
      if (Error E = addFilters(*Sub, Depth + 1, Names))
        return E;
  return Error::success();
}

/// The work tree around \p Folder.
static Expected<Repository> repositoryAround(StringRef Folder,
                                             unsigned Seconds) {
  Expected<std::string> Top =
      git({Folder.str(), Seconds}, {"rev-parse", "--show-toplevel"});
  if (!Top)
    return Top.takeError();
  Repository Result;
  Result.Seconds = Seconds;
  Result.Top = below(StringRef(*Top).rtrim("\n"), "");
  llvm::StringSet<> Filters;
  if (Error E = addFilters(Result, 0, Filters))
    return Expected<Repository>(std::move(E));
  for (const auto &Filter : Filters)
    Result.Filters.push_back(Filter.first().str());
  return Result;
}

/// A diff, whatever the user's configuration of git says.
static Expected<Diff> diff(const Repository &R,
                           llvm::ArrayRef<std::string> Between) {
  std::vector<std::string> Args = {
      "diff", "--raw", "--patch", "--no-abbrev", "--unified=0",
      // The configuration can say otherwise of each of these.
      "--ignore-submodules=none", "--submodule=short", "--no-color",
      "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/",
      "--inter-hunk-context=0"};
  Args.insert(Args.end(), Between.begin(), Between.end());
  Args.push_back("--");
  Expected<std::string> Text = git(R, Args);
  if (!Text)
    return Text.takeError();
  Diff Result = parseDiff(*Text);
  // .gitattributes can say that of a source file, and so does a NUL in it. Not
  // all are asked for as text: a model of gigabytes would be compared.
  llvm::erase_if(Result.Binary,
                 [](const std::string &Name) { return !isCxxFile(Name); });
  if (Result.Binary.empty())
    return Result;
  Args.insert(Args.begin() + 1, "--text");
  Args.insert(Args.end(), Result.Binary.begin(), Result.Binary.end());
  Text = git(R, Args);
  if (!Text)
    return Text.takeError();
  for (auto &File : parseDiff(*Text).Files)
    Result.Files[File.first()] = std::move(File.second);
  return Result;
}

/// For listed(): the files that git tracks, and those that it neither tracks
/// nor ignores.
static constexpr const char *Tracked[] = {"--cached", "--recurse-submodules"},
                            *Untracked[] = {"--others", "--exclude-standard"};

/// The paths of the files that `git ls-files ARGUMENTS` names.
static Expected<std::vector<std::string>>
listed(const Repository &R, llvm::ArrayRef<const char *> Arguments) {
  std::vector<std::string> Args = {"ls-files", "-z"};
  Args.insert(Args.end(), Arguments.begin(), Arguments.end());
  Expected<std::string> Names = git(R, Args);
  if (!Names)
    return Names.takeError();
  std::vector<std::string> Result;
  for (StringRef Name : llvm::split(*Names, '\0'))
    if (!Name.empty())
      Result.push_back(below(R.Top, Name));
  return Result;
}

static Error addListed(const Repository &R,
                       llvm::ArrayRef<const char *> Arguments,
                       ChangedLines &Result) {
  Expected<std::vector<std::string>> Paths = listed(R, Arguments);
  if (!Paths)
    return Paths.takeError();
  for (StringRef Path : *Paths)
    Result.addWholeFile(Path);
  return Error::success();
}

/// Is the commit \p Revision in the clone?
static bool hasRevision(const Repository &R, StringRef Revision) {
  return !Revision.empty() &&
         llvm::expectedToOptional(
             git(R, {"cat-file", "-e", (Revision + "^{commit}").str()}));
}

/// The files of \p Named that git does not track here: ignored ones, those of
/// other work trees. Nobody can say which of their lines are new.
static Error addUnknown(const Repository &R, llvm::ArrayRef<std::string> Named,
                        ChangedLines &Result) {
  auto IsKnown = [&](const std::string &File) { return Result.contains(File); };
  if (llvm::all_of(Named, IsKnown))
    return Error::success();
  Expected<std::vector<std::string>> Paths = listed(R, Tracked);
  if (!Paths)
    return Paths.takeError();
  llvm::StringSet<> Here;
  Here.insert(Paths->begin(), Paths->end());
  for (const std::string &File : Named)
    if (!IsKnown(File) && !Here.contains(File))
      Result.addWholeFile(File);
  return Error::success();
}

static Error addAll(const Repository &R, ChangedLines &Result) {
  return joinErrors(addListed(R, Tracked, Result),
                    addListed(R, Untracked, Result));
}

static Error addChangedSince(const Repository &R, StringRef Revision,
                             ChangedLines &Result) {
  Expected<Diff> Changes = diff(R, {Revision.str()});
  if (!Changes)
    return Changes.takeError();
  for (const auto &File : Changes->Files)
    Result.add(below(R.Top, File.first()), File.second);
  if (Error E = addListed(R, Untracked, Result))
    return E;
  for (const Diff::Submodule &S : Changes->Submodules) {
    std::optional<Repository> Sub = submodule(R, S.Name);
    if (!Sub)
      continue;
    Result.addSubmodule(Sub->Top);
    // All of it counts as changed when it is new, or when nobody can say what
    // is: a clone can lack the old revision.
    if (Error E = hasRevision(*Sub, S.Old)
                      ? addChangedSince(*Sub, S.Old, Result)
                      : addAll(*Sub, Result))
      return E;
  }
  return Error::success();
}

Expected<ChangedLines> linesChangedSince(StringRef Revision, StringRef Folder,
                                         unsigned Seconds,
                                         llvm::ArrayRef<std::string> Named) {
  // Nor an option of git.
  if (Revision.starts_with("-") || Revision.contains(".."))
    return makeError("--diff: '" + Revision + "' is not one revision");
  Expected<Repository> R = repositoryAround(Folder, Seconds);
  if (!R)
    return R.takeError();
  ChangedLines Result;
  // Before the first commit all is new.
  if (Error E = Revision != "HEAD" || hasRevision(*R, Revision)
                    ? addChangedSince(*R, Revision, Result)
                    : addAll(*R, Result))
    return Expected<ChangedLines>(std::move(E));
  if (Error E = addUnknown(*R, Named, Result))
    return Expected<ChangedLines>(std::move(E));
  return Result;
}

/// The changes between the states that \p Staged names, where they are in the
/// work tree, which differs from the later one as \p Unstaged says.
static Error addStaged(const Repository &R, llvm::ArrayRef<std::string> Staged,
                       llvm::ArrayRef<std::string> Unstaged,
                       ChangedLines &Result) {
  Expected<Diff> Changes = diff(R, Staged);
  if (!Changes)
    return Changes.takeError();
  Expected<Diff> Later = diff(R, Unstaged);
  if (!Later)
    return Later.takeError();
  for (const auto &File : Changes->Files) {
    const std::string Path = below(R.Top, File.first());
    Result.add(Path, File.second);
    if (auto It = Later->Files.find(File.first()); It != Later->Files.end())
      Result.moveOver(Path, It->second);
  }
  for (const Diff::Submodule &S : Changes->Submodules) {
    std::optional<Repository> Sub = submodule(R, S.Name);
    if (!Sub)
      continue;
    Result.addSubmodule(Sub->Top);
    if (Error E = hasRevision(*Sub, S.Old) && hasRevision(*Sub, S.New)
                      ? addStaged(*Sub, {S.Old, S.New}, {S.New}, Result)
                      : addListed(*Sub, Tracked, Result))
      return E;
  }
  return Error::success();
}

Expected<ChangedLines> stagedLines(StringRef Folder, unsigned Seconds) {
  Expected<Repository> R = repositoryAround(Folder, Seconds);
  if (!R)
    return R.takeError();
  ChangedLines Result;
  // Of the first commit, which has no parent, all is new.
  if (Error E = addStaged(*R, {"--cached"}, {}, Result))
    return Expected<ChangedLines>(std::move(E));
  return Result;
}

Expected<ChangedLines> linesOfHook(StringRef Folder, unsigned Seconds) {
  std::optional<std::string> From = Process::GetEnv("PRE_COMMIT_FROM_REF"),
                             To = Process::GetEnv("PRE_COMMIT_TO_REF");
  if (!From || !To)
    return stagedLines(Folder, Seconds);
  // As pre-commit itself: what came since the two parted.
  Expected<std::string> Base =
      git({Folder.str(), Seconds}, {"merge-base", *From, *To});
  if (!Base)
    return Base.takeError();
  return linesChangedSince(StringRef(*Base).trim(), Folder, Seconds);
}

Expected<std::string> trackedBelow(StringRef Folder, unsigned Seconds) {
  llvm::SmallString<256> Real;
  if (fs::real_path(Folder, Real) ||
      gitWorkTree((Real + "/file").str(), *llvm::vfs::getRealFileSystem())
          .empty())
    return "";
  // git lists what is below the folder that it runs in.
  Expected<std::vector<std::string>> Paths =
      listed({Real.str().str(), Seconds}, Tracked);
  if (!Paths)
    return Paths.takeError();
  return Paths->empty() ? "" : Paths->front();
}

/// \p Address with only what may stand in a URI: what may not is encoded. Empty
/// when the host is not one.
static std::string asUri(StringRef Address) {
  auto [Scheme, Rest] = Address.split("://");
  StringRef Host = Rest.take_until([](char C) { return C == '/'; });
  if (Host.empty() || !llvm::all_of(Host, [](char C) {
        return llvm::isAlnum(C) || StringRef("-._~:[]").contains(C);
      }))
    return {};
  std::string Result = (Scheme + "://" + Host).str();
  StringRef Path = Rest.drop_front(Host.size());
  for (size_t I = 0; I < Path.size(); ++I) {
    const char C = Path[I];
    const bool IsEncoded = C == '%' && I + 2 < Path.size() &&
                           llvm::isHexDigit(Path[I + 1]) &&
                           llvm::isHexDigit(Path[I + 2]);
    if (IsEncoded || llvm::isAlnum(C) ||
        StringRef("/-._~!$&'()*+,;=:@").contains(C))
      Result += C;
    else
      Result += {'%', llvm::hexdigit((C >> 4) & 15), llvm::hexdigit(C & 15)};
  }
  return Result;
}

/// The address as a URI: also of the form user@host:path.
static std::string withoutCredentials(StringRef Address) {
  StringRef Scheme, Rest;
  std::tie(Scheme, Rest) = Address.split("://");
  if (Rest.empty()) {
    std::tie(Scheme, Rest) = std::pair<StringRef, StringRef>("ssh", Address);
    size_t Colon = Rest.find(':');
    if (Colon == StringRef::npos || Rest.take_front(Colon).contains('/'))
      return {};
    return ("ssh://" + Rest.take_front(Colon).rsplit('@').second +
            (Rest.take_front(Colon).contains('@') ? ""
                                                  : Rest.take_front(Colon)) +
            "/" + Rest.drop_front(Colon + 1).ltrim('/'))
        .str();
  }
  if (!llvm::is_contained({"http", "https", "ssh", "git"}, Scheme))
    return {};
  size_t Slash = Rest.find('/');
  StringRef Host = Rest.take_front(Slash);
  if (size_t At = Host.rfind('@'); At != StringRef::npos)
    Host = Host.drop_front(At + 1);
  return (Scheme + "://" + Host + Rest.drop_front(std::min(Slash, Rest.size())))
      .str();
}

/// For originOf(): absent when git does not know it, or was cut off, which the
/// user has waited for and hears.
template <typename T> static std::optional<T> ifKnown(Expected<T> Said) {
  if (Said)
    return std::move(*Said);
  llvm::handleAllErrors(Said.takeError(), [](const llvm::ErrorInfoBase &Why) {
    if (Why.convertToErrorCode() == std::errc::timed_out)
      tellWarning() << "where the sources come from is not said in full: "
                    << printable(Why.message()) << '\n';
  });
  return std::nullopt;
}

std::pair<std::string, std::string> originOf(StringRef Top, unsigned Seconds) {
  const std::optional<Repository> R = ifKnown(repositoryAround(Top, Seconds));
  if (!R || R->Top != Top)
    return {};
  auto Ask = [&](llvm::ArrayRef<std::string> Arguments) {
    return ifKnown(git(*R, Arguments));
  };
  auto Line = [](const std::optional<std::string> &Said) {
    return StringRef(*Said).trim().str();
  };
  const std::optional<std::string> Revision = Ask({"rev-parse", "HEAD"}),
                                   Changed = Ask({"status", "--porcelain",
                                                  "--untracked-files=no"}),
                                   Address =
                                       Ask({"remote", "get-url", "origin"});
  // What nobody can say is not taken for no change.
  return {Address ? asUri(withoutCredentials(Line(Address))) : "",
          Revision && Changed && Changed->empty() ? Line(Revision) : ""};
}

} // namespace libtorch_tidy::driver
