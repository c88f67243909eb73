//===- Git.cpp - What git knows of the sources ----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/Git.h"
#include "driver/project/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::sys::Process;
namespace fs = llvm::sys::fs;

namespace libtorch_tidy::driver {

Expected<std::string> git(StringRef Folder,
                          llvm::ArrayRef<std::string> Arguments) {
  llvm::ErrorOr<std::string> Program = llvm::sys::findProgramByName("git");
  if (!Program)
    return makeError("git is not installed");
  llvm::SmallString<128> Out, Err;
  auto Clean = llvm::make_scope_exit([&] {
    for (StringRef File : {StringRef(Out), StringRef(Err)})
      if (!File.empty())
        (void)fs::remove(File);
  });
  for (llvm::SmallString<128> *File : {&Out, &Err})
    if (std::error_code EC =
            fs::createTemporaryFile("libtorch-tidy-git", "", *File))
      return makeError("cannot write a temporary file: " + EC.message());

  // Neither writes the index of the user's repository: `git diff` does it in
  // spite of the first when only the times of files have changed.
  std::vector<StringRef> Args = {
      *Program, "--no-optional-locks",  "-c", "diff.autoRefreshIndex=false",
      "-c",     "core.quotePath=false", "-C", Folder};
  Args.insert(Args.end(), Arguments.begin(), Arguments.end());
  std::string Message;
  const int Code = llvm::sys::ExecuteAndWait(
      *Program, Args, std::nullopt,
      {StringRef(""), StringRef(Out), StringRef(Err)}, 0, 0, &Message);
  auto Read = [](StringRef File) {
    auto Buffer = llvm::MemoryBuffer::getFile(File);
    return Buffer ? (*Buffer)->getBuffer().str() : std::string();
  };
  if (Code == 0)
    return Read(Out);
  if (Message.empty())
    Message = StringRef(Read(Err)).trim().split('\n').first.str();
  return makeError("git " + Arguments.front() + ": " + Message);
}

/// The top of the work tree, canonical.
static Expected<std::string> topOf(StringRef Folder) {
  Expected<std::string> Top = git(Folder, {"rev-parse", "--show-toplevel"});
  if (!Top)
    return Top.takeError();
  llvm::SmallString<256> Real;
  StringRef Path = StringRef(*Top).rtrim("\n");
  if (fs::real_path(Path, Real))
    return Path.str();
  return Real.str().str();
}

static std::string below(StringRef Top, StringRef Name) {
  llvm::SmallString<256> Path(Top), Real;
  llvm::sys::path::append(Path, Name);
  return fs::real_path(Path, Real) ? Path.str().str() : Real.str().str();
}

/// The hunks of a diff, whatever the user's configuration of git says.
static Expected<llvm::StringMap<std::vector<Hunk>>>
diff(StringRef Top, llvm::ArrayRef<std::string> More) {
  std::vector<std::string> Args = {"diff",
                                   "--unified=0",
                                   "--no-color",
                                   "--no-ext-diff",
                                   "--no-textconv",
                                   "--src-prefix=a/",
                                   "--dst-prefix=b/",
                                   "--inter-hunk-context=0"};
  Args.insert(Args.end(), More.begin(), More.end());
  Args.push_back("--");
  Expected<std::string> Text = git(Top, Args);
  if (!Text)
    return Text.takeError();
  return parseDiff(*Text);
}

Expected<ChangedLines> linesChangedSince(StringRef Revision, StringRef Folder) {
  if (Revision.starts_with("-") || Revision.contains(".."))
    return makeError("--diff: '" + Revision + "' is not one revision");
  Expected<std::string> Top = topOf(Folder);
  if (!Top)
    return Top.takeError();
  ChangedLines Result;
  auto Hunks = diff(*Top, {Revision.str()});
  if (!Hunks)
    return Hunks.takeError();
  for (const auto &File : *Hunks)
    Result.add(below(*Top, File.first()), File.second);
  Expected<std::string> Untracked =
      git(*Top, {"ls-files", "--others", "--exclude-standard", "-z"});
  if (!Untracked)
    return Untracked.takeError();
  for (StringRef Name : llvm::split(*Untracked, '\0'))
    if (!Name.empty())
      Result.addWholeFile(below(*Top, Name));
  return Result;
}

Expected<ChangedLines> stagedLines(StringRef Folder) {
  Expected<std::string> Top = topOf(Folder);
  if (!Top)
    return Top.takeError();
  ChangedLines Result;
  // Of the first commit, which has no parent, all is new.
  auto Staged = diff(*Top, {"--cached"});
  if (!Staged)
    return Staged.takeError();
  auto Unstaged = diff(*Top, {});
  if (!Unstaged)
    return Unstaged.takeError();
  for (const auto &File : *Staged) {
    const std::string Path = below(*Top, File.first());
    Result.add(Path, File.second);
    if (auto It = Unstaged->find(File.first()); It != Unstaged->end())
      Result.moveOver(Path, It->second);
  }
  return Result;
}

Expected<ChangedLines> linesOfHook(StringRef Folder) {
  std::optional<std::string> From = Process::GetEnv("PRE_COMMIT_FROM_REF"),
                             To = Process::GetEnv("PRE_COMMIT_TO_REF");
  if (!From || !To)
    return stagedLines(Folder);
  // As pre-commit itself: what came since the two parted.
  Expected<std::string> Base = git(Folder, {"merge-base", *From, *To});
  if (!Base)
    return Base.takeError();
  return linesChangedSince(StringRef(*Base).trim(), Folder);
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

std::pair<std::string, std::string> originOf(StringRef Top) {
  auto Ask = [&](llvm::ArrayRef<std::string> Arguments) -> std::string {
    Expected<std::string> Said = git(Top, Arguments);
    if (!Said) {
      llvm::consumeError(Said.takeError());
      return {};
    }
    return StringRef(*Said).trim().str();
  };
  Expected<std::string> Itself = topOf(Top);
  if (!Itself || *Itself != Top) {
    llvm::consumeError(Itself.takeError());
    return {};
  }
  std::string Revision = Ask({"rev-parse", "HEAD"});
  if (!Ask({"status", "--porcelain", "--untracked-files=no"}).empty())
    Revision.clear();
  return {asUri(withoutCredentials(Ask({"remote", "get-url", "origin"}))),
          Revision};
}

} // namespace libtorch_tidy::driver
