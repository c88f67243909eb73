//===- RevisionFiles.cpp - The files of another revision ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/RevisionFiles.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Error.h"
#include "driver/project/Git.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/SHA256.h"
#include <filesystem>
#include <optional>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

/// Larger files that differ are no source code.
static constexpr uint64_t MaxText = 8 << 20;
/// Of all texts that differ.
static constexpr uint64_t MaxTexts = 256 << 20;
/// Submodules in submodules.
static constexpr unsigned MaxDepth = 16;

namespace {

/// A file of a tree of git.
struct Entry {
  std::string Name; ///< Relative to the top.
  std::string Id;
  bool IsLink = false;
};

struct Tree {
  std::vector<Entry> Files;
  std::vector<Entry> Submodules;
};

/// A line of `git diff-index --raw`.
struct IndexChange {
  char Kind = 0;
  bool IsSubmodule = false; ///< It is one now.
  std::string Name, Before;
};

/// Absent for files that are too large.
using Texts = std::vector<std::optional<std::string>>;

class Reader {
public:
  Reader(RevisionFiles &Result, llvm::vfs::FileSystem &FS)
      : Result(Result), FS(FS) {}

  Error add(const Repository &R, StringRef Commit, unsigned Depth);

private:
  Error addTexts(const Repository &R, const Tree &Then);
  Error addNew(const Repository &R, StringRef Commit, const Tree &Then,
               unsigned Depth);
  Error addAllOf(const Repository &R, unsigned Depth);
  bool isTooDeep(const Repository &R, unsigned Depth);
  bool isAsNow(const Entry &File, StringRef Path) const;
  Expected<Texts> texts(const Repository &R,
                        llvm::ArrayRef<const Entry *> Files);

  RevisionFiles &Result;
  llvm::vfs::FileSystem &FS;
  uint64_t Taken = 0; ///< Bytes of texts.
};

} // namespace

/// Images, archives and weights are not read, whatever their size.
static bool mayBeSource(StringRef Name) {
  const std::string Extension = path::extension(Name).lower();
  return !llvm::is_contained({".png",  ".jpg", ".jpeg", ".gif", ".bmp",  ".tif",
                              ".tiff", ".ppm", ".svg",  ".ico", ".webp", ".pdf",
                              ".npy",  ".npz", ".pt",   ".pth", ".onnx", ".bin",
                              ".zip",  ".gz",  ".bz2",  ".xz",  ".zst",  ".tar",
                              ".h5",   ".mp3", ".mp4",  ".wav", ".so",   ".a",
                              ".o",    ".csv", ".pkl",  ".md",  ".ipynb"},
                             Extension);
}

/// A tree that git did not make can name what is not below the top.
static bool isBelowTop(StringRef Name) {
  if (Name.empty() || Name.starts_with("/"))
    return false;
  return llvm::none_of(llvm::split(Name, '/'), [](StringRef Part) {
    return Part.empty() || Part == "." || Part == ".." || Part == ".git";
  });
}

static std::string pathOf(const Repository &R, StringRef Name) {
  return (R.Top + "/" + Name).str();
}

/// Submodule \p Name of \p R; absent when it is not checked out: then it is not
/// read now either.
static std::optional<Repository> checkedOut(const Repository &R,
                                            StringRef Name) {
  const std::string Top = pathOf(R, Name);
  llvm::SmallString<256> Real;
  if (!fs::exists(Top + "/.git") || fs::real_path(Top, Real) || Real != Top)
    return std::nullopt;
  return Repository{Top, /*IsSubmodule=*/true, /*RunsNothing=*/true};
}

/// The files of \p R that a sparse checkout leaves out.
static Expected<std::set<std::string>> leftOut(const Repository &R) {
  Expected<std::vector<std::string>> Names = listed(R, {"-t", "--cached"});
  if (!Names)
    return Names.takeError();
  std::set<std::string> Result;
  for (StringRef Name : *Names)
    if (Name.consume_front("S "))
      Result.insert(Name.str());
  return Result;
}

