//===- Git.h - What git knows of the sources --------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_GIT_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_GIT_H

#include "driver/project/ChangedLines.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// A work tree, and how git is run in it.
struct Repository {
  std::string Top; ///< Canonical.
  bool IsSubmodule = false;
  /// Whatever its configuration says, git starts no other program and fetches
  /// nothing. That holds for commands that read no file of the work tree: those
  /// that do may run it through a filter. It is ended after two minutes.
  bool RunsNothing = false;
};

/// What `git ARGUMENTS` prints, run in \p Folder. The error is git's own.
llvm::Expected<std::string> git(llvm::StringRef Folder,
                                llvm::ArrayRef<std::string> Arguments);
/// The same, with \p Input on its standard input.
llvm::Expected<std::string> git(const Repository &Where,
                                llvm::ArrayRef<std::string> Arguments,
                                llvm::StringRef Input = "");

/// The top of the work tree around \p Folder, canonical.
llvm::Expected<std::string> topOf(llvm::StringRef Folder);

/// The files that `git ls-files ARGUMENTS` names, relative to the top.
llvm::Expected<std::vector<std::string>>
listed(const Repository &R, llvm::ArrayRef<std::string> Arguments);

/// Whether the commit \p Revision is in the clone.
bool hasRevision(const Repository &R, llvm::StringRef Revision);

/// An error unless \p Revision, of --diff, is one revision and no option of
/// git.
llvm::Error checkRevision(llvm::StringRef Revision);

/// The lines of the work tree around \p Folder that differ from revision
/// \p Revision; files that git does not track are changed as a whole: all that
/// it does not ignore, and those of \p Named, which are canonical paths.
llvm::Expected<ChangedLines>
linesChangedSince(llvm::StringRef Revision, llvm::StringRef Folder,
                  llvm::ArrayRef<std::string> Named = {});

/// The lines that are staged for the next commit, where they are in the work
/// tree now.
llvm::Expected<ChangedLines> stagedLines(llvm::StringRef Folder);

/// The lines that a hook of pre-commit is about: those of the revisions that
/// are pushed (PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF), else the staged
/// ones.
llvm::Expected<ChangedLines> linesOfHook(llvm::StringRef Folder);

/// The address of remote `origin` of the work tree whose top is \p Top, and its
/// revision if no tracked file differs from it. Addresses on this machine are
/// none, and of others user and password are left out. \p Top may be no work
/// tree at all: both are empty then.
std::pair<std::string, std::string> originOf(llvm::StringRef Top);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_GIT_H
