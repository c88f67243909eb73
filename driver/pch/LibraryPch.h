//===- LibraryPch.h - Precompiled library headers ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Nearly all that a unit takes to parse is LibTorch. Its headers are
/// precompiled once, without the bodies of their functions, and units start
/// from there: 0.1 s instead of 3.5 s.

#ifndef LIBTORCH_TIDY_DRIVER_PCH_LIBRARYPCH_H
#define LIBTORCH_TIDY_DRIVER_PCH_LIBRARYPCH_H

#include "driver/cache/CacheFolder.h"
#include "driver/pch/BackgroundMaker.h"
#include "driver/project/IncludeScanner.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/CompilationDatabase.h"
#include <deque>
#include <map>
#include <set>

namespace libtorch_tidy::driver {

/// Precompiles the header \p Header into \p Output, without the bodies of
/// library functions. A unit that is analysed with `-include-pch Output`
/// parses in a fraction of the time; its flags must be the same. Compilers
/// take it for a syntax check, not to make code of. The file appears whole or
/// not at all; false on compile errors, which have been printed.
bool emitLibraryPch(const clang::tooling::CompileCommand &Command,
                    llvm::StringRef Header, llvm::StringRef Output,
                    const clang::tooling::ArgumentsAdjuster &AddExtra,
                    const clang::tooling::ArgumentsAdjuster &MakeOurs,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS);

/// What the cache keeps beside a precompiled header.
struct PchFacts {
  bool Usable = false; ///< It has nothing but library headers in it.
  std::string Files;   ///< The FileSets name of the headers in it.
  /// The list of #includes that it was made of. Clang wants to see it again.
  std::string HeaderText;
  std::string Names, Output; ///< The cache entries of its PchNames, and of it.
  uint64_t Size = 0;
  int64_t Changed = 0; ///< See FileStamp.
  uint64_t Sum = 0;    ///< The hash of its content.
};

/// The names in a precompiled header.
struct PchNames {
  /// Ordered hashes of all identifiers, again of those that were macros, and of
  /// Beginnings.
  std::vector<uint64_t> Hashes;
  std::set<std::string> Beginnings; ///< Of all included names.
};

/// A precompiled header that is at hand, whole and up to date. It was read into
/// memory once, and is no longer affected by what happens to the cache.
struct LibraryPch {
  std::string Path;
  std::string HeaderPath; ///< Of PchFacts::HeaderText.
  PchFacts Facts;
  std::unique_ptr<llvm::MemoryBuffer> Content;

  /// Makes it visible at Path.
  void mount(llvm::vfs::OverlayFileSystem &FS) const;
};

/// All that one is made from.
struct PchRecipe {
  std::string Key;
  LibraryPrefix Prefix;
  /// A unit that starts from it: what compiles \c MainFile in \c Directory.
  clang::tooling::CommandLineArguments Arguments;
  std::string MainFile, Directory;
  /// Of processor time, that making it should take; 0: not known.
  double Seconds = 0;
};

/// The precompiled headers in the cache.
class LibraryPchs {
public:
  LibraryPchs(CacheFolder Folder, FileSets &Sets)
      : Folder(std::move(Folder)), Sets(Sets) {}

  /// The name of the precompiled header for units with these flags and prefix.
  static std::string keyOf(const IncludeScanner &Flags,
                           const LibraryPrefix &Prefix);

  enum class State {
    Ready,    ///< It can be used.
    Missing,  ///< There is none, or what there is cannot be used.
    Unusable, ///< One was made, and holds more than library headers.
  };
  /// Looks in the cache when first asked, and after forget().
  State find(llvm::StringRef Key);
  /// The one that \p Recipe makes, if it is there and suits the unit; or null.
  const LibraryPch *fitting(const PchRecipe &Recipe);
  /// Does nothing in it depend on the user's macros?
  bool isUnaffectedByMacros(llvm::StringRef Key, const LibraryPrefix &Prefix);
  /// And on the user's folders of headers?
  bool isUnaffectedByFolders(llvm::StringRef Key, const LibraryPrefix &Prefix);
  /// The FileSets name of what the user's folders do not hold: what the
  /// headers in it would have found there first. Empty on failure.
  std::string notInFolders(llvm::StringRef Key, const LibraryPrefix &Prefix);
  void forget(llvm::StringRef Key) { Known.erase(Key.str()); }
  /// Takes it out of the cache, as a unit could not use it.
  void discard(llvm::StringRef Key);
  /// Removes the files of precompiled headers that no facts name any more.
  void removeOrphans() const;

