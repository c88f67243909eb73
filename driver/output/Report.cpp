//===- Report.cpp - What all writers know of a run ------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

StringRef relativePath(StringRef Path, StringRef Root) {
  StringRef Rest = Path;
  if (Rest.consume_front(Root) && Rest.consume_front("/"))
    return Rest;
  return Path;
}

std::string percentEncode(StringRef Path) {
  std::string Result;
  for (unsigned char C : Path) {
    if (llvm::isAlnum(C) || StringRef("/-._~").contains(C))
      Result += C;
    else
      Result += {'%', llvm::hexdigit(C >> 4), llvm::hexdigit(C & 15)};
  }
  return Result;
}

static StringRef gitWorkTree(StringRef File, llvm::vfs::FileSystem &FS) {
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
    while (!Root.empty() && !(File.starts_with(Root) &&
                              File.drop_front(Root.size()).starts_with("/")))
      Root = llvm::sys::path::parent_path(Root);
  return Root.size() > 1 ? Root.str() : WorkingDirectory.str();
}

std::string asSentence(StringRef Text) {
  Text = Text.rtrim();
  return Text.str() +
         (Text.ends_with(".") || Text.ends_with("!") || Text.ends_with("?")
              ? ""
              : ".");
}

const char *severityWord(Level L) {
  switch (L) {
  case Level::Certain:
    return "error";
  case Level::Likely:
    return "warning";
  case Level::Advisory:
    return "note";
  }
  llvm_unreachable("all levels are covered");
}

} // namespace libtorch_tidy::driver
