//===- Run.cpp - One run of the program -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Run.h"
#include "driver/Doctor.h"
#include "driver/Summary.h"
#include "driver/engine/Batch.h"
#include "driver/engine/FixRounds.h"
#include "driver/engine/NolintWriter.h"
#include "driver/findings/RunReport.h"
#include "driver/findings/Selection.h"
#include "driver/output/CheckDocs.h"
#include "driver/output/Reports.h"
#include "driver/pch/LibraryPch.h"
#include "driver/project/ChangedLines.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Configuration.h"
#include "driver/project/Messages.h"
#include "driver/project/OutputFile.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using clang::tidy::ClangTidyOptions;
using clang::tooling::CompileCommand;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// Some phase ends the run with an exit code, or the next one follows.
using Outcome = std::optional<int>;

int usageError(Error E) {
  // A malformed database is the same error for every file below it.
  llvm::StringSet<> Told;
  llvm::handleAllErrors(std::move(E), [&](const llvm::ErrorInfoBase &Info) {
    if (Told.insert(Info.message()).second)
      tellError() << printable(Info.message()) << '\n';
  });
  return ExitUsage;
}

/// Keeps what a phase has made for those that follow; an error ends the run.
template <typename T> Outcome keep(Expected<T> Made, std::optional<T> &Kept) {
  if (!Made)
    return usageError(Made.takeError());
  Kept.emplace(std::move(*Made));
  return std::nullopt;
}

/// One run of the program, phase by phase.
class Run {
public:
  /// \p Argv0 and \p MainAddress locate this program.
  Run(CommandLine Given, const char *Argv0, void *MainAddress)
      : Options(std::move(Given)), Argv0(Argv0), MainAddress(MainAddress) {}

  int run();

private:
  // In this order.
  Outcome explainCheck();
  Outcome prepare();
  Outcome showRun();
  Outcome describe();
  Outcome readOtherModels();
  Outcome select();
  Outcome leaveOut();
  Outcome precompile();
  Outcome collectUnits();
  Outcome runAsShard();
  Outcome openOutputs();
  Outcome analyse();
  Outcome reportBudget();
  Outcome explainPlace();
  Outcome examine();
  void report();
  void addNolint(StringRef Root, llvm::ArrayRef<std::string> Sources);
  void fix();
  int finish();

  Outcome describeChecks(llvm::ArrayRef<std::string> Enabled) const;
  Error checkOutputs() const;
  int exitCode() const;
  int ended(int Result);
  void printSummary() const;
  std::optional<std::vector<Finding>>
  findingsWith(const fixits::FileTexts &Changed);

  CommandLine Options;
  const char *const Argv0;
  void *const MainAddress;
  clang::tooling::ArgumentsAdjuster MakeOurs;
  FileSystem FS;
  std::string WorkingDirectory;
  llvm::SmallString<256> RealFolder; ///< The same, or its canonical path.
  std::optional<Configuration> Config;
  std::optional<Selection> Selected;
  std::optional<CompileCommands> Commands;
  std::optional<std::vector<std::string>> Files;
  bool AnalysesChanged = false; ///< Files are what git says, not the user.
  std::optional<Units> Analysed;
  std::optional<AnalysisJob> Work;
  std::optional<Reports> Outputs;
  std::optional<OutputFile> ExportFixes, BudgetPage;
  std::optional<WatchedRun> Watched;
  std::optional<SourceTexts> Texts;
  std::optional<BudgetSides> Change; ///< For --budget --against.
  Analysis All;
  std::vector<Finding> New; ///< Of All, without what the baseline holds.
  int Code = ExitClean;
  bool FilesWritten = true;
};

} // namespace

/// --explain: needs no configuration.
Outcome Run::explainCheck() {
  if (Options.Explain.empty())
    return std::nullopt;
  Expected<std::string> Page = explain(Options.Explain, Options.AsMarkdown);
  if (!Page)
    return usageError(Page.takeError());
  llvm::outs() << *Page;
  return ExitClean;
}

