//===- Headers.cpp - LibTorch's headers -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/Headers.h"
#include "clang/Basic/FileManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"
#include <mutex>

using namespace clang;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::torch {

namespace {

/// What the file system has said of paths, once for the process: everybody gets
/// the answer that it would give. The driver asks, too, before there is a
/// syntax tree to find a UnitContext by.
struct Answers {
  std::mutex Lock;
  llvm::StringMap<bool> HoldsTorch, IsTorchHeader;

  static Answers &known() {
    static Answers Known;
    return Known;
  }
};

} // namespace

/// Can `#include <torch/torch.h>` and the like find LibTorch in \p Folder?
static bool holdsTorch(StringRef Folder, llvm::vfs::FileSystem &FS) {
  auto [It, New] = Answers::known().HoldsTorch.try_emplace(Folder, false);
  // What every LibTorch has, in its sources, too, where they lie in several
  // folders.
  static constexpr llvm::StringLiteral Headers[] = {
      "torch/torch.h",       "torch/script.h",       "torch/extension.h",
      "torch/library.h",     "ATen/ATen.h",          "ATen/core/TensorBody.h",
      "c10/macros/Macros.h", "c10/core/TensorImpl.h"};
  if (New)
    It->second = llvm::any_of(Headers, [&](StringRef Header) {
      llvm::SmallString<256> Path(Folder);
      path::append(Path, Header);
      return FS.exists(Path);
    });
  return It->second;
}

bool isTorchHeader(StringRef Path, llvm::vfs::FileSystem &FS) {
  llvm::SmallString<256> Whole(Path);
  if (FS.makeAbsolute(Whole))
    return false;
  const std::lock_guard<std::mutex> OneAtATime(Answers::known().Lock);
  // Declarations are asked for their files again and again.
  auto [It, New] = Answers::known().IsTorchHeader.try_emplace(Whole, false);
  if (!New)
    return It->second;
  path::remove_dots(Whole, /*remove_dot_dot=*/true);
  StringRef Folder = path::parent_path(Whole);
  for (; !Folder.empty() && Folder != path::root_path(Whole) && !It->second;
       Folder = path::parent_path(Folder))
    if (namesTorchHeader((path::filename(Folder) + "/").str()))
      It->second = holdsTorch(path::parent_path(Folder), FS);
  return It->second;
}

bool namesTorchHeader(StringRef Name) {
  return Name.starts_with("torch/") || Name.starts_with("ATen/") ||
         Name.starts_with("c10/") || Name.starts_with("caffe2/");
}

StringRef standardAskedFor(StringRef Message) {
  const auto [Standard, Rest] = Message.split(' ');
  return Standard.starts_with("C++") &&
                 Rest.contains("or later compatible compiler is required")
             ? Standard
             : StringRef();
}

bool isWholeFrontend(StringRef Name) {
  return Name == "torch/torch.h" || Name == "torch/all.h" ||
         Name == "torch/extension.h";
}

bool isLargeBesideFrontend(llvm::StringRef Name) {
  return Name == "torch/script.h";
}

} // namespace libtorch_tidy::torch
