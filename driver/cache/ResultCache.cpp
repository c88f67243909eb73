//===- ResultCache.cpp - What was found, unless something changed ---------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/cache/ResultCache.h"
#include "driver/cache/Archive.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string ResultCache::keyOf(StringRef Question, StringRef File) const {
  auto Text = FS->getBufferForFile(File);
  if (!Text)
    return {};
  return "results/" +
         digest({programIdentity(), Question, (*Text)->getBuffer()});
}

bool ResultCache::unchanged(StringRef Path, StringRef Identity) {
  auto It = Known.find(Path);
  if (It == Known.end()) {
    auto Text = FS->getBufferForFile(Path);
    std::string Now;
    if (Text)
      Now = textIdentity(Path, digest({(*Text)->getBuffer()}), *FS);
    It = Known.emplace(Path.str(), std::move(Now)).first;
  }
  return It->second == Identity;
}

namespace {
struct Stored {
  std::string Key; ///< An entry that was renamed belongs to another unit.
  ResultCache::Inputs In;
  std::string Result;
};
} // namespace

std::optional<std::string> ResultCache::find(StringRef Key) {
  std::optional<std::string> Bytes = Folder.read(Key);
  std::optional<Stored> Entry =
      Bytes ? fromBytes<Stored>(*Bytes) : std::nullopt;
  if (!Entry || Entry->Key != Key ||
      !llvm::all_of(Entry->In.Files,
                    [&](const auto &File) {
                      return unchanged(File.first, File.second);
                    }) ||
      llvm::any_of(Entry->In.Missing,
                   [&](StringRef Path) { return FS->exists(Path); }) ||
      !llvm::all_of(Entry->In.Folders,
                    [&](const auto &Folder) {
                      return namesIn(Folder.first, *FS) == Folder.second;
                    }) ||
      !llvm::all_of(Entry->In.Libraries,
                    [&](StringRef Set) { return Sets.unchanged(Set); }))
    return std::nullopt;
  Folder.touch(Key);
  return std::move(Entry->Result);
}

void ResultCache::store(StringRef Key, Inputs In, StringRef Result) {
  Folder.write(Key, toBytes(Stored{Key.str(), std::move(In), Result.str()}));
}

} // namespace libtorch_tidy::driver