Outcome Run::prepare() {
  Expected<FileSystem> Made = createFileSystem(Options.VfsOverlay);
  if (!Made)
    return usageError(Made.takeError());
  FS = std::move(*Made);
  WorkingDirectory = *FS->getCurrentWorkingDirectory();
  RealFolder = WorkingDirectory;
  (void)FS->getRealPath(WorkingDirectory, RealFolder);
  MakeOurs = makeCommandsOurs(Argv0, MainAddress, FS,
                              noteLostFlags(Options.Quiet || Options.Doctor));
  return keep(Configuration::create(Options.Configuration, FS), Config);
}

/// --watch-report: what a program did, instead of what its source says.
Outcome Run::showRun() {
  if (!Options.WatchReport.Asked)
    return std::nullopt;
  if (Error E = printRun(Options.WatchReport, *FS))
    return usageError(std::move(E));
  return ExitClean;
}

/// What needs no analysis.
Outcome Run::describe() {
  if (!Options.ListChecks && !Options.DumpConfig && !Options.VerifyConfig)
    return std::nullopt;
  llvm::SmallString<256> File(Options.Files.empty()
                                  ? StringRef("dummy.cpp")
                                  : StringRef(Options.Files.front()));
  FS->makeAbsolute(File);
  Expected<ClangTidyOptions> FileOptions = Config->optionsFor(File);
  if (!FileOptions)
    return usageError(FileOptions.takeError());
  if (Options.ListChecks && !Options.DumpConfig && !Options.VerifyConfig)
    return describeChecks(Configuration::enabledChecks(*FileOptions));
  if (!Options.VerifyConfig) {
    llvm::outs() << Config->dump(File) << '\n';
    return ExitClean;
  }
  if (!Config->verify(File))
    return ExitUsage;
  llvm::outs() << "No config errors detected.\n";
  return ExitClean;
}

Outcome Run::describeChecks(llvm::ArrayRef<std::string> Enabled) const {
  if (Options.Json) {
    llvm::outs() << catalogAsJson(Enabled);
    return ExitClean;
  }
  if (Enabled.empty() && !Options.AllowNoChecks)
    return usageError(noCheckEnabled());
  llvm::outs() << "Enabled checks:";
  for (StringRef Name : Enabled)
    llvm::outs() << "\n    " << Name;
  llvm::outs() << "\n\n";
  return ExitClean;
}

/// --against: before the analysis, which takes longer.
Outcome Run::readOtherModels() {
  if (Options.Budget.Against.empty())
    return std::nullopt;
  return keep(readReport(Options.Budget, *FS), Change);
}

/// Which findings count, and the files to look for them in.
Outcome Run::select() {
  if (Outcome End = keep(
          Selection::create(Options.Selection, Options.Files, FS), Selected))
    return End;
  if (!Options.Confirm.empty())
    if (Outcome End = keep(
            WatchedRun::read(Options.Confirm, WorkingDirectory, FS), Watched))
      return End;
  auto Changed = Selected->changedSources();
  const bool NamesNone = Options.Files.empty();
  if (Outcome End = keep(
          CompileCommands::create(std::move(Options.Commands), FS), Commands))
    return End;
  if (NamesNone && Changed) {
    Options.Files = std::move(*Changed);
    AnalysesChanged = true;
  } else if (NamesNone) {
    Expected<std::vector<std::string>> Listed =
        Commands->listedSources(WorkingDirectory);
    if (!Listed)
      return usageError(Listed.takeError());
    Options.Files = std::move(*Listed);
  }
  // Of a submodule, mostly only a part belongs to the build.
  if (NamesNone)
    llvm::erase_if(Options.Files, [&](const std::string &File) {
      return Selected->isInSubmodule(File) && !isHeader(File) &&
             !Commands->isListed(File).value_or(true);
    });
  if (Options.Files.empty()) {
    llvm::errs() << "libtorch-tidy: no changed C++ files\n";
    return ExitClean;
  }
  if (Outcome End = keep(filesToAnalyse(Options.Files, *Commands, FS), Files))
    return End;
  return leaveOut();
}

