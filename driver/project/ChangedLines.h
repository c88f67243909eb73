//===- ChangedLines.h - Lines that a change touched -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The lines that git says are changed, and which findings have to do with
/// them.

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_CHANGEDLINES_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_CHANGEDLINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace libtorch_tidy::driver {

/// One hunk of `diff -U0`: lines of the old text, and what stands for them in
/// the new one. A count of 0 means after the line of that number.
struct Hunk {
  unsigned OldLine = 0, OldCount = 0, NewLine = 0, NewCount = 0;
};

/// What `git diff --raw --patch` says. Names are those after the change.
struct Diff {
  /// The hunks of each file. Deleted files have none.
  llvm::StringMap<std::vector<Hunk>> Files;
  /// The files that git shows no lines of, because it takes them for binary.
  std::vector<std::string> Binary;
  /// A submodule that has another revision, or changes of its own.
  struct Submodule {
    std::string Name;
    std::string Old, New; ///< Revisions. Old is empty for a new submodule.
  };
  std::vector<Submodule> Submodules;
};

/// What is not a diff has no hunks.
Diff parseDiff(llvm::StringRef Text);

class ChangedLines {
public:
  /// Adds the new lines of \p Hunks in the file \p Path (canonical), and the
  /// lines on both sides of where lines were deleted.
  void add(llvm::StringRef Path, llvm::ArrayRef<Hunk> Hunks);
  void addWholeFile(llvm::StringRef Path);
  /// What is below \p Top (canonical) is another repository's.
  void addSubmodule(llvm::StringRef Top) { Submodules.push_back(Top.str()); }

  /// Does the change speak of the file, even if only to rename it?
  bool contains(llvm::StringRef Path) const { return Files.contains(Path); }

  /// Carries the lines of a file over a later change of it: what was changed
  /// twice stays changed.
  void moveOver(llvm::StringRef Path, llvm::ArrayRef<Hunk> Later);

  /// The files, ordered.
  std::vector<std::string> files() const;

  bool isInSubmodule(llvm::StringRef Path) const;

  /// Is any of the lines \p First to \p Last of the file changed?
  bool touch(llvm::StringRef Path, unsigned First, unsigned Last) const;

private:
  struct Range {
    unsigned First, Last;
  };
  static Range changedBy(const Hunk &H);

  llvm::StringMap<std::vector<Range>> Files;
  std::vector<std::string> Submodules;
};

// Of git, a call of which may take \p Seconds (0: any). Git.cpp:

/// The lines of the work tree around \p Folder that differ from revision
/// \p Revision; files that git does not track are changed as a whole: all that
/// it does not ignore, and those of \p Named, which are canonical paths.
llvm::Expected<ChangedLines>
linesChangedSince(llvm::StringRef Revision, llvm::StringRef Folder,
                  unsigned Seconds, llvm::ArrayRef<std::string> Named = {});

/// The lines that are staged for the next commit, where they are in the work
/// tree now.
llvm::Expected<ChangedLines> stagedLines(llvm::StringRef Folder,
                                         unsigned Seconds);

/// The lines that a hook of pre-commit is about: those of the revisions that
/// are pushed (PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF), else the staged
/// ones.
llvm::Expected<ChangedLines> linesOfHook(llvm::StringRef Folder,
                                         unsigned Seconds);

/// A file that git tracks in \p Folder or below: one that the checkout brought
/// along. Empty for none, and where no work tree is around the folder.
llvm::Expected<std::string> trackedBelow(llvm::StringRef Folder,
                                         unsigned Seconds);

/// The address of remote `origin` of the work tree whose top is \p Top, and its
/// revision if no tracked file differs from it. Addresses on this machine are
/// none, and of others user and password are left out. \p Top may be no work
/// tree at all: both are empty then.
std::pair<std::string, std::string> originOf(llvm::StringRef Top,
                                             unsigned Seconds);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_CHANGEDLINES_H
