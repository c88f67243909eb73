//===- CacheFolder.h - What is worth keeping on disk ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The cache on disk. Many processes use it at once: entries appear whole by
/// being renamed, are never changed, and may vanish at any moment. Nothing that
/// goes wrong in it is an error: an entry that cannot be read is not there.

#ifndef LIBTORCH_TIDY_DRIVER_CACHE_CACHEFOLDER_H
#define LIBTORCH_TIDY_DRIVER_CACHE_CACHEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libtorch_tidy::driver {

/// What the command line says about the cache.
struct CacheOptions {
  bool Use = true;
  /// Empty: libtorch-tidy in $XDG_CACHE_HOME or ~/.cache.
  std::string Folder;
  unsigned Megabytes = 0;
};

/// A name of 32 hexadecimal digits for all of \p Parts.
std::string digest(llvm::ArrayRef<llvm::StringRef> Parts);

/// Names this build of the program and of the libraries it has loaded.
const std::string &programIdentity();

class CacheFolder {
public:
  /// The folder that \p Options name, which is made when it is not there.
  /// Absent when there is to be none, when that fails, or when others can write
  /// to it.
  static std::optional<CacheFolder> open(const CacheOptions &Options);

  std::string pathOf(llvm::StringRef Entry) const;

  /// What write() was given; absent when any byte of it is not as it was.
  std::optional<std::string> read(llvm::StringRef Entry) const;
  /// \p Entry is a name or folder/name. False when it could not be written.
  bool write(llvm::StringRef Entry, llvm::StringRef Content) const;
  void remove(llvm::StringRef Entry) const;
  /// Marks the entry as used just now, so that it is removed late.
  void touch(llvm::StringRef Entry) const;

  /// Removes what was used least recently until the rest takes \p Limit bytes,
  /// at first of precompiled headers. Files that share a stem, the name up to
  /// the first of '-' and '.', go together. (LLVM's pruneCache() knows neither
  /// groups nor folders, and goes by times of access, which many disks do not
  /// keep.)
  void shrink(uint64_t Limit) const;

  struct Contents {
    uint64_t Bytes = 0;
    size_t Pchs = 0;    ///< Precompiled headers.
    size_t Results = 0; ///< Of units.
  };
  Contents contents() const;

private:
  explicit CacheFolder(llvm::StringRef Path) : Path(Path) {}

  struct Group;
  /// Of all there is, by folder and stem. Removes what processes have left that
  /// were ended.
  std::map<std::string, Group> groups() const;

  std::string Path;
};

/// What the file system said of a path at some moment.
struct FileStamp {
  std::string Path; ///< Absolute.
  enum {
    Unchanged, ///< A file of this size and time.
    There,     ///< A file or folder.
    Missing
  } Kind = Unchanged;
  uint64_t Size = 0;
  int64_t Changed = 0; ///< Nanoseconds since the epoch.

  static FileStamp missing(std::string Path) {
    return {std::move(Path), Missing, 0, 0};
  }
};

/// A set of FileSets, for a machine that has another cache.
struct FileSetCopy {
  std::string Name, Stamps;
  /// Digest of what the files hold. The same files have other times on another
  /// machine. Empty: they count as changed.
  std::string Texts;
};

/// Lists of what the file system said, mostly of thousands of library headers.
/// Many units share one, which is therefore stored and compared to the file
/// system once.
class FileSets {
public:
  FileSets(std::optional<CacheFolder> Folder,
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Folder(std::move(Folder)), FS(std::move(FS)) {}

  /// The set of \p Files, without their texts.
  static FileSetCopy pack(std::vector<FileStamp> Files);
  /// Stores \p Set and returns its name; empty on failure.
  static std::string store(const FileSetCopy &Set, const CacheFolder &Folder);

  /// Would the file system say the same? Asked once per process.
  bool unchanged(llvm::StringRef Name);

  /// A set that is not in the folder is known from now on.
  void add(FileSetCopy Set);
  /// Null when there is no such set.
  std::shared_ptr<const FileSetCopy> find(llvm::StringRef Name);
  /// \p Set with the texts that its files have now.
  FileSetCopy withTexts(const FileSetCopy &Set);

private:
  std::string textsOf(llvm::ArrayRef<FileStamp> Files) const;

  std::optional<CacheFolder> Folder;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  std::map<std::string, std::shared_ptr<const FileSetCopy>, std::less<>> Sets;
  std::map<std::string, bool, std::less<>> Known;
};

/// An absolute path, and a name of what was there.
using PathAndText = std::pair<std::string, std::string>;

/// Names the text of a file, by the digest of its \p Content, and where the
/// file really lies: links can change, too.
std::string textIdentity(llvm::StringRef Path, llvm::StringRef Content,
                         llvm::vfs::FileSystem &FS);

/// The digest of the names in \p Folder.
std::string namesIn(llvm::StringRef Folder, llvm::vfs::FileSystem &FS);

/// The stamp of a file as it is now; absent when there is none.
std::optional<FileStamp> stampOf(llvm::StringRef Path,
                                 llvm::vfs::FileSystem &FS);

/// What the result of a unit depends on, besides what was asked.
struct ResultInputs {
  std::vector<PathAndText> Files; ///< With their textIdentity().
  /// Paths where nothing was.
  std::vector<std::string> Missing;
  std::vector<PathAndText> Folders; ///< That were listed, with namesIn().
  /// Names of FileSets.
  std::vector<std::string> Libraries;
};

/// Tells whether a result is what an analysis would give. Each file is read
/// once.
class InputsNow {
public:
  InputsNow(FileSets &Sets, llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Sets(Sets), FS(std::move(FS)) {}

  /// Is all of \p Then as it was?
  bool are(const ResultInputs &Then);

private:
  bool unchanged(llvm::StringRef Path, llvm::StringRef Identity);

  FileSets &Sets;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  /// The files that were read, by path, with their textIdentity().
  std::map<std::string, std::string, std::less<>> Known;
};

/// Results of units, findings and all, with what they depend on.
class ResultCache {
public:
  ResultCache(CacheFolder Folder, FileSets &Sets,
              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Folder(std::move(Folder)), Now(Sets, FS), FS(std::move(FS)) {}

  struct Entry {
    std::string Key; ///< An entry that was renamed belongs to another unit.
    ResultInputs In;
    std::string Result;
  };

  /// The name of the results for a unit: \p Question is all that was asked,
  /// the flags and the configuration, and \p File the source file as it is now,
  /// so that results of other contents (another branch) stay next to it. Empty
  /// when the file cannot be read.
  std::string keyOf(llvm::StringRef Question, llvm::StringRef File) const;

  /// What was stored, if everything is as it was.
  std::optional<Entry> find(llvm::StringRef Key);

  void store(const Entry &E) const;

private:
  CacheFolder Folder;
  InputsNow Now;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_CACHE_CACHEFOLDER_H
