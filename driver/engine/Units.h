//===- Units.h - What is analysed -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_UNITS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_UNITS_H

#include "driver/findings/Finding.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Configuration.h"
#include "driver/project/FileSystem.h"
#include "llvm/ADT/StringSet.h"

namespace libtorch_tidy::driver {

/// One compilation of a file; a database can list several.
struct Unit {
  std::string File;
  clang::tooling::CompileCommand Command;
  /// Only for the sake of given files that it includes: what is found elsewhere
  /// in it was not asked for.
  bool OnlyForHeaders = false;
  /// Only for what it says to the other units of its program: nothing that is
  /// found in it was asked for.
  bool OnlyForFacts = false;
  /// Files that are read after it, as if it included them at its end.
  std::vector<std::string> ReadAfter = {};
};

/// All units of a run.
struct Units {
  std::vector<Unit> List;
  /// Given files, headers mostly, that are analysed through units of the list
  /// which include them; canonical.
  llvm::StringSet<> Headers;
  /// Files that are left out, as their configuration enables no check.
  std::vector<std::string> WithoutChecks;
  /// Files that are left out, as their configuration is wrong: how.
  Failures Misconfigured;
  /// Sources that nobody named and that no unit of the build has.
  std::vector<std::string> OutsideBuild;

  /// Was a finding of \p Kind at \p Path asked for in \p U, whose canonical
  /// path is \p File?
  bool askFor(const Unit &U, llvm::StringRef File, FindingKind Kind,
              llvm::StringRef Path, const Configuration &Config) const;
  /// The canonical paths of the files to analyse, ordered, each once.
  std::vector<std::string> sources(llvm::vfs::FileSystem &FS) const;
};

/// The files to analyse: those of \p Given, absolute, folders replaced by the
/// files of their database, each once however it is spelled.
llvm::Expected<std::vector<std::string>>
filesToAnalyse(llvm::ArrayRef<std::string> Given, CompileCommands &Commands,
               FileSystem FS);

/// What is wrong when the configuration enables none of our checks.
llvm::Error noCheckEnabled();

/// Takes those of \p Files away that one of \p Globs matches: their path, that
/// of a folder around them, or the name of either. Paths are absolute, or
/// relative to \p Here. An error names a glob that is malformed.
llvm::Error exclude(llvm::ArrayRef<std::string> Globs, llvm::StringRef Here,
                    std::vector<std::string> &Files);

/// The units of \p Files whose configuration enables a check. A file without
/// one is left out, as projects turn checks off for some folders, and so is one
/// with a wrong configuration; that all have one is an error. A source that has
/// a compile database around it, and is not in it, is an error when it is
/// \p Named.
llvm::Expected<Units> unitsToAnalyse(llvm::ArrayRef<std::string> Files,
                                     bool Named, Configuration &Config,
                                     CompileCommands &Commands, FileSystem FS);

/// Adds to \p All, the units of \p Files, the others of the databases that list
/// these, for what they say.
llvm::Error addOtherUnits(Units &All, llvm::ArrayRef<std::string> Files,
                          CompileCommands &Commands, llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_UNITS_H
