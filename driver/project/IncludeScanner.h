//===- IncludeScanner.h - What #include lines say ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Answers in a millisecond, without preprocessing, whether a unit can include
/// LibTorch, and which library headers can be precompiled for it.

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESCANNER_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESCANNER_H

#include "driver/llvm/Compat.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/DependencyDirectivesScanner.h"
#include "clang/Lex/HeaderSearch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <optional>

namespace libtorch_tidy::driver {

/// The headers of the C++23 standard library, with those of C and of POSIX.
/// They may be included in any order, with the same result ([using.headers]),
/// and include no other library.
bool isStandardHeader(llvm::StringRef Name);
/// Those of them that came with C++20 or later: an older library lacks some.
bool isRecentHeader(llvm::StringRef Name);

/// One #include, as spelled.
struct Inclusion {
  llvm::StringRef Name;
  bool Angled = false;
};

/// The directives of a file, with those of all branches.
class Directives {
public:
  struct Line {
    clang::dependency_directives_scan::DirectiveKind Kind;
    llvm::StringRef Word; ///< After `#define` and the like, or empty.
    /// What an #include names; absent for a macro.
    std::optional<Inclusion> Included;
    /// An #ifndef in front of all other directives but `#pragma once`, with the
    /// #define of the same name.
    bool BeginsGuard = false;
    size_t Begin, End; ///< In the text.
  };
  std::vector<Line> Lines;

  /// Absent where the directives of \p Text cannot be read as they are: in
  /// UTF-16, with a NUL, or where `#` is spelled `%:` or `?\?=`.
  static std::optional<Directives> read(llvm::StringRef Text);

  /// Is there more than comments, and pragmas about warnings, between line
  /// \p At and the one before?
  bool isAfterCode(size_t At, const clang::LangOptions &Language) const;

private:
  llvm::StringRef Text;
};

/// Library headers that a unit can be given precompiled. It sees the same
/// macros and declarations.
struct LibraryPrefix {
  /// As spelled in the #include.
  std::vector<std::string> Headers;
  struct Macro {
    std::string Name;
    bool IsUndefined = false; ///< By #undef.
  };
  /// The user's macros, include guards mostly, that are defined or undefined in
  /// front of the last of the headers. The unit may be given the headers first
  /// only if the names of the former occur nowhere in them, and those of the
  /// latter are no macros there, which those of the flags are.
  std::vector<Macro> Macros;
  /// Folders of -I, as the flags spell them, that have nothing of LibTorch, and
  /// the same as absolute paths. The headers are precompiled without, so that
  /// all targets of a project share them. A unit may be given those only if
  /// nothing in the folders goes by a name that the headers include.
  std::vector<std::string> Folders, FolderPaths;
  /// The unit has code of its own in front of one of the headers. That code
  /// sees their declarations sooner than it would; should it not compile like
  /// that, the unit has to go without.
  bool BehindCode = false;
};

/// Finds and reads files as units with the same flags do.
class IncludeScanner {
public:
  /// \p Arguments are a command line of the compiler with one source file.
  /// \p FS has the folder of the command as its working directory. Null when
  /// the flags make no sense to the compiler.
  static std::unique_ptr<IncludeScanner>
  create(llvm::ArrayRef<std::string> Arguments,
         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// False only if \p File includes no header of LibTorch, whatever macros are
  /// defined. Includes of all branches count, in all headers but those of the
  /// standard library; one that names a macro, or a missing file, may be any.
  bool mayIncludeTorch(llvm::StringRef File);

  /// The headers that bring in LibTorch, the best choice first and those that
  /// more units share after it; empty when this unit goes without. Read as the
  /// preprocessor does: to the first line of \p File that is not an #include,
  /// the frame of an include guard, a macro definition or a pragma that only
  /// compilers' warnings heed. LibTorch's large headers count after that line,
  /// too, where they are included whatever macros are defined.
  std::vector<LibraryPrefix> libraryPrefixes(llvm::StringRef File);

  /// All that the flags mean for a precompiled header, without warnings,
  /// outputs, forced includes and the name of the file, and without \p Folders
  /// among those of -I.
  std::string meaning(llvm::ArrayRef<std::string> Folders) const;

  // For the above, file by file.

  /// The file that \p I includes. \p Includer is absent for flags.
  clang::OptionalFileEntryRef find(const Inclusion &I,
                                   clang::OptionalFileEntryRef Includer);

  /// Will a precompiled header that asks for it by <name> find this file?
  bool isFoundByName(const Inclusion &I, clang::FileEntryRef Found);

  bool isSystem(clang::FileEntryRef File) {
    return Headers.getFileDirFlavor(File) != clang::SrcMgr::C_User;
  }
  bool isTorch(clang::FileEntryRef File);

  /// Does \p File lie in a folder of the compiler's own? In one that a flag
  /// names, anything can have a standard name.
  bool isCompilers(clang::FileEntryRef File);

  /// Null if \p File cannot be read; valid until it is forgotten.
  const Directives *directivesOf(clang::FileEntryRef File);

  const std::unique_ptr<clang::CompilerInvocation> Invocation;
  clang::FileManager Files;
  llvm::StringSet<> GivenMacros;

private:
  IncludeScanner(std::unique_ptr<clang::CompilerInvocation> Given,
                 llvm::ArrayRef<std::string> Arguments,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);
  void findGivenFolders(llvm::ArrayRef<std::string> Arguments);
  /// What the flags say, for all of libraryPrefixes().
  LibraryPrefix prefixOfFlags() const;

  /// What one unit includes.
  struct Search {
    /// The user's files in front: they tell soonest.
    std::deque<clang::FileEntryRef> ToRead;
    /// By name: what a file includes depends on the folder it is found in, and
    /// links make one file of two.
    llvm::StringSet<> Seen;
  };
  bool mayBeTorch(const Inclusion &I, clang::OptionalFileEntryRef Includer,
                  Search &All);
  bool mayIncludeTorch(clang::FileEntryRef File, Search &All);

  compat::Diagnostics Diags;
  clang::SourceManager Sources;
  clang::HeaderSearch Headers;
  struct ReadFile {
    std::unique_ptr<llvm::MemoryBuffer> Text;
    std::optional<Directives> Lines;
  };
  /// Headers are read several times, and by many units.
  llvm::DenseMap<const clang::FileEntry *, std::unique_ptr<ReadFile>> ReadFiles;
  /// The folders of headers that a flag names, as it spells them.
  llvm::StringSet<> GivenFolders;
  /// Files that cannot include LibTorch.
  llvm::StringSet<> WithoutTorch;
  LibraryPrefix OfFlags;
};

/// Takes what LibraryPrefix says away from the flags in \p Invocation, and the
/// forced includes.
void takeAway(llvm::ArrayRef<std::string> Folders,
              clang::CompilerInvocation &Invocation);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESCANNER_H
