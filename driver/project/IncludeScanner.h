//===- IncludeScanner.h - What #include lines say ---------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Answers in a millisecond, without preprocessing, whether a unit can include
/// LibTorch, and which library headers can be precompiled for it.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESCANNER_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESCANNER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <string>
#include <vector>

namespace clang {
class CompilerInvocation;
} // namespace clang

namespace libtorch_tidy::driver {

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

/// For units with the same flags.
class IncludeScanner {
public:
  /// \p Arguments are a command line of the compiler with one source file.
  /// \p FS has the folder of the command as its working directory. Null when
  /// the flags make no sense to the compiler.
  static std::unique_ptr<IncludeScanner>
  create(llvm::ArrayRef<std::string> Arguments,
         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);
  virtual ~IncludeScanner() = default;

  /// False only if \p File includes no header of LibTorch, whatever macros are
  /// defined. Includes of all branches count, in all headers but those of the
  /// standard library; one that names a macro, or a missing file, may be any.
  virtual bool mayIncludeTorch(llvm::StringRef File) = 0;

  /// The headers that bring in LibTorch, the best choice first and those that
  /// more units share after it; empty when this unit goes without. Read as the
  /// preprocessor does: to the first line of \p File that is not an #include,
  /// the frame of an include guard, a macro definition or a pragma that only
  /// compilers' warnings heed. LibTorch's large headers count after that line,
  /// too, where they are included whatever macros are defined.
  virtual std::vector<LibraryPrefix> libraryPrefixes(llvm::StringRef File) = 0;

  /// All that the flags mean for a precompiled header, without warnings,
  /// outputs, forced includes and the name of the file, and without \p Folders
  /// among those of -I.
  virtual std::string meaning(llvm::ArrayRef<std::string> Folders) const = 0;
};

/// Takes what LibraryPrefix says away from the flags in \p Invocation, and the
/// forced includes.
void takeAway(llvm::ArrayRef<std::string> Folders,
              clang::CompilerInvocation &Invocation);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_INCLUDESCANNER_H
