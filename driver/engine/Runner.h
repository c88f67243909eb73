//===- Runner.h - The analysis of one translation unit ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_RUNNER_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_RUNNER_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "driver/findings/Finding.h"
#include "driver/findings/SourceText.h"
#include "driver/options/Configuration.h"
#include "fixits/Verifier.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/CompilationDatabase.h"
#include <map>
#include <tuple>

namespace libtorch_tidy::driver {

struct LibraryPch;
struct UnitInputs;

/// One compilation of a file; a database can list several.
struct Unit {
  std::string File;
  clang::tooling::CompileCommand Command;
  /// Only for the sake of given headers that it includes: what is found
  /// elsewhere in it was not asked for.
  bool OnlyForHeaders = false;
};

/// The level of a finding by check, path (as in the diagnostic) and offset. It
/// has those, too, that no diagnostic came of, as they are too weak or
/// suppressed.
using LevelMap =
    std::map<std::tuple<std::string, std::string, unsigned>, Level>;

/// What became of the fix of one diagnostic.
struct FixTrial {
  fixits::Judgement Alone;
  /// Why it was left out when all fixes of the unit were tried together;
  /// empty when it was not.
  std::string NotWithOthers;
};

/// A user file that speaks of NOLINT, once for each time it was read.
struct NolintFile {
  std::string Path; ///< As in diagnostics.
  /// What the preprocessor skipped, from and to which byte.
  std::vector<std::pair<unsigned, unsigned>> Skipped;
};

struct UnitResult {
  std::string File;
  std::vector<clang::tidy::ClangTidyError> Errors;
  LevelMap Levels;
  std::vector<NolintFile> NolintFiles;
  /// One for each of Errors; none when the fixes were not tried.
  std::vector<FixTrial> Trials;
  clang::tidy::ClangTidyStats Stats;
  /// Not analysed in full: there were compile errors.
  bool Failed = false;
  /// The compiler did not take the precompiled header: nothing was analysed.
  bool PchRejected = false;
};

/// The command line of the compiler for \p U, all changes made to it.
clang::tooling::CommandLineArguments
argumentsOf(const Unit &U, const CommandLine &Options,
            const clang::tidy::ClangTidyOptions &FileOptions,
            const clang::tooling::ArgumentsAdjuster &MakeOurs);

/// Runs the checks on one unit. Units share nothing: several can run at once.
/// \p FS may hold other text for the unit than the disk does, as a fix under
/// test. \p Arguments are those of argumentsOf().
///
/// \p Pch is a precompiled header that suits the unit, or null. \p Inputs, when
/// not null, receives what was read besides. With \p CompilerWarnings those are
/// told, too.
UnitResult analyse(const Unit &U,
                   const clang::tooling::CommandLineArguments &Arguments,
                   const CommandLine &Options, const Configuration &Config,
                   llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                   const LibraryPch *Pch = nullptr,
                   UnitInputs *Inputs = nullptr, bool CompilerWarnings = false);

/// The adjuster that runs before all others: --extra-arg and the ExtraArgs of
/// .clang-tidy files.
clang::tooling::ArgumentsAdjuster addExtraArgs(const CommandLine &Options);

/// Whose words these are.
FindingKind kindOf(const clang::tidy::ClangTidyError &Error);

/// Turns what the engine says of a unit into findings. \p Origin of the first
/// is \p FirstOrigin, and so on.
std::vector<Finding> toFindings(const UnitResult &Unit, size_t FirstOrigin,
                                llvm::vfs::FileSystem &FS, SourceTexts &Texts);

/// \p Path in its one spelling: absolute (\p Folder in front of relative
/// ones), without dots, symbolic links resolved.
std::string canonicalPath(llvm::StringRef Path, llvm::StringRef Folder,
                          llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_RUNNER_H
