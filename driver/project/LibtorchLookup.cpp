//===- LibtorchLookup.cpp - Where LibTorch's headers are ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/LibtorchLookup.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

static constexpr llvm::StringLiteral ApiFolder = "torch/csrc/api/include";

/// The flags for LibTorch in \p Prefix, when it is there.
static std::optional<std::vector<std::string>>
flagsFor(llvm::vfs::FileSystem &FS, StringRef Prefix) {
  llvm::SmallString<128> Include(Prefix);
  path::append(Include, "include");
  llvm::SmallString<128> Api(Include);
  path::append(Api, ApiFolder);
  llvm::SmallString<128> All(Api);
  path::append(All, "torch", "all.h");
  auto Header = FS.getBufferForFile(All);
  if (!Header)
    return std::nullopt;
  // all.h refuses to compile in a standard older than the one it names.
  std::vector<std::string> Flags = {
      (*Header)->getBuffer().contains("202002L") ? "-std=c++20" : "-std=c++17"};
  // /usr/include is searched anyway, and must stay after the compiler's own.
  if (Include != "/usr/include")
    Flags.insert(Flags.end(), {"-isystem", Include.str().str()});
  Flags.insert(Flags.end(), {"-isystem", Api.str().str()});
  return Flags;
}

/// LibTorch as a Python package of an environment:
/// lib/python3.x/site-packages/torch.
static void addPythonPackages(llvm::vfs::FileSystem &FS, StringRef Environment,
                              std::vector<std::string> &Prefixes) {
  llvm::SmallString<128> Lib(Environment);
  path::append(Lib, "lib");
  std::error_code EC;
  std::vector<std::string> Found;
  for (llvm::vfs::directory_iterator It = FS.dir_begin(Lib, EC), End;
       !EC && It != End; It.increment(EC))
    if (path::filename(It->path()).starts_with("python")) {
      llvm::SmallString<128> Package(It->path());
      path::append(Package, "site-packages", "torch");
      Found.push_back(Package.str().str());
    }
  llvm::sort(Found);
  Prefixes.insert(Prefixes.end(), Found.begin(), Found.end());
}

std::optional<std::vector<std::string>>
findLibtorchFlags(llvm::vfs::FileSystem &FS) {
  auto Env = [](StringRef Name) {
    return llvm::sys::Process::GetEnv(Name).value_or("");
  };
  std::vector<std::string> Prefixes;
  // Torch_DIR is <prefix>/share/cmake/Torch, or under lib/<triplet>.
  if (std::string Dir = Env("Torch_DIR"); !Dir.empty()) {
    StringRef Up = Dir;
    for (unsigned I = 0; I < 5 && !Up.empty(); ++I, Up = path::parent_path(Up))
      Prefixes.push_back(Up.str());
  }
  for (StringRef Name : {"TORCH_ROOT", "Torch_ROOT"})
    if (std::string Root = Env(Name); !Root.empty())
      Prefixes.push_back(Root);
  const std::string PrefixPath = Env("CMAKE_PREFIX_PATH");
  llvm::SmallVector<StringRef, 4> Parts;
  llvm::SplitString(PrefixPath, Parts, ":;");
  for (StringRef Part : Parts)
    Prefixes.push_back(Part.str());
  for (StringRef Name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (std::string Root = Env(Name); !Root.empty()) {
      Prefixes.push_back(Root);
      addPythonPackages(FS, Root, Prefixes);
    }
  Prefixes.insert(Prefixes.end(), {"/usr/local", "/usr"});

  for (StringRef Prefix : Prefixes)
    if (auto Flags = flagsFor(FS, Prefix))
      return Flags;
  return std::nullopt;
}

} // namespace libtorch_tidy::driver
