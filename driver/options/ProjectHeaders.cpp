//===- ProjectHeaders.cpp - Which headers are the user's own --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/options/ProjectHeaders.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

/// CMake's FetchContent and ExternalProject, Conan, Bazel, npm, git submodules
/// by custom.
static constexpr llvm::StringLiteral ForeignFolders =
    "(third[-_]?party|3rd[-_]?party|external|externals|extern|vendor|vendored|"
    "deps|_deps|submodules|node_modules|libtorch)";

static std::string rootOf(StringRef File, llvm::vfs::FileSystem &FS) {
  if (StringRef Top = gitWorkTree(File, FS); !Top.empty())
    return Top.str();
  if (auto Here = FS.getCurrentWorkingDirectory();
      Here && File.starts_with(*Here + "/"))
    return *Here;
  return path::parent_path(File).str();
}

HeaderFilters projectHeaders(StringRef File, llvm::vfs::FileSystem &FS) {
  // The engine asks by the name that the compile command has.
  llvm::SmallString<256> Absolute(File);
  (void)FS.makeAbsolute(Absolute);
  const std::string Root = rootOf(Absolute, FS);
  std::string Below = llvm::Regex::escape(Root) + "/";
  // The engine may know the folder by its real path, too.
  llvm::SmallString<256> Real;
  if (!FS.getRealPath(Root, Real) && Real != Root)
    Below += "|" + llvm::Regex::escape(Real) + "/";
  return {"^(" + Below + "|[^/])",
          "^(" + Below + ")?([^/]+/)*" + ForeignFolders.str() + "/"};
}

} // namespace libtorch_tidy::driver
