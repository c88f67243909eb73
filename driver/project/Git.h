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
#include <utility>

namespace libtorch_tidy::driver {

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