/// --exclude.
Outcome Run::leaveOut() {
  const size_t All = Files->size();
  if (Error E = exclude(Options.Exclude, WorkingDirectory, *Files))
    return usageError(std::move(E));
  if (Files->size() < All && (!Options.Quiet || Files->empty()))
    llvm::errs() << "libtorch-tidy: note: --exclude leaves out "
                 << counted(All - Files->size(), "file") << " of " << All
                 << '\n';
  return Files->empty() ? Outcome(ExitClean) : std::nullopt;
}

/// --emit-library-pch, instead of an analysis.
Outcome Run::precompile() {
  if (Options.EmitLibraryPch.empty())
    return std::nullopt;
  if (Files->size() != 1)
    return usageError(makeError("--emit-library-pch takes one header"));
  Expected<std::vector<CompileCommand>> Command =
      Commands->commandsFor(Files->front());
  if (!Command)
    return usageError(Command.takeError());
  return emitLibraryPch(Command->front(), Files->front(),
                        Options.EmitLibraryPch,
                        addExtraArgs(Options.Analysis.Extra), MakeOurs, FS)
             ? ExitClean
             : ExitBroken;
}

Outcome Run::collectUnits() {
  if (Outcome End =
          keep(unitsToAnalyse(*Files, !AnalysesChanged, *Config, *Commands, FS),
               Analysed))
    return End;
  if (Options.Analysis.WholeProgram || Options.Budget.Asked)
    if (Error E = addOtherUnits(*Analysed, *Files, *Commands, *FS))
      return usageError(std::move(E));
  // That no file is to be checked is a mistake rather than a wish.
  const std::vector<std::string> &Without = Analysed->WithoutChecks;
  if (!Without.empty() && Without.size() == Files->size() &&
      !Options.AllowNoChecks)
    return usageError(noCheckEnabled());
  for (StringRef File : Analysed->OutsideBuild)
    tellWarning() << "'" << printable(File)
                  << "' has changed and is not analysed: it is not in the "
                     "compile database; if it is new, run CMake (or what "
                     "writes the database) again\n";
  if (!Options.Quiet)
    for (StringRef File : Without)
      llvm::errs() << "libtorch-tidy: note: '" << printable(File)
                   << "' is left out: its configuration enables no check\n";
  if (!Options.Quiet)
    for (StringRef File : Config->filesAboutOtherPrograms())
      llvm::errs() << "libtorch-tidy: note: '" << printable(File)
                   << "' names checks of other programs only, so all of "
                      "libtorch-* run; 'Checks: -*' alone switches them off\n";
  Work.emplace(AnalysisJob{Analysed->List, Options.Analysis, *Config, MakeOurs,
                           Options.VfsOverlay, *Analysed});
  return std::nullopt;
}

/// Two outputs must not name the same file, and none may name an input.
Error Run::checkOutputs() const {
  const std::vector<NamedFile> Outputs = {
      {"--sarif", Options.Reports.Sarif},
      {"--html", Options.Reports.Html},
      {Options.Reports.Output == "-" ? "--format" : "--output",
       Options.Reports.Output},
      {"--export-fixes", Options.ExportFixes},
      {"--write-baseline", Options.Selection.WriteBaseline}};
  std::vector<NamedFile> Inputs = {
      {"the configuration", Options.Configuration.ConfigFile.value_or("")},
      {"the file system overlay", Options.VfsOverlay},
      {"the report of a run", Options.Confirm}};
  for (const Unit &U : Analysed->List)
    Inputs.push_back({"a file to analyse", U.File});
  for (StringRef Header : Analysed->Headers.keys())
    Inputs.push_back({"a file to analyse", Header.str()});
  for (std::string &Database : Commands->databases())
    Inputs.push_back({"the compile database", std::move(Database)});
  if (Error E = checkDistinct(Outputs, Inputs))
    return E;
  // What the analysis reads besides is known only when it has been read.
  for (const NamedFile &Output : Outputs) {
    const StringRef Name = llvm::sys::path::filename(Output.Path);
    const bool IsSource =
        !llvm::sys::path::extension(Name).empty() && isCxxFile(Name);
    if ((IsSource || Name == ".clang-tidy") &&
        llvm::sys::fs::exists(Output.Path))
      return makeError("cannot write '" + Output.Path + "': " + Output.Role +
                       " names " +
                       (IsSource ? "a source file" : "a configuration"));
  }
  // A baseline is read and written again; other outputs are not for its place.
  return checkDistinct(llvm::ArrayRef(Outputs).drop_back(),
                       {{"the baseline", Options.Selection.Baseline}});
}

