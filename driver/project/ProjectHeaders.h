//===- ProjectHeaders.h - Which headers are the user's own ------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The header filter of those who set none: a defect in a header of the project
/// is reported, one in a library's header is not.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_PROJECTHEADERS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_PROJECTHEADERS_H

#include "llvm/Support/VirtualFileSystem.h"
#include <string>

namespace libtorch_tidy::driver {

/// Regular expressions as clang-tidy's engine matches them with the names of
/// headers, which are relative where a flag of the compile command is.
struct HeaderFilters {
  std::string Take, LeaveOut;
};

/// For the unit of \p File. The project is the git work tree around it. Without
/// one it is the outermost folder around \p File that begins a project of a
/// build system (CMake, Meson, Bazel, setuptools), else the nearest one with a
/// compile_commands.json, and \p WorkingFolder where that holds more; when
/// there is nothing of this, the folder of \p File. So it does not depend on
/// where the program runs, unless that is above the project. Left out are
/// folders by whose names people keep the sources of others: third_party,
/// vendor, _deps and similar.
HeaderFilters projectHeaders(llvm::StringRef File,
                             llvm::StringRef WorkingFolder,
                             llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_PROJECTHEADERS_H
