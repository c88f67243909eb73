//===- IncludeScannerFuzzer.cpp - Any source for the include scanner ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/IncludeScanner.h"
#include <cstdint>

using namespace libtorch_tidy::driver;

/// A source file and, after zero bytes, the headers a.h, b.h, ... that it may
/// include.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  llvm::StringRef Rest(reinterpret_cast<const char *>(Data), Size);
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> FS(
      new llvm::vfs::InMemoryFileSystem);
  auto Add = [&](const llvm::Twine &Path, llvm::StringRef Text) {
    FS->addFile(Path, 0, llvm::MemoryBuffer::getMemBufferCopy(Text));
  };
  Add("/lib/include/torch/torch.h", "namespace at { class Tensor {}; }\n");
  Add("/lib/include/torch/script.h", "#include <torch/torch.h>\n");
  FS->setCurrentWorkingDirectory("/src");
  llvm::StringRef Text;
  std::tie(Text, Rest) = Rest.split('\0');
  Add("/src/main.cpp", Text);
  for (char Name = 'a'; !Rest.empty() && Name <= 'z'; ++Name) {
    std::tie(Text, Rest) = Rest.split('\0');
    Add("/src/" + llvm::Twine(Name) + ".h", Text);
  }
  std::unique_ptr<IncludeScanner> Scanner = IncludeScanner::create(
      {"clang++", "-std=c++17", "-nostdinc", "-I/src", "-isystem",
       "/lib/include", "/src/main.cpp", "-fsyntax-only"},
      FS);
  if (!Scanner)
    return 0;
  (void)Scanner->mayIncludeTorch("/src/main.cpp");
  for (const LibraryPrefix &Prefix : Scanner->libraryPrefixes("/src/main.cpp"))
    (void)Scanner->meaning(Prefix.Folders);
  return 0;
}