/// Before the analysis: one that cannot be written is reported at once.
Outcome Run::openOutputs() {
  if (Error E = checkOutputs())
    return usageError(std::move(E));
  if (Options.Budget.Asked) {
    if (Options.Reports.Html.empty())
      return std::nullopt;
    return keep(OutputFile::open(Options.Reports.Html), BudgetPage);
  }
  if (Outcome End = keep(Reports::open(Options.Reports), Outputs))
    return End;
  if (Options.ExportFixes.empty())
    return std::nullopt;
  return keep(OutputFile::open(Options.ExportFixes), ExportFixes);
}

int Run::exitCode() const {
  if (!All.FailedUnits.empty())
    return ExitBroken;
  if (llvm::any_of(All.Findings, [](const Finding &F) {
        return F.Kind == FindingKind::Configuration;
      }))
    return ExitUsage;
  const bool Fails = llvm::any_of(All.Findings, [&](const Finding &F) {
    return !F.Known &&
           (F.AsError || (!Options.NeverFail &&
                          (!Options.FailOn || F.Strength <= *Options.FailOn)));
  });
  return Fails ? ExitFindings : ExitClean;
}

/// --shard: leaves its results to the merge.
Outcome Run::runAsShard() {
  if (!Options.Analysis.Shards.Index)
    return std::nullopt;
  if (Error E = runShard(*Work)) {
    usageError(std::move(E));
    return ExitBroken;
  }
  return ExitClean;
}

Outcome Run::analyse() {
  Texts.emplace(FS);
  Expected<Analysis> Made = Options.Analysis.Shards.Count
                                ? mergeAll(*Work, *Texts)
                                : analyseAll(*Work, *Texts);
  if (!Made) {
    usageError(Made.takeError());
    return ExitBroken;
  }
  All = std::move(*Made);
  for (const auto &[File, How] : Analysed->Misconfigured)
    All.FailedUnits[File] = "its configuration is wrong: " + How;
  return std::nullopt;
}