static Expected<Tree> treeOf(const Repository &R, StringRef Commit) {
  Expected<std::string> Text =
      git(R, {"ls-tree", "-r", "-z", "--full-tree", Commit.str()});
  if (!Text)
    return Text.takeError();
  Tree Result;
  for (StringRef Line : llvm::split(*Text, '\0')) {
    auto [Facts, Name] = Line.split('\t');
    llvm::SmallVector<StringRef, 3> Words;
    Facts.split(Words, ' ');
    if (Words.size() != 3 || !isBelowTop(Name))
      continue;
    Entry E;
    E.Name = Name.str();
    E.Id = Words[2].str();
    E.IsLink = Words[0] == "120000";
    if (Words[1] == "commit")
      Result.Submodules.push_back(std::move(E));
    else if (Words[1] == "blob" && mayBeSource(Name))
      Result.Files.push_back(std::move(E));
  }
  return Result;
}

/// The name that git has for \p Text: by SHA-1, or SHA-256 if it is \p Long.
static std::string blobName(StringRef Text, bool Long) {
  const std::string Header = "blob " + std::to_string(Text.size());
  const StringRef Start(Header.c_str(), Header.size() + 1);
  auto Digest = [&](auto Hasher) {
    Hasher.update(Start);
    Hasher.update(Text);
    return llvm::toHex(llvm::ArrayRef<uint8_t>(Hasher.final()),
                       /*LowerCase=*/true);
  };
  return Long ? Digest(llvm::SHA256()) : Digest(llvm::SHA1());
}

bool Reader::isAsNow(const Entry &File, StringRef Path) const {
  llvm::ErrorOr<llvm::vfs::Status> Now = FS.status(Path);
  if (!Now || !Now->isRegularFile())
    return false;
  auto Text = FS.getBufferForFile(Path);
  return Text && blobName((*Text)->getBuffer(), File.Id.size() > 40) == File.Id;
}

/// Takes "ID blob SIZE" off \p Said. Absent when git does not have it.
static std::optional<uint64_t> takeSize(StringRef &Said) {
  StringRef Line;
  std::tie(Line, Said) = Said.split('\n');
  uint64_t Size = 0;
  if (Line.rsplit(' ').second.getAsInteger(10, Size))
    return std::nullopt;
  return Size;
}

/// The texts of \p Files, in their order.
Expected<Texts> Reader::texts(const Repository &R,
                              llvm::ArrayRef<const Entry *> Files) {
  Texts Found(Files.size());
  std::string Ids;
  for (const Entry *File : Files)
    Ids += File->Id + "\n";
  if (Ids.empty())
    return Found;
  Expected<std::string> Sizes = git(R, {"cat-file", "--batch-check"}, Ids);
  if (!Sizes)
    return makeError("--diff: the files of '" + Result.Name +
                     "' cannot be read, which a clone made with --filter may "
                     "lack: " +
                     toString(Sizes.takeError()));
  Ids.clear();
  StringRef Rest = *Sizes;
  std::vector<size_t> Wanted;
  for (size_t I = 0; I < Files.size(); ++I) {
    const std::optional<uint64_t> Size = takeSize(Rest);
    if (!Size)
      return makeError("--diff: the clone lacks '" + Files[I]->Name + "' of '" +
                       Result.Name + "', as clones made with --filter do");
    if (*Size > MaxText)
      continue;
    Taken += *Size;
    Ids += Files[I]->Id + "\n";
    Wanted.push_back(I);
  }
  if (Taken > MaxTexts)
    return makeError("--diff: more than " + std::to_string(MaxTexts >> 20) +
                     " MB of files differ from '" + Result.Name + "'");
  if (Ids.empty())
    return Found;
  Expected<std::string> Said = git(R, {"cat-file", "--batch"}, Ids);
  if (!Said)
    return Said.takeError();
  Rest = *Said;
  for (size_t I : Wanted) {
    // The text follows on lines of its own.
    const size_t Size = takeSize(Rest).value_or(0);
    Found[I] = Rest.take_front(Size).str();
    Rest = Rest.drop_front(std::min(Size, Rest.size()));
    Rest.consume_front("\n");
  }
  return Found;
}

