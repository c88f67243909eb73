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

#ifndef LIBTORCH_TIDY_DRIVER_OPTIONS_PROJECTHEADERS_H
#define LIBTORCH_TIDY_DRIVER_OPTIONS_PROJECTHEADERS_H

#include "llvm/Support/VirtualFileSystem.h"
#include <string>

namespace libtorch_tidy::driver {

/// Regular expressions as clang-tidy's engine matches them with the names of
/// headers, which are relative where a flag of the compile command is.
struct HeaderFilters {
  std::string Take, LeaveOut;
};

/// For the unit of \p File. The project is the git work tree
/// around it; without one, the working directory if that holds \p File; else
/// the folder of \p File. Left out are folders by whose names people keep the
/// sources of others: third_party, vendor, _deps and similar.
HeaderFilters projectHeaders(llvm::StringRef File, llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OPTIONS_PROJECTHEADERS_H