  /// True from the second call on, over all runs.
  bool wantedBefore(llvm::StringRef Key);

  /// Is there none, and nobody has tried to make it lately? Headers that do not
  /// compile by themselves fail again.
  bool isToBeMade(llvm::StringRef Key);
  /// Who makes them after a run. What it tries is noted until build() succeeds.
  BackgroundMaker maker() const { return BackgroundMaker(Folder); }

  /// Notes, for later runs, that \p File did not compile with it, but without.
  void noteUnfit(llvm::StringRef Key, llvm::StringRef File) const {
    Folder.write(unfitMark(Key, File), "");
  }
  bool isUnfit(llvm::StringRef Key, llvm::StringRef File) const {
    return Folder.read(unfitMark(Key, File)).has_value();
  }

  /// Makes one and puts it into the cache, where it appears whole. False when
  /// the headers do not compile.
  bool build(const PchRecipe &Recipe,
             llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS) const;
  /// The same, unless it is made in the background soon enough.
  void buildOrAwait(const PchRecipe &Recipe,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS) {
    forget(Recipe.Key); // It may have been made meanwhile.
    if (find(Recipe.Key) == State::Missing && maker().leavesToUs(Recipe.Key))
      build(Recipe, std::move(FS));
  }

private:
  struct Entry {
    State S = State::Missing;
    std::unique_ptr<LibraryPch> Pch;
    std::optional<PchNames> Names; ///< Read when first asked for.
  };
  Entry load(llvm::StringRef Key);
  /// All names in it; empty when they cannot be read.
  const PchNames &namesOf(llvm::StringRef Key);
  static std::string entryOf(llvm::StringRef Key) { return "pch/" + Key.str(); }
  static std::string unfitMark(llvm::StringRef Key, llvm::StringRef File) {
    return entryOf(Key) + "-" + digest({File}).substr(0, 8) + ".unfit";
  }

  CacheFolder Folder;
  FileSets &Sets;
  std::map<std::string, Entry> Known;
  /// What the user's folders hold.
  std::map<std::string, std::vector<uint64_t>> Listings;
};

// Plan.cpp: which of them are worth making.

/// The precompiled headers that a unit could start from. The first one counts;
/// empty: it goes without.
using PchChoices = std::deque<PchRecipe>;

/// The choices of the unit that \p Arguments compile.
PchChoices choicesFor(llvm::StringRef File, IncludeScanner &Scanner,
                      LibraryPchs &Pchs,
                      const clang::tooling::CommandLineArguments &Arguments,
                      llvm::StringRef MainFile, llvm::StringRef Directory);

/// What is known of a run when it is planned.
struct PchPolicy {
  unsigned AtATime = 1;        ///< Units that are analysed at once.
  bool WillRepeat = false;     ///< The same units come again.
  bool MayPostpone = false;    ///< A process can go on after the run.
  unsigned CacheMegabytes = 0; ///< What the cache may hold.
};

struct PchPlan {
  std::vector<PchRecipe> Now;   ///< Units wait for these.
  std::vector<PchRecipe> Later; ///< To be made after the run.
};

/// Plans what \p Units need that is not there. They may lose their first choice
/// to the next one.
PchPlan planPchs(llvm::ArrayRef<PchChoices *> Units, LibraryPchs &Pchs,
                 const PchPolicy &Policy);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PCH_LIBRARYPCH_H
