//===- ProjectHeaders.cpp - Which headers are the user's own --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/ProjectHeaders.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

/// CMake's FetchContent and ExternalProject, Conan, Bazel, npm, git submodules
/// by custom; what vcpkg and pip install.
static constexpr llvm::StringLiteral ForeignFolders =
    "(third[-_]?party|3rd[-_]?party|external|externals|extern|vendor|vendored|"
    "deps|_deps|submodules|node_modules|libtorch|vcpkg_installed|site-packages|"
    "dist-packages)";

/// Does \p Path, a CMakeLists.txt or meson.build, begin a project, rather than
/// a part of one?
static bool callsProject(StringRef Path, llvm::vfs::FileSystem &FS) {
  constexpr uint64_t Enough = 1 << 20;
  auto Status = FS.status(Path);
  if (!Status || !Status->isRegularFile() || Status->getSize() > Enough)
    return false;
  auto Text = FS.getBufferForFile(Path);
  static const llvm::Regex Call("^[ \t]*project[ \t]*\\(",
                                llvm::Regex::Newline | llvm::Regex::IgnoreCase);
  return Text && Call.match((*Text)->getBuffer());
}

/// Is \p Folder what a build system calls a project?
static bool isProjectOfBuild(StringRef Folder, llvm::vfs::FileSystem &FS) {
  auto In = [&](StringRef Name) {
    llvm::SmallString<256> Path(Folder);
    path::append(Path, Name);
    return Path;
  };
  return llvm::any_of(
             std::initializer_list<StringRef>{"CMakeLists.txt", "meson.build"},
             [&](StringRef Name) { return callsProject(In(Name), FS); }) ||
         llvm::any_of(std::initializer_list<StringRef>{"MODULE.bazel",
                                                       "WORKSPACE.bazel",
                                                       "WORKSPACE", "setup.py",
                                                       "pyproject.toml"},
                      [&](StringRef Name) { return FS.exists(In(Name)); });
}

/// Where no git says what the project is: the outermost folder around \p File
/// that a build system calls one, else the nearest with a compile database.
/// Empty when there is neither.
static StringRef projectOfBuild(StringRef File, llvm::vfs::FileSystem &FS) {
  StringRef Outermost, Nearest;
  llvm::SmallString<128> Home;
  if (path::home_directory(Home))
    path::remove_dots(Home, /*remove_dot_dot=*/true);
  for (StringRef Folder = path::parent_path(File);
       !Folder.empty() && Folder != path::root_path(File) && Folder != Home;
       Folder = path::parent_path(Folder)) {
    if (isProjectOfBuild(Folder, FS))
      Outermost = Folder;
    llvm::SmallString<256> Database(Folder);
    path::append(Database, "compile_commands.json");
    if (Nearest.empty() && FS.exists(Database))
      Nearest = Folder;
  }
  return Outermost.empty() ? Nearest : Outermost;
}

static std::string rootOf(StringRef File, StringRef WorkingFolder,
                          llvm::vfs::FileSystem &FS) {
  if (StringRef Top = gitWorkTree(File, FS); !Top.empty())
    return Top.str();
  const StringRef Project = projectOfBuild(File, FS);
  const std::string Inside = (WorkingFolder + "/").str();
  if (!WorkingFolder.empty() && File.starts_with(Inside) &&
      (Project.empty() || Project.starts_with(Inside)))
    return WorkingFolder.str();
  return (Project.empty() ? path::parent_path(File) : Project).str();
}

HeaderFilters projectHeaders(StringRef File, StringRef WorkingFolder,
                             llvm::vfs::FileSystem &FS) {
  // The engine asks by the name that the compile command has.
  llvm::SmallString<256> Absolute(File);
  (void)FS.makeAbsolute(Absolute);
  const std::string Root = rootOf(Absolute, WorkingFolder, FS);
  std::string Below = llvm::Regex::escape(Root) + "/";
  // The engine may know the folder by its real path, too.
  llvm::SmallString<256> Real;
  if (!FS.getRealPath(Root, Real) && Real != Root)
    Below += "|" + llvm::Regex::escape(Real) + "/";
  return {"^(" + Below + "|[^/])",
          "^(" + Below + ")?([^/]+/)*" + ForeignFolders.str() + "/"};
}

} // namespace libtorch_tidy::driver