/// Where the link \p Name leads, relative to the top; empty when outside.
static std::string linkTarget(StringRef Name, StringRef Text) {
  if (Text.empty() || Text.starts_with("/") || Text.contains('\0'))
    return {};
  llvm::SmallString<256> Target("/");
  path::append(Target, path::parent_path(Name), Text);
  path::remove_dots(Target, /*remove_dot_dot=*/true);
  return Target.str().drop_front().str();
}

Error Reader::addTexts(const Repository &R, const Tree &Then) {
  Expected<std::set<std::string>> LeftOut = leftOut(R);
  if (!LeftOut)
    return LeftOut.takeError();
  std::map<StringRef, const Entry *> ByName;
  std::vector<const Entry *> Links;
  // The paths that differ, and the entries with their texts.
  std::vector<std::string> Paths;
  std::vector<const Entry *> Wanted;
  auto Want = [&](std::string Path, const Entry &File) {
    if (!FS.exists(Path))
      Result.Gone.push_back(Path);
    Paths.push_back(std::move(Path));
    Wanted.push_back(&File);
  };
  for (const Entry &File : Then.Files) {
    ByName[File.Name] = &File;
    std::string Path = pathOf(R, File.Name);
    if (LeftOut->count(File.Name) && !FS.exists(Path))
      continue;
    if (File.IsLink)
      Links.push_back(&File);
    else if (!isAsNow(File, Path))
      Want(std::move(Path), File);
  }
  Expected<Texts> LinkTexts = texts(R, Links);
  if (!LinkTexts)
    return LinkTexts.takeError();
  std::map<std::string, std::string> Targets;
  for (size_t I = 0; I < Links.size(); ++I)
    Targets[Links[I]->Name] =
        linkTarget(Links[I]->Name, (*LinkTexts)[I].value_or(""));
  for (size_t I = 0; I < Links.size(); ++I) {
    std::string Path = pathOf(R, Links[I]->Name);
    if (fs::is_symlink_file(Path)) {
      std::error_code EC;
      const std::filesystem::path Text =
          std::filesystem::read_symlink(Path, EC);
      if (!EC && Text.string() == (*LinkTexts)[I])
        continue;
    }
    // What it led to, over some other links at most.
    std::string Target = Links[I]->Name;
    for (unsigned Hop = 0; Hop < MaxDepth && Targets.count(Target); ++Hop)
      Target = Targets[Target];
    auto It = ByName.find(Target);
    if (It != ByName.end() && !It->second->IsLink)
      Want(std::move(Path), *It->second);
    else
      Result.Unknown.push_back("where the link '" + Path +
                               "' led is not known");
  }
  Expected<Texts> Found = texts(R, Wanted);
  if (!Found)
    return Found.takeError();
  for (size_t I = 0; I < Paths.size(); ++I)
    if ((*Found)[I])
      Result.Texts[Paths[I]] = std::move(*(*Found)[I]);
    else if (isCxxFile(Paths[I]))
      Result.Unknown.push_back("'" + Paths[I] +
                               "' is too large to be read, with more than " +
                               std::to_string(MaxText >> 20) + " MB");
  return Error::success();
}

