//===- Paths.cpp - One spelling for each file -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/Paths.h"
#include "driver/llvm/Compat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string canonicalPath(StringRef Path, StringRef Folder,
                          llvm::vfs::FileSystem &FS) {
  if (Path.empty())
    return {};
  llvm::SmallString<256> Absolute(Path);
  if (!Folder.empty())
    Absolute = compat::absolutePath(Folder, Path);
  FS.makeAbsolute(Absolute);
  llvm::sys::path::remove_dots(Absolute, /*remove_dot_dot=*/false);
  llvm::SmallString<256> Real;
  // Files that exist in an overlay only have no real path.
  if (!FS.getRealPath(Absolute, Real) && !Real.empty())
    return Real.str().str();
  llvm::sys::path::remove_dots(Absolute, /*remove_dot_dot=*/true);
  return Absolute.str().str();
}

bool isBelow(StringRef Path, StringRef Folder) {
  return Path.consume_front(Folder) && Path.starts_with("/");
}

StringRef gitWorkTree(StringRef File, llvm::vfs::FileSystem &FS) {
  for (StringRef Folder = llvm::sys::path::parent_path(File); !Folder.empty();
       Folder = llvm::sys::path::parent_path(Folder)) {
    llvm::SmallString<128> Git(Folder);
    llvm::sys::path::append(Git, ".git");
    if (FS.exists(Git))
      return Folder;
  }
  return {};
}

std::string findProjectRoot(llvm::ArrayRef<std::string> Files,
                            StringRef WorkingDirectory,
                            llvm::vfs::FileSystem &FS) {
  StringRef Root = Files.empty() ? "" : gitWorkTree(Files.front(), FS);
  if (Root.empty())
    return WorkingDirectory.str();
  for (StringRef File : Files)
    while (!Root.empty() && !isBelow(File, Root))
      Root = llvm::sys::path::parent_path(Root);
  return Root.size() > 1 ? Root.str() : WorkingDirectory.str();
}

StringRef relativePath(StringRef Path, StringRef Root) {
  return isBelow(Path, Root) ? Path.drop_front(Root.size() + 1) : Path;
}

} // namespace libtorch_tidy::driver