/// --budget: models, instead of findings.
Outcome Run::reportBudget() {
  const BudgetOptions &Asked = Options.Budget;
  if (!Asked.Asked)
    return std::nullopt;
  printCompileErrors(All.Findings, *Config, Files->front(), FS);
  printSummary();
  const bytes::UnitBudget Models = merged(All.Budgets);
  if (Change)
    if (Error E = addAfter(*Change, Models, !All.FailedUnits.empty(), Asked))
      return usageError(std::move(E));
  const bool IsBroken =
      !All.FailedUnits.empty() || (Change && Change->LacksBefore);
  const bool HasNone =
      Models.Models.empty() && (!Change || Change->Before.Models.empty());
  if (!Asked.Model.empty() && !Models.HasModel && HasNone) {
    if (IsBroken)
      return ExitBroken;
    std::string Text = "there is no model '" + Asked.Model + "'";
    Text += Models.Known.empty() ? "; these files define no module class"
                                 : "; these files have:";
    for (const std::string &Known : Models.Known)
      Text += "\n  " + Known;
    tellError() << Text << '\n';
    return ExitUsage;
  }
  if (!Asked.Model.empty() && HasNone) {
    for (const bytes::RefusedModel &M : Models.Refused)
      tellError() << M.Title << ": " << M.Reason << '\n';
    return ExitUsage;
  }
  for (const auto &[Name, Value] : Asked.Given)
    if (!llvm::is_contained(Models.Names, Name) && !IsBroken) {
      tellError() << "--set: there is no unknown value called '" + Name + "'"
                  << (Models.Names.empty() ? "" : "; there are: ")
                  << llvm::join(Models.Names, ", ") << '\n';
      return ExitUsage;
    }
  if (HasNone && Models.Refused.empty() && !IsBroken && !Options.Quiet)
    llvm::errs() << "libtorch-tidy: these files define no module class\n";
  (BudgetPage && BudgetPage->isStdout() ? llvm::errs() : llvm::outs())
      << (Change ? budgetReport(*Change, Asked, RealFolder)
                 : budgetReport(Models, Asked, All.FailedUnits, RealFolder));
  if (BudgetPage)
    if (Error E = BudgetPage->write(
            budgetPage(Models, Asked, All.FailedUnits, RealFolder)))
      return usageError(std::move(E));
  const bool Fails = llvm::any_of(
      Models.Models, [](const auto &M) { return M.HasStep && M.Step.Fails; });
  return IsBroken ? ExitBroken : Fails ? ExitFindings : ExitClean;
}

/// --why: reasons, instead of findings.
Outcome Run::explainPlace() {
  const WhyQuery &Asked = Options.Why;
  if (Asked.File.empty())
    return std::nullopt;
  printCompileErrors(All.Findings, *Config, Files->front(), FS);
  printSummary();
  llvm::outs() << answerWhy(Asked, canonicalPath(Asked.File, "", *FS),
                            All.Findings, All.Silences);
  return All.FailedUnits.empty() ? ExitClean : ExitBroken;
}

/// doctor: how files are analysed, instead of findings.
Outcome Run::examine() {
  if (!Options.Doctor)
    return std::nullopt;
  printCompileErrors(All.Findings, *Config, Files->front(), FS);
  printCheckup({*Work, All, *Commands, FS, [&](FlagListener Listener) {
                  return makeCommandsOurs(Argv0, MainAddress, FS,
                                          std::move(Listener));
                }});
  return All.FailedUnits.empty() ? ExitClean : ExitBroken;
}

/// What was found, about the texts that were analysed.
void Run::report() {
  const std::vector<std::string> Sources = Analysed->sources(*FS);
  const std::string Root = findProjectRoot(Sources, RealFolder, *FS);
  Selected->apply(All.Findings, Sources, All.FailedUnits, *Config, *Texts);
  if (Watched)
    Watched->confirm(All.Findings);
  if (!Options.NolintReason.empty())
    addNolint(Root, Sources);
  Code = exitCode();
  Report Written = {Root, All.Findings, Sources, All.FailedUnits, Code, *Texts};
  Written.HasBaseline = Selected->hasBaseline();
  Written.Vanished = Selected->vanished();
  Written.GivenUp = All.GivenUp;
  Written.CommandLine = Options.Reports.CommandLine;
  if (!Options.Reports.Sarif.empty() || !Options.Reports.Html.empty())
    std::tie(Written.Repository, Written.Revision) =
        originOf(Root, Options.Selection.GitSeconds);
  Outputs->make(Written);

  llvm::copy_if(All.Findings, std::back_inserter(New),
                [](const Finding &F) { return !F.Known; });
  const bool ToStderr = Outputs->useStdout() || Options.Fixes.DryRun;
  if (!Options.Statistics)
    return printText(New, *Config, Files->front(), ToStderr, FS);
  printCompileErrors(New, *Config, Files->front(), FS);
  printStatistics(New, ToStderr ? llvm::errs() : llvm::outs());
}

