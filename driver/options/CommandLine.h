//===- CommandLine.h - What the user asked for ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_OPTIONS_COMMANDLINE_H
#define LIBTORCH_TIDY_DRIVER_OPTIONS_COMMANDLINE_H

#include "driver/budget/BudgetReport.h"
#include "driver/engine/Batch.h"
#include "driver/engine/FixRounds.h"
#include "driver/findings/Selection.h"
#include "driver/output/CheckDocs.h"
#include "driver/output/Reports.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Configuration.h"
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

/// The command line, parsed, each part as the part of the program that it is
/// for takes it. An absent optional was not given.
struct CommandLine {
  std::vector<std::string> Files;
  std::vector<std::string> Exclude; ///< Globs of files to leave out.
  std::string VfsOverlay;
  bool Quiet = false;

  CompileCommandOptions Commands;
  ConfigurationOptions Configuration;
  bool AllowNoChecks = false; ///< No enabled check is not an error.
  AnalysisOptions Analysis;
  SelectionOptions Selection;
  FixOptions Fixes;
  std::string NolintReason; ///< Add comments with it, if it is not empty.
  ReportOptions Reports;
  std::string ExportFixes;
  std::string Confirm; ///< The report of a run; see WatchedRun.

  BudgetOptions Budget;           ///< Models instead of findings.
  WatchReportOptions WatchReport; ///< A run of a program, instead.

  /// The weakest level that makes the exit code 1; absent: any finding.
  std::optional<Level> FailOn;
  bool NeverFail = false;

  bool Lsp = false; ///< Serve an editor, instead of all that follows.

  // Things to do instead of an analysis.
  bool ListChecks = false, Json = false, DumpConfig = false,
       VerifyConfig = false;
  std::string Explain, EmitLibraryPch;
  bool AsMarkdown = false; ///< What Explain prints.
  WhyQuery Why;            ///< Reasons instead of findings.
  bool Doctor = false;     ///< How files are analysed, instead of findings.
  bool Statistics = false; ///< Counts instead of findings.
};

/// Parses the command line. --help and --version are answered here and end
/// the process. Absent when it is wrong: the error has been printed.
std::optional<CommandLine> parseCommandLine(int Argc, const char **Argv);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OPTIONS_COMMANDLINE_H
