//===- RevisionFiles.h - The files of another revision ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a revision of git has in place of the files of a work tree. Git is only
/// asked for what it stores: comparing files is left to us, as git would run
/// the filters that the repository names.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_REVISIONFILES_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_REVISIONFILES_H

#include "fixits/Verifier.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// A revision next to the files as they are now. Paths are absolute, below
/// the canonical one of the work tree.
struct RevisionFiles {
  std::string Name;   ///< As the user gave it.
  std::string Commit; ///< Its full name.
  std::string Top;    ///< Of the work tree.
  /// Of the files that differ, or are gone: the texts that they had.
  fixits::FileTexts Texts;
  std::vector<std::string> Gone; ///< Those that are no longer there.
  /// Files that the revision does not have, ordered. What git ignores is not
  /// one of them: it belongs to no revision.
  std::vector<std::string> New;
  /// Of those: the files of the revision that they were, if git takes them for
  /// renamed.
  std::map<std::string, std::string> WasCalled;
  /// The files and folders that were named, canonical; none: models of the
  /// whole compile database are asked for.
  std::vector<std::string> Asked;
  /// The tops of the work tree and its submodules.
  std::set<std::string> Trees;
  /// What is not known of the revision, in sentences.
  std::vector<std::string> Unknown;

  bool isNew(llvm::StringRef Canonical) const {
    return std::binary_search(New.begin(), New.end(), Canonical);
  }
};

/// The files of revision \p Revision of the work tree around \p Folder. \p FS
/// has the files as they are now. It is an error when a file or folder of
/// \p Named is in another work tree, which \p Revision is not about.
llvm::Expected<RevisionFiles> filesOfRevision(llvm::StringRef Revision,
                                              llvm::StringRef Folder,
                                              llvm::ArrayRef<std::string> Named,
                                              llvm::vfs::FileSystem &FS);

/// It is an error when none of \p Files, canonical paths of source files, is in
/// a work tree of \p Then, and some are in another one. Of those it is not
/// known what they were.
llvm::Error addOtherTrees(RevisionFiles &Then,
                          llvm::ArrayRef<std::string> Files,
                          llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_REVISIONFILES_H
