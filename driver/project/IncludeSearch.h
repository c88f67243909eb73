//===- IncludeSearch.h - Where the compiler finds headers -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESEARCH_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESEARCH_H

#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/Headers.h"
#include "driver/llvm/Compat.h"
#include "driver/project/IncludeScanner.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/DependencyDirectivesScanner.h"
#include "clang/Lex/HeaderSearch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace libtorch_tidy::driver {

/// The headers of the C++23 standard library, with those of C and of POSIX.
/// They may be included in any order, with the same result ([using.headers]),
/// and include no other library.
bool isStandardHeader(llvm::StringRef Name);

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
    /// An #ifndef with the #define of the same name.
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

/// Finds and reads files as units with the same flags do.
class IncludeSearch {
public:
  IncludeSearch(std::unique_ptr<clang::CompilerInvocation> Given,
                llvm::ArrayRef<std::string> Arguments,
                llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// The file that \p I includes. \p Includer is absent for flags.
  clang::OptionalFileEntryRef find(const Inclusion &I,
                                   clang::OptionalFileEntryRef Includer);

  /// Will a precompiled header that asks for it by <name> find this file?
  bool isFoundByName(const Inclusion &I, clang::FileEntryRef Found) {
    clang::OptionalFileEntryRef ByName =
        I.Angled ? Found : find({I.Name, /*Angled=*/true}, std::nullopt);
    return ByName && *ByName == Found;
  }

  bool isSystem(clang::FileEntryRef File) {
    return Headers.getFileDirFlavor(File) != clang::SrcMgr::C_User;
  }

  bool isTorch(clang::FileEntryRef File) {
    return torch::isTorchHeader(File.getName(), Files.getVirtualFileSystem());
  }

  /// Does \p File lie in a folder of the compiler's own? In one that a flag
  /// names, anything can have a standard name.
  bool isCompilers(clang::FileEntryRef File);

  bool isLibrary(clang::FileEntryRef File) {
    return isSystem(File) || isTorch(File) ||
           cpp::isInstalledHeader(File.getName());
  }

  /// Null if \p File cannot be read; valid until it is forgotten.
  const Directives *directivesOf(clang::FileEntryRef File);
  void forget(clang::FileEntryRef File) { ReadFiles.erase(File); }

  const std::unique_ptr<clang::CompilerInvocation> Invocation;
  clang::FileManager Files;
  llvm::StringSet<> GivenMacros;

private:
  void findGivenFolders(llvm::ArrayRef<std::string> Arguments);

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
};

// LibraryPrefixes.cpp.

/// What the flags say, for all of prefixesOf().
LibraryPrefix prefixOfFlags(const IncludeSearch &S);

/// See IncludeScanner::libraryPrefixes().
std::vector<LibraryPrefix> prefixesOf(clang::FileEntryRef Main,
                                      IncludeSearch &S,
                                      const LibraryPrefix &OfFlags);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESEARCH_H