/// What `git diff-index --raw -z` said.
static std::vector<IndexChange> indexChanges(StringRef Text) {
  std::vector<IndexChange> Result;
  llvm::SmallVector<StringRef, 0> Fields;
  Text.split(Fields, '\0');
  for (size_t I = 0; I + 1 < Fields.size(); ++I) {
    llvm::SmallVector<StringRef, 5> Words;
    Fields[I].split(Words, ' ');
    if (Words.size() != 5 || Words[4].empty())
      continue;
    IndexChange Change;
    Change.Kind = Words[4].front();
    Change.IsSubmodule = Words[1] == "160000";
    Change.Name = Fields[++I].str();
    // A renamed one has both names.
    if ((Change.Kind == 'R' || Change.Kind == 'C') && I + 1 < Fields.size()) {
      Change.Before = std::move(Change.Name);
      Change.Name = Fields[++I].str();
    }
    Result.push_back(std::move(Change));
  }
  return Result;
}

bool Reader::isTooDeep(const Repository &R, unsigned Depth) {
  if (Depth < MaxDepth)
    return false;
  Result.Unknown.push_back("submodule '" + R.Top +
                           "' is in too many others; its files are taken as "
                           "they are now");
  return true;
}

/// All files of \p R, a submodule that is new, and of those in it.
Error Reader::addAllOf(const Repository &R, unsigned Depth) {
  Result.Trees.insert(R.Top);
  for (const std::vector<std::string> &Which :
       {std::vector<std::string>{"--cached"},
        std::vector<std::string>{"--others", "--exclude-standard"}}) {
    Expected<std::vector<std::string>> Names = listed(R, Which);
    if (!Names)
      return Names.takeError();
    for (StringRef Name : *Names) {
      // A slash ends the name of another work tree.
      if (!isBelowTop(Name))
        continue;
      if (std::optional<Repository> Below = checkedOut(R, Name)) {
        if (isTooDeep(*Below, Depth))
          continue;
        if (Error E = addAllOf(*Below, Depth + 1))
          return E;
      } else if (mayBeSource(Name)) {
        Result.New.push_back(pathOf(R, Name));
      }
    }
  }
  return Error::success();
}

/// What is in the index, or is not ignored, and \p Then does not have.
Error Reader::addNew(const Repository &R, StringRef Commit, const Tree &Then,
                     unsigned Depth) {
  // Compares what git stores. Rename detection compares all pairs, hence the
  // limit.
  Expected<std::string> Said = git(
      R, {"diff-index", "--cached", "--raw", "-z", "-M", "-l1000",
          "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-relative",
          "--ignore-submodules=dirty", "--diff-filter=AR", Commit.str(), "--"});
  if (!Said)
    return Said.takeError();
  for (const IndexChange &Change : indexChanges(*Said)) {
    const std::string Path = pathOf(R, Change.Name);
    if (!isBelowTop(Change.Name))
      continue;
    if (Change.IsSubmodule && Change.Kind == 'A') {
      std::optional<Repository> Below = checkedOut(R, Change.Name);
      if (!Below || isTooDeep(*Below, Depth))
        continue;
      if (Error E = addAllOf(*Below, Depth + 1))
        return E;
      continue;
    }
    if (!mayBeSource(Change.Name))
      continue;
    Result.New.push_back(Path);
    if (Change.Kind == 'R' && isBelowTop(Change.Before))
      Result.WasCalled[Path] = pathOf(R, Change.Before);
  }
  Expected<std::vector<std::string>> Names =
      listed(R, {"--others", "--exclude-standard"});
  if (!Names)
    return Names.takeError();
  std::set<StringRef> Had;
  for (const Entry &File : Then.Files)
    Had.insert(File.Name);
  for (const std::string &Name : *Names)
    // A slash ends the name of another work tree.
    if (!StringRef(Name).ends_with("/") && mayBeSource(Name) &&
        !Had.count(Name))
      Result.New.push_back(pathOf(R, Name));
  return Error::success();
}

