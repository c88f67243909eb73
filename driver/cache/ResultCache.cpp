//===- ResultCache.cpp - What was found, unless something changed ---------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/cache/ResultCache.h"
#include "driver/cache/Archive.h"

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

std::optional<std::string> ResultCache::find(StringRef Key) {
  std::optional<std::string> Entry = Folder.read(Key);
  if (!Entry)
    return std::nullopt;
  ArchiveReader Reader(*Entry);
  // One that was copied from another name is another unit's.
  bool Same = Reader.text() == Key;
  Reader.list([&] {
    StringRef Path = Reader.text(), Identity = Reader.text();
    Same = Same && unchanged(Path, Identity);
  });
  Reader.list([&] {
    StringRef Path = Reader.text();
    Same = Same && !FS->exists(Path);
  });
  Reader.list([&] {
    StringRef Path = Reader.text(), Names = Reader.text();
    Same = Same && namesIn(Path, *FS) == Names;
  });
  Reader.list([&] {
    StringRef Set = Reader.text();
    Same = Same && Sets.unchanged(Set);
  });
  StringRef Result = Reader.text();
  if (!Same || !Reader.finished())
    return std::nullopt;
  Folder.touch(Key);
  return Result.str();
}

void ResultCache::store(StringRef Key, const Inputs &In, StringRef Result) {
  ArchiveWriter Writer;
  Writer.text(Key);
  auto Pair = [&](const std::pair<std::string, std::string> &Both) {
    Writer.text(Both.first);
    Writer.text(Both.second);
  };
  Writer.list(In.Files, Pair);
  Writer.list(In.Missing, [&](StringRef Path) { Writer.text(Path); });
  Writer.list(In.Folders, Pair);
  Writer.list(In.Libraries, [&](StringRef Set) { Writer.text(Set); });
  Writer.text(Result);
  Folder.write(Key, Writer.take());
}

} // namespace libtorch_tidy::driver
