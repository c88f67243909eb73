//===- Reports.h - What a run has found, and its outputs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_REPORTS_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_REPORTS_H

#include "driver/findings/Finding.h"
#include "driver/findings/Fingerprint.h"
#include "driver/findings/SourceText.h"
#include "driver/project/FileSystem.h"
#include "driver/project/OutputFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <functional>
#include <string>
#include <vector>

namespace clang::tidy {
struct ClangTidyStats;
} // namespace clang::tidy

namespace libtorch_tidy::driver {

class Configuration;

/// One run, as writers see it.
struct Report {
  /// Paths are written relative to this folder. Canonical, without a slash at
  /// the end.
  std::string Root;
  llvm::ArrayRef<Finding> Findings;
  /// Canonical paths of what was analysed, ordered, each once.
  std::vector<std::string> Units;
  Failures FailedUnits; ///< Among them.
  int ExitCode = 0;
  SourceTexts &Texts;
  /// With a baseline: findings are marked, and these of it are gone.
  bool HasBaseline = false;
  std::vector<Finding> Vanished = {};
  /// Where the sources come from, as far as git knows: a URI without
  /// credentials, and what is empty when files differ from it.
  std::string Repository = {}, Revision = {};
  std::vector<GivenUpFunction> GivenUp = {};
  std::string CommandLine = {}; ///< For readers.
  size_t LeftOut = 0;           ///< Findings that are too many for the form.
};

/// \p Path as part of a URI.
std::string percentEncode(llvm::StringRef Path);

/// \p Sentence with a capital at its beginning, unless that is a name of code.
std::string capitalized(std::string Sentence);

/// An edit of one of \p Texts: "replace 'a' with 'b'". What is long is cut.
std::string inWords(const clang::tooling::Replacement &E, SourceTexts &Texts);

/// The word for \p L of \p Words, which are in the order of levels.
inline const char *wordFor(Level L, const char *const (&Words)[3]) {
  return Words[static_cast<unsigned>(L)];
}

/// How loudly a finding of a level is reported.
inline const char *severityWord(Level L) {
  return wordFor(L, {"error", "warning", "note"});
}

// The forms, each in a file of its own:

/// GitLab's Code Quality report: a JSON array. Defects only, as the service
/// knows nothing else.
std::string toGitlab(const Report &R);

/// Workflow commands of GitHub Actions (`::warning file=...::message`), one
/// line each; the steps follow the message.
std::string toGithub(const Report &R);

/// reviewdog's diagnostic format, one JSON object per line.
std::string toRdjsonl(const Report &R);

/// JUnit's XML: a suite for each file, in it a failed test for each finding,
/// or one that passed.
std::string toJunit(const Report &R);

/// One HTML file that needs nothing else: findings by file, the source
/// around each with the numbered steps of its path, the fix as lines before
/// and after, and what the checks mean. Without scripts all is shown; with
/// them levels and checks can be filtered. Equal input gives equal bytes.
std::string toHtml(const Report &R);

/// One run with the defects among the findings as results, and the rest as
/// notifications. Paths are relative to %SRCROOT%, those outside it absolute
/// file: URIs. Equal input gives equal bytes: there is no clock in it and no
/// name of a machine.
std::string toSarif(const Report &R);

/// --format: what is written besides or instead of clang-tidy's text.
enum class OutputFormat : unsigned char {
  Text,
  Gitlab,
  Github,
  Rdjsonl,
  Junit,
  // As the options of these names.
  Sarif,
  Html
};

/// What the command line says about outputs: where they go, "-" being the
/// standard output. Empty: nowhere.
struct ReportOptions {
  std::string Html, Sarif;
  bool SarifIncludeBaselined = false;
  unsigned SarifLimit = 25000; ///< Results; what GitHub takes.
  OutputFormat Format = OutputFormat::Text;
  std::string Output;      ///< For the format, unless that is text.
  std::string CommandLine; ///< As it was given.
};

/// The outputs that were asked for in addition to the text. Opened before the
/// analysis, so that one that cannot be written is reported at once; made
/// before fixes are applied, because they are about the text that was analysed;
/// written at the end.
class Reports {
public:
  static llvm::Expected<Reports> open(const ReportOptions &Options);

  /// One of them goes to the standard output: the text must not.
  bool useStdout() const;
  void make(const Report &All);
  llvm::Error write();

private:
  using Maker = std::function<std::string(const Report &)>;
  struct Output {
    Maker Make;
    /// What the baseline holds is in it. It is not news: only SARIF has a word
    /// for it, which services that track findings themselves do not know.
    bool HasKnown;
    OutputFile File;
    std::string Content;
  };
  std::vector<Output> Outputs;
};

// For the user who waits:

/// Prints \p Findings by clang-tidy's own means, so that whatever reads
/// clang-tidy reads us. With \p ToStderr the standard output is left to another
/// writer. \p File is one of those that are analysed.
void printText(llvm::ArrayRef<Finding> Findings, const Configuration &Config,
               llvm::StringRef File, bool ToStderr, const FileSystem &FS);

/// --statistics: prints how many of \p Findings each check has, the check with
/// the most first, to \p OS.
void printStatistics(llvm::ArrayRef<Finding> Findings, llvm::raw_ostream &OS);

/// For a run that is not about findings: prints those of \p Findings that are
/// errors of the compiler.
void printCompileErrors(llvm::ArrayRef<Finding> Findings,
                        const Configuration &Config, llvm::StringRef File,
                        const FileSystem &FS);

/// \p Findings as YAML for clang-apply-replacements. \p MainFile is what it
/// names as their source.
std::string toReplacements(llvm::ArrayRef<Finding> Findings,
                           llvm::StringRef MainFile);

/// What clang-tidy says of findings it left out.
void printStats(const clang::tidy::ClangTidyStats &Stats);

/// What the command line says about --watch-report.
struct WatchReportOptions {
  bool Asked = false;
  std::string File; ///< A RunReport.
  std::string Html; ///< Where a page with charts goes; empty: nowhere.
  std::string Json; ///< Where the report with its lines goes.
  std::string Root; ///< Paths below it are relative to it; empty: to here.
};

/// Prints the verdicts of a report with the lines of what grew, and writes the
/// files that \p Options name.
llvm::Error printRun(const WatchReportOptions &Options,
                     llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_REPORTS_H