Error Reader::add(const Repository &R, StringRef Commit, unsigned Depth) {
  Result.Trees.insert(R.Top);
  Expected<Tree> Then = treeOf(R, Commit);
  if (!Then)
    return Then.takeError();
  if (Error E = addTexts(R, *Then))
    return E;
  if (Error E = addNew(R, Commit, *Then, Depth))
    return E;
  for (const Entry &Sub : Then->Submodules) {
    std::optional<Repository> Below = checkedOut(R, Sub.Name);
    if (!Below)
      continue;
    Result.Trees.insert(Below->Top);
    if (isTooDeep(*Below, Depth))
      continue;
    if (!hasRevision(*Below, Sub.Id))
      Result.Unknown.push_back("the clone of submodule '" + Below->Top +
                               "' lacks its revision; its files are taken as "
                               "they are now");
    else if (Error E = add(*Below, Sub.Id, Depth + 1))
      return E;
  }
  return Error::success();
}

/// What is in no work tree is not looked at.
static Error checkWorkTrees(const RevisionFiles &Then,
                            llvm::ArrayRef<std::string> Named,
                            llvm::vfs::FileSystem &FS) {
  for (const std::string &File : Named) {
    llvm::ErrorOr<llvm::vfs::Status> Status = FS.status(File);
    if (!Status)
      continue;
    std::string Path = canonicalPath(File, "", FS);
    // A folder may be the top itself.
    if (Status->isDirectory())
      Path += "/.";
    const StringRef Tree = gitWorkTree(Path, FS);
    if (!Tree.empty() && !Then.Trees.count(Tree.str()))
      return makeError("--diff: '" + File + "' is in the work tree '" + Tree +
                       "', and '" + Then.Name + "' is a revision of '" +
                       Then.Top + "'");
  }
  return Error::success();
}

Error addOtherTrees(RevisionFiles &Then, llvm::ArrayRef<std::string> Files,
                    llvm::vfs::FileSystem &FS) {
  std::set<std::string> Others;
  bool HasOwn = false;
  for (const std::string &File : Files) {
    const std::string Tree = gitWorkTree(File, FS).str();
    if (Then.Trees.count(Tree))
      HasOwn = true;
    else if (!Tree.empty())
      Others.insert(Tree);
  }
  if (!HasOwn && !Others.empty())
    return makeError("--diff: the files to analyse are in the work tree '" +
                     *Others.begin() + "', and '" + Then.Name +
                     "' is a revision of '" + Then.Top + "'");
  for (const std::string &Tree : Others)
    Then.Unknown.push_back("the files of another work tree, '" + Tree +
                           "', are taken as they are now");
  return Error::success();
}

Expected<RevisionFiles> filesOfRevision(StringRef Revision, StringRef Folder,
                                        llvm::ArrayRef<std::string> Named,
                                        llvm::vfs::FileSystem &FS) {
  if (Error E = checkRevision(Revision))
    return Expected<RevisionFiles>(std::move(E));
  Expected<std::string> Top = topOf(Folder);
  if (!Top)
    return Top.takeError();
  RevisionFiles Result;
  Result.Name = Revision.str();
  Result.Top = *Top;
  const Repository R = {*Top, /*IsSubmodule=*/false, /*RunsNothing=*/true};
  Expected<std::string> Commit =
      git(R, {"rev-parse", "--verify", (Revision + "^{commit}").str()});
  if (!Commit) {
    llvm::consumeError(Commit.takeError());
    return makeError("--diff: git knows no revision '" + Revision + "' in '" +
                     *Top + "'");
  }
  Result.Commit = StringRef(*Commit).trim().str();
  if (Error E = Reader(Result, FS).add(R, Result.Commit, 0))
    return Expected<RevisionFiles>(std::move(E));
  if (Error E = checkWorkTrees(Result, Named, FS))
    return Expected<RevisionFiles>(std::move(E));
  for (const std::string &File : Named)
    Result.Asked.push_back(canonicalPath(File, "", FS));
  llvm::sort(Result.New);
  llvm::sort(Result.Gone);
  return Result;
}

} // namespace libtorch_tidy::driver
