//===- CommandLine.h - What the user asked for ------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OPTIONS_COMMANDLINE_H
#define LIBTORCH_TIDY_DRIVER_OPTIONS_COMMANDLINE_H

#include "checks/Catalog.h"
#include "fixits/Verifier.h"
#include "clang/Tooling/CompilationDatabase.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// What the process returns.
enum ExitCode : int {
  ExitClean = 0,    ///< Nothing at or above --fail-on.
  ExitFindings = 1, ///< Findings at or above --fail-on.
  ExitUsage = 2,    ///< Wrong usage or configuration.
  ExitBroken = 3,   ///< A translation unit could not be analysed.
};

/// --format: what is written beside or instead of clang-tidy's text.
enum class OutputFormat : unsigned char {
  Text,
  Gitlab,
  Github,
  Rdjsonl,
  Junit
};

/// The command line, parsed. An absent optional was not given.
struct CommandLine {
  std::vector<std::string> Files;

  // Where compile commands come from.
  std::string BuildPath; ///< -p; empty: looked for beside each file.
  /// Flags after `--`, as a database; null when there was no `--`.
  std::unique_ptr<clang::tooling::FixedCompilationDatabase> Fixed;
  std::vector<std::string> ExtraArgs, ExtraArgsBefore;

  // Configuration.
  std::optional<std::string> Checks, Config, ConfigFile, HeaderFilter,
      ExcludeHeaderFilter, LineFilter, WarningsAsErrors;
  bool AllowNoChecks = false; ///< No enabled check is no error.
  std::optional<Level> WeakestLevel;
  std::optional<bool> UseColor;
  std::string VfsOverlay;

  // What to do with findings.
  bool Fix = false, FixErrors = false, Quiet = false;
  bool FixDryRun = false; ///< Goes with Fix: print what it would change.
  /// Fixes are tried before they are offered.
  bool VerifyFixes = false;
  std::string ExportFixes, Html, Sarif;
  OutputFormat Format = OutputFormat::Text;
  std::string Output; ///< For the format, unless that is text.
  std::string Baseline, WriteBaseline;
  bool SarifIncludeBaselined = false;
  unsigned SarifLimit = 25000;     ///< Results; what GitHub takes.
  std::optional<std::string> Diff; ///< Only lines changed since a revision.
  bool Staged = false;             ///< Only lines staged for a commit.
  bool PreCommit = false;          ///< As a hook of pre-commit.
  /// The weakest level that makes the exit code 1; absent: any finding.
  std::optional<Level> FailOn;
  bool NeverFail = false;
  bool AuditNolint = false; ///< Tell comments that serve no purpose.

  // How the work is done. Results are the same whatever these are.
  unsigned Jobs = 0; ///< Processes at a time; 0: as the machine can take.
  std::optional<bool> ShowProgress;
  bool Stats = false; ///< Print what the analysis cost.
  bool UseCache = true;
  std::string CacheDir; ///< Empty: the user's cache folder.
  unsigned CacheMegabytes = 0;
  /// Off: units that include no header of LibTorch are analysed, too.
  bool SkipUnrelated = true;

  // Things to do instead of an analysis.
  bool ListChecks = false, Json = false, DumpConfig = false,
       VerifyConfig = false;
  std::string Explain, EmitLibraryPch;

  /// Not of the command line: what fixes under way have made of files.
  fixits::FileTexts Edited;

  /// Off: every declaration of the unit is walked and every body parsed, as
  /// stock clang-tidy does. Results must be the same; tests compare them.
  bool UseScope = true;
};

/// Parses the command line. --help and --version are answered here and end
/// the process. Absent when it is wrong: the user has been told.
std::optional<CommandLine> parseCommandLine(int Argc, const char **Argv);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OPTIONS_COMMANDLINE_H