/// All that is found when files hold \p Changed. Absent when something does
/// not compile that did.
std::optional<std::vector<Finding>>
Run::findingsWith(const fixits::FileTexts &Changed) {
  SourceTexts ChangedTexts(withTexts(FS, Changed));
  Analysis After = analyseAll(*Work, ChangedTexts, Changed);
  if (!llvm::equal(llvm::make_first_range(After.FailedUnits),
                   llvm::make_first_range(All.FailedUnits)))
    return std::nullopt;
  return std::move(After.Findings);
}

/// --add-nolint: what is left has a comment then, and is not reported.
void Run::addNolint(StringRef Root, llvm::ArrayRef<std::string> Sources) {
  if (!All.FailedUnits.empty()) {
    tellError() << "not all files could be analysed: no NOLINT comments are "
                   "added\n";
    return;
  }
  auto IsOurs = [&](StringRef File) {
    return isBelow(File, Root) || llvm::is_contained(Sources, File);
  };
  NolintWriter Writer(Options.NolintReason, IsOurs, *Texts);
  All.Findings = Writer.run(
      std::move(All.Findings),
      [&](const fixits::FileTexts &Changed, const NolintWriter::Hunks &Lines) {
        std::optional<std::vector<Finding>> After = findingsWith(Changed);
        SourceTexts ChangedTexts(withTexts(FS, Changed));
        if (After)
          Selected->applyAfter(Lines, *After, ChangedTexts);
        return After;
      });
  All.Weaker = 0; // Some of them may be suppressed now.
  FilesWritten = Writer.finish(Options.Quiet);
}

void Run::fix() {
  if (!Options.Fixes.Apply)
    return;
  if (!All.FailedUnits.empty() && !Options.Fixes.ApplyDespiteErrors) {
    tellError() << "not all is analysed in full and --fix-errors is not given: "
                   "fixes have NOT been applied\n";
    return;
  }
  FixRounds Rounds(Options.Fixes, *Texts);
  // Neither lines nor fingerprints of a selection hold for changed text.
  Rounds.run(
      All.Findings,
      [&](const fixits::FileTexts &Changed) { return findingsWith(Changed); },
      Selected->isAny() ? 1 : FixRounds::MaxRounds);
  FilesWritten = Rounds.finish(Options.Quiet);
}

void Run::printSummary() const {
  driver::printSummary(
      {All, New, Watched ? Watched->unexplained() : std::vector<std::string>(),
       Selected->isAny(), Options.Fixes.Apply,
       Options.Quiet || !Options.Why.File.empty()});
}

/// Says how it went, and writes the files.
int Run::finish() {
  printSummary();
  Selected->tellVanished();
  if (ExportFixes)
    if (Error E = ExportFixes->write(toReplacements(New, Files->front())))
      return usageError(std::move(E));
  if (Error E = Selected->write(Options.Quiet))
    return usageError(std::move(E));
  if (Error E = Outputs->write())
    return usageError(std::move(E));
  return FilesWritten ? Code : int(ExitUsage);
}

/// Leaves the library headers that only a later run needs to a copy of the
/// process.
int Run::ended(int Result) {
  precompileAfter(All, Options.Analysis, Options.VfsOverlay);
  return Result;
}

int Run::run() {
  for (Outcome (Run::*Phase)() :
       {&Run::explainCheck, &Run::prepare, &Run::showRun, &Run::describe,
        &Run::readOtherModels, &Run::select, &Run::precompile,
        &Run::collectUnits, &Run::runAsShard, &Run::openOutputs, &Run::analyse,
        &Run::reportBudget, &Run::explainPlace, &Run::examine})
    if (Outcome End = (this->*Phase)())
      return ended(*End);
  report();
  fix();
  return ended(finish());
}

int run(CommandLine Options, const char *Argv0, void *MainAddress) {
  return Run(std::move(Options), Argv0, MainAddress).run();
}

} // namespace libtorch_tidy::driver
