//===- CommandLine.cpp - What the user asked for --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/options/CommandLine.h"
#include "driver/options/OptionGroups.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/FileSystem.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace libtorch_tidy::driver {

static cl::list<std::string> Files(cl::Positional, cl::ZeroOrMore,
                                   cl::desc("[FILE...] [-- compiler flags]"),
                                   cl::cat(Category));

static Opt<std::string> BuildPath("p", "dir",
                                  "Folder of compile_commands.json. Without it "
                                  "the folders above each file are searched");
static cl::list<std::string>
    ExtraArg("extra-arg", cl::value_desc("flag"),
             cl::desc("Compiler flag to add at the end"), cl::cat(Category));
static cl::list<std::string>
    ExtraArgBefore("extra-arg-before", cl::value_desc("flag"),
                   cl::desc("Compiler flag to add at the front"),
                   cl::cat(Category));

static Opt<std::string>
    Checks("checks", "globs",
           "Checks to run, as comma separated globs; '-' in front takes away. "
           "Added to those of .clang-tidy. Default: libtorch-*");
static Flag AllowNoChecks("allow-no-checks", "Accept that no check is enabled");
static Opt<std::string> Config("config", "yaml",
                               "Configuration, instead of .clang-tidy files");
static Opt<std::string>
    ConfigFile("config-file", "file",
               "File of the configuration, instead of .clang-tidy files");
static Opt<std::string>
    HeaderFilter("header-filter", "regex",
                 "Headers to report findings in. Default: those of the "
                 "project, and none of third parties");
static Opt<std::string> ExcludeHeaderFilter(
    "exclude-header-filter", "regex",
    "Headers to report no findings in, of those that --header-filter takes");
static Opt<std::string> LineFilter(
    "line-filter", "json",
    "Lines to report findings in: [{\"name\":\"a.cpp\",\"lines\":[[1,3]]}]");
static Opt<std::string> WarningsAsErrors(
    "warnings-as-errors", "globs",
    "Checks whose findings are errors, whatever --fail-on says");
static Opt<unsigned> WeakestLevel(
    "level", "0|1|2",
    "Weakest findings to report: 0 certain, 1 likely (default), 2 advisory");
static Opt<std::string> FailOn("fail-on", "0|1|2|never",
                               "Weakest findings that make the exit code 1. "
                               "Default: any that is reported");

static Flag AuditNolint("audit-nolint",
                        "Also report NOLINT comments that suppress none of the "
                        "findings they name, name no check, or name one that "
                        "does not exist, as libtorch-nolint of level 2");

static Flag WholeProgram(
    "whole-program",
    "Follow calls into other files: all units of the compile database are "
    "analysed, findings are reported for the given files");

static Opt<std::string>
    Baseline("baseline", "file",
             "Findings to ignore; those that no longer occur are listed");
static Opt<unsigned>
    SarifLimit("sarif-limit", "number",
               "Most results in SARIF; the weakest are left out. Default: "
               "25000, which is what GitHub takes",
               cl::init(25000));
static Flag
    SarifIncludeBaselined("sarif-include-baselined",
                          "SARIF also has the findings of the baseline, with "
                          "baselineState unchanged or absent");
static Opt<std::string> WriteBaseline(
    "write-baseline", "file",
    "Write the findings for --baseline, and report none. With --baseline, what "
    "that holds of files that are not analysed is kept");
static Opt<std::string>
    Diff("diff", "revision",
         "Only findings that have to do with lines changed since a revision of "
         "git (default HEAD). Without files: the files that are changed",
         cl::ValueOptional);
static Flag Staged("staged",
                   "As --diff, for the lines staged for the next commit");

static Flag PreCommit(
    "pre-commit",
    "As a hook of pre-commit: only findings that have to do with the lines of "
    "the commit or push, and no file without a compile command");

static Flag Fix("fix", "Apply fixes, unless there are compile errors");
static Flag FixErrors("fix-errors",
                      "Apply fixes even if there are compile errors");
static Flag
    FixNotes("fix-notes",
             "As --fix; fixes that belong to a note alone do not exist here");
static Flag FixDryRun("fix-dry-run",
                      "Print what --fix would change as a unified diff on the "
                      "standard output; findings go to the standard error");
static Opt<cl::boolOrDefault>
    VerifyFixes("verify-fixes", "",
                "Offer only fixes that were tried: the changed code compiles "
                "without new warnings, and the finding is gone. Default: with "
                "--fix, --sarif and --export-fixes");
static Flag NoVerifyFixes("no-verify-fixes",
                          "Offer fixes without trying them first");
static Opt<std::string>
    ExportFixes("export-fixes", "file",
                "Write findings and fixes as YAML for "
                "clang-apply-replacements; - is the standard output");
static Opt<std::string>
    Sarif("sarif", "file",
          "Write findings as SARIF 2.1.0; - is the standard output, and the "
          "text goes to the standard error then");
static Opt<std::string>
    Html("html", "file",
         "Write findings, or with --budget what models take, as one HTML file "
         "to read; - is the standard output");
static Opt<OutputFormat>
    Format("format", "",
           "Form of the standard output; unless it is text, the text goes to "
           "the standard error",
           cl::init(OutputFormat::Text),
           cl::values(clEnumValN(OutputFormat::Text, "text", "as clang-tidy's"),
                      clEnumValN(OutputFormat::Gitlab, "gitlab",
                                 "GitLab's Code Quality report"),
                      clEnumValN(OutputFormat::Github, "github",
                                 "workflow commands of GitHub Actions"),
                      clEnumValN(OutputFormat::Rdjsonl, "rdjsonl",
                                 "reviewdog's JSON lines"),
                      clEnumValN(OutputFormat::Junit, "junit", "JUnit's XML")));
static Opt<std::string> Output(
    "output", "file",
    "File for the form that --format names, instead of the standard output");
static Flag Quiet("quiet", "No statistics and no notes about flags");
static Flag UseColor(
    "use-color",
    "Colours in text, or =false for none. Default: if it is a terminal");
static Opt<std::string> VfsOverlay("vfsoverlay", "file",
                                   "Virtual file system over the real one");

static Opt<unsigned> Jobs("j", "n",
                          "Units to analyse at a time, each in a process. "
                          "Default: as many as there are cores, and memory for",
                          cl::Prefix);
static Opt<unsigned> Timeout(
    "timeout", "seconds",
    "Processor time that a file may take; one that takes longer is named and "
    "left, and the exit code is 3. 0 is no limit. Default: 300",
    cl::init(300));
static Opt<unsigned> WallTimeout(
    "wall-timeout", "seconds",
    "Time by the clock that a file may take, as --timeout; 0 is no limit. "
    "Default: ten times --timeout");
static Opt<unsigned>
    MaxMemory("max-memory", "MB",
              "Memory that a file may take, as --timeout, on Linux; 0 is no "
              "limit. Default: 4096",
              cl::init(4096));
static Flag ShowProgress("progress",
                         "Show progress, or =false to hide it. Default: if the "
                         "standard error is a terminal");
static Opt<std::string>
    CacheDir("cache-dir", "dir",
             "Folder for results and precompiled library headers. Default: "
             "$XDG_CACHE_HOME/libtorch-tidy");
static Opt<unsigned> CacheSize("cache-size", "MB",
                               "What the cache may take; what was used least "
                               "recently goes first. Default: 2048",
                               cl::init(2048));
static Flag NoCache("no-cache", "Neither read nor write the cache");

static Flag NoBackground("no-background",
                         "Start no process that precompiles library headers "
                         "after the run. Default: if the variable CI is set");

static Flag Lsp("lsp", "Serve an editor by the Language Server Protocol, on "
                       "the standard input and output; no files are named");

static Flag ListChecks("list-checks", "List the enabled checks");
static Flag ListAsJson("json", "With --list-checks: all checks, as JSON");
static Flag DumpConfig("dump-config", "Print the effective configuration");
static Flag VerifyConfig(
    "verify-config",
    "Look for unknown libtorch-* checks and options in the configuration");
static Opt<std::string> Explain("explain", "check",
                                "Print the documentation of a check");

static Opt<std::string>
    Why("why", "file:line",
        "Instead of findings, say for each check which of its reasons decided "
        "at that line, or in that file: what lowered a finding, and why there "
        "is none");

static Opt<std::string> EmitLibraryPch(
    "emit-library-pch", "file",
    "Precompile the one given header without the bodies of library functions",
    cl::Hidden);
static Flag Scope("scope",
                  "=false: walk library code and parse its function bodies, as "
                  "stock clang-tidy does",
                  cl::init(true), cl::Hidden);
static Flag SkipUnrelated(
    "skip-unrelated",
    "=false: analyse units that include no header of LibTorch, too",
    cl::init(true), cl::Hidden);
// LLVM's own -h can be grouped with others: to it, --html is a call for help.
static Flag Help("h", "As --help", cl::Hidden);
// run-clang-tidy can pass it on. There is no such checker here.
static Flag AlphaCheckers("allow-enabling-analyzer-alpha-checkers",
                          "Accepted for run-clang-tidy, without effect",
                          cl::Hidden);

static cl::list<std::string> Load("load", cl::Hidden, cl::cat(Category));

/// Made when LLVM's option of that name is gone: two of a name end the program.
static Opt<bool> &statsOption() {
  static Flag Stats("stats",
                    "Print on the standard error what each unit cost: the time "
                    "of each check, and what the flow model did; and what the "
                    "cache holds. Results are not taken from it");
  return Stats;
}

/// The level that \p Option names, if it was given.
static Error readLevel(StringRef Option, StringRef Value, bool IsGiven,
                       std::optional<Level> &Result) {
  if (!IsGiven)
    return Error::success();
  unsigned Number;
  if (Value.getAsInteger(10, Number) || Number > 2)
    return makeError(
        "--" + Option + ": '" + Value + "' is not a level" +
        (Option == "fail-on" ? " (0, 1, 2 or never)" : " (0, 1 or 2)"));
  Result = static_cast<Level>(Number);
  return Error::success();
}

static bool isGiven(const cl::Option &Option) {
  return Option.getNumOccurrences();
}

/// Options without a value that is needed.
static Error checkFileNames() {
  for (const cl::opt<std::string> *File :
       {&Html, &ExportFixes, &Sarif, &Output})
    if (isGivenEmpty(*File))
      return makeError("--" + File->ArgStr + " needs the name of a file, or -");
  return check({{isGivenEmpty(Baseline), "--baseline needs the name of a file"},
                {isGivenEmpty(WriteBaseline) || WriteBaseline == "-",
                 "--write-baseline needs the name of a file"},
                {isGivenEmpty(Explain), "--explain needs the name of a check"},
                {isGivenEmpty(Why), "--why needs the name of a file"}});
}

/// Options that are for a run which ends, or for a terminal.
static Error checkLsp() {
  if (!Lsp)
    return Error::success();
  if (!Files.empty())
    return makeError("--lsp takes no files: the editor opens them");
  return refuse(
      "fail-on confirm sarif html format output export-fixes "
      "write-baseline diff staged pre-commit fix fix-errors "
      "fix-notes fix-dry-run verify-fixes no-verify-fixes "
      "progress allow-no-checks list-checks dump-config "
      "verify-config explain why emit-library-pch whole-program shard "
      "merge-shards shard-dir budget model optimizer "
      "budget-format input memory device dtype autocast against stats "
      "watch-report",
      " does not go with --lsp");
}

/// Options that do not go together. \p HasFlags: there are flags after `--`.
static Error checkCombinations(bool HasFlags) {
  const bool HasForm = Format != OutputFormat::Text;
  const int ToStandardOutput = (Sarif == "-") + (ExportFixes == "-") +
                               (Html == "-") +
                               (HasForm && (Output.empty() || Output == "-"));
  const int Selections = isGiven(Diff) + Staged + PreCommit;
  if (Error E = check(
          {{HasFlags && isGiven(BuildPath),
            "-p and flags after '--' exclude each other"},
           {isGiven(Config) && isGiven(ConfigFile),
            "--config and --config-file exclude each other"},
           {NoVerifyFixes && VerifyFixes == cl::BOU_TRUE,
            "--verify-fixes and --no-verify-fixes exclude each other"},
           {isGiven(Output) && !HasForm,
            "--output goes with --format=gitlab, github, rdjsonl or junit"},
           {ToStandardOutput > 1,
            "only one of --sarif, --html, --export-fixes and --format can be "
            "written to the standard output"},
           {SarifIncludeBaselined && (Baseline.empty() || Sarif.empty()),
            "--sarif-include-baselined goes with --sarif and --baseline"},
           {Selections > 1,
            "--diff, --staged and --pre-commit exclude each other"},
           {isGiven(WriteBaseline) && (Selections || isGiven(LineFilter)),
            "--write-baseline takes all findings: --diff, --staged, "
            "--pre-commit "
            "and --line-filter do not go with it"},
           {isGiven(Jobs) && !Jobs, "-j needs a number above 0"},
           {NoCache && isGiven(CacheDir),
            "--cache-dir and --no-cache exclude each other"},
           {ListAsJson && !ListChecks, "--json goes with --list-checks"}}))
    return E;
  return isGiven(Why)
             ? refuse("level sarif html format output export-fixes baseline "
                      "write-baseline diff staged pre-commit fix fix-errors "
                      "fix-notes fix-dry-run verify-fixes audit-nolint confirm "
                      "budget shard merge-shards list-checks dump-config "
                      "verify-config explain",
                      " does not go with --why")
             : Error::success();
}

static ConfigurationOptions configuration() {
  ConfigurationOptions Result;
  Result.Checks = Checks.given();
  Result.Config = Config.given();
  Result.ConfigFile = ConfigFile.given();
  Result.HeaderFilter = HeaderFilter.given();
  Result.ExcludeHeaderFilter = ExcludeHeaderFilter.given();
  Result.LineFilter = LineFilter.given();
  Result.WarningsAsErrors = WarningsAsErrors.given();
  Result.UseColor = UseColor.given();
  return Result;
}

static FixOptions fixes(bool IsSharded) {
  FixOptions Result;
  Result.Apply = Fix || FixErrors || FixNotes || FixDryRun;
  Result.DryRun = FixDryRun;
  Result.ApplyDespiteErrors = FixErrors;
  // Shards do not know what the merge writes.
  Result.OnlyVerified = VerifyFixes == cl::BOU_UNSET && !NoVerifyFixes
                            ? Result.Apply || !Sarif.empty() ||
                                  !ExportFixes.empty() || !Html.empty() ||
                                  IsSharded
                            : VerifyFixes == cl::BOU_TRUE;
  return Result;
}

static ReportOptions reports() {
  ReportOptions Result;
  Result.Sarif = Sarif;
  Result.SarifLimit = SarifLimit;
  Result.SarifIncludeBaselined = SarifIncludeBaselined;
  Result.Html = Html;
  Result.Format = Format;
  if (Format != OutputFormat::Text)
    Result.Output = Output.empty() ? "-" : Output.getValue();
  return Result;
}

static SelectionOptions selection() {
  SelectionOptions Result;
  Result.Baseline = Baseline;
  Result.WriteBaseline = WriteBaseline;
  if (isGiven(Diff))
    Result.Diff = Diff.empty() ? "HEAD" : Diff.getValue();
  Result.Staged = Staged;
  Result.PreCommit = PreCommit;
  Result.HasLineFilter = LineFilter.getNumOccurrences();
  Result.AuditsNolint = AuditNolint;
  return Result;
}

/// Services for continuous integration set it. They end what a job leaves, and
/// keep its cache as it is then.
static bool isForCi() {
  const std::string Said = sys::Process::GetEnv("CI").value_or("");
  return !Said.empty() && Said != "false" && Said != "0";
}

static AnalysisOptions analysis(bool OnlyVerifiedFixes) {
  AnalysisOptions Result;
  Result.Extra = {ExtraArgBefore, ExtraArg};
  Result.VerifyFixes = OnlyVerifiedFixes;
  Result.AuditNolint = AuditNolint;
  Result.WholeProgram = Result.Unit.CollectFacts = WholeProgram;
  Result.Unit.Stats = statsOption();
  Result.Unit.UseScope = Scope;
  Result.Jobs = Jobs;
  Result.Limits = {Timeout, WallTimeout, MaxMemory};
  if (!WallTimeout.getNumOccurrences())
    Result.Limits.Clock = SaturatingMultiply<unsigned>(Timeout, 10);
  Result.SkipUnrelated = SkipUnrelated;
  Result.Cache = {!NoCache, CacheDir, CacheSize};
  Result.Background = !NoBackground.given().value_or(isForCi());
  Result.Progress.Show = ShowProgress.given();
  Result.Progress.Quiet = Quiet;
  return Result;
}

static Expected<CommandLine>
collect(std::unique_ptr<clang::tooling::FixedCompilationDatabase> Fixed) {
  if (!Load.empty())
    return makeError("-load: libtorch-tidy has its checks built in and loads "
                     "no plugins; give plugins to clang-tidy");
  CommandLine Result;
  Result.Configuration = configuration();
  Result.NeverFail = FailOn == "never";
  // Only the first error is reported.
  if (Error E = readLevel("level", utostr(WeakestLevel),
                          WeakestLevel.getNumOccurrences(),
                          Result.Configuration.WeakestLevel))
    return E;
  if (Error E = readLevel("fail-on", FailOn,
                          FailOn.getNumOccurrences() && !Result.NeverFail,
                          Result.FailOn))
    return E;
  if (Error E = checkFileNames())
    return E;
  if (Error E = checkLsp())
    return E;
  if (Error E = checkCombinations(/*HasFlags=*/Fixed != nullptr))
    return E;
  if (Error E = readBudget(Html, Result.Budget))
    return E;
  if (Error E = readWatched(Files, Html, Result.WatchReport, Result.Confirm))
    return E;
  Result.Files = Files;
  Result.Why = WhyQuery::parse(Why);
  if (!Result.Why.File.empty()) {
    Result.Configuration.WeakestLevel = Level::Advisory;
    if (Result.Files.empty())
      Result.Files.push_back(Result.Why.File);
  }
  Result.VfsOverlay = VfsOverlay;
  Result.Quiet = Quiet;
  Result.Commands = {BuildPath, std::move(Fixed), PreCommit, Quiet};
  Result.AllowNoChecks = AllowNoChecks;
  ShardOptions Shards;
  if (Error E = readShards(Shards))
    return E;
  Result.Fixes = fixes(/*IsSharded=*/Shards.Count);
  Result.Analysis = analysis(Result.Fixes.OnlyVerified);
  Result.Analysis.Shards = std::move(Shards);
  Result.Analysis.Unit.AsksWhy = !Result.Why.File.empty();
  if (Result.Budget.Asked) {
    Result.Analysis.Unit.Budget = Result.Budget;
    // A page of models has no fixes that would have to be tried.
    Result.Analysis.VerifyFixes = false;
    // No file is left out because its configuration enables no check.
    Result.Configuration.Checks = "libtorch-*";
  }
  // A machine of a cluster is another job's when the run has ended.
  Result.Analysis.Background &= !Result.Analysis.Shards.Count;
  Result.Selection = selection();
  Result.Reports = reports();
  Result.ExportFixes = ExportFixes;
  Result.Lsp = Lsp;
  Result.ListChecks = ListChecks;
  Result.Json = ListAsJson;
  Result.DumpConfig = DumpConfig;
  Result.VerifyConfig = VerifyConfig;
  Result.Explain = Explain;
  Result.EmitLibraryPch = EmitLibraryPch;
  return Result;
}

/// LLVM's libraries bring hundreds of options of their own. None of them is
/// ours to offer, and a mistyped option must not happen to be one.
static void removeForeignOptions() {
  SmallVector<cl::Option *, 0> Foreign;
  for (auto &Entry : cl::getRegisteredOptions()) {
    cl::Option *O = Entry.second;
    if (O->ArgStr.starts_with("help") || O->ArgStr == "version")
      continue;
    if (!is_contained(O->Categories, &Category))
      Foreign.push_back(O);
  }
  for (cl::Option *O : Foreign)
    O->removeArgument();
}

/// A source file can be called `--checks=x.cpp` or `@x.cpp`, and a hook passes
/// the names of all files that change. Neither is an option or a response file.
/// (`--` would not help: what follows it are flags of the compiler.)
static void nameFiles(MutableArrayRef<const char *> Args, StringSaver &Names) {
  for (const char *&Arg : Args) {
    StringRef Name = Arg;
    if (Name == "--")
      break;
    // To pre-commit, a sketch for Arduino is C++, too.
    if ((Name.starts_with("-") || Name.starts_with("@")) &&
        (isCxxFile(Name) || Name.ends_with(".ino")) &&
        sys::fs::is_regular_file(Name))
      Arg = Names.save("./" + Name).data();
  }
}

static void printVersion(raw_ostream &OS) {
  OS << "libtorch-tidy version " LIBTORCH_TIDY_VERSION "\n"
     << "  on clang-tidy's engine, LLVM version " LLVM_VERSION_STRING "\n";
}

std::optional<CommandLine> parseCommandLine(int Argc, const char **Argv) {
  removeForeignOptions();
  statsOption();
  cl::HideUnrelatedOptions(Category);
  cl::SetVersionPrinter(printVersion);

  SmallVector<const char *, 32> Args(Argv, Argv + Argc);
  BumpPtrAllocator Allocator;
  StringSaver Names(Allocator);
  nameFiles(MutableArrayRef(Args).drop_front(), Names);
  // Response files before '--' is looked for: it may be in one.
  cl::ExpansionContext Expansion(Allocator, cl::TokenizeGNUCommandLine);
  auto Report = [](Error E) {
    tellError() << toString(std::move(E)) << '\n';
    return std::nullopt;
  };
  // Refuses what has no end.
  Expected<FileSystem> Disk = createFileSystem("");
  if (!Disk)
    return Report(Disk.takeError());
  Expansion.setVFS(Disk->get());
  if (Error E = Expansion.expandResponseFiles(Args))
    return Report(makeError(troubleWithOptionFile(std::move(E))));
  int Count = Args.size();
  std::string Message;
  std::unique_ptr<clang::tooling::FixedCompilationDatabase> Fixed =
      clang::tooling::FixedCompilationDatabase::loadFromCommandLine(
          Count, Args.data(), Message);
  // With a database the message is a complaint about outputs, which a syntax
  // check has none of: CMake's command for a precompiled header brings one.
  if (!Fixed && !Message.empty())
    return Report(makeError("flags after '--': " + StringRef(Message).rtrim()));

  Message.clear();
  raw_string_ostream Errors(Message);
  if (!cl::ParseCommandLineOptions(
          Count, Args.data(),
          "Finds memory antipatterns in LibTorch (PyTorch C++) code.\n\n"
          "Exit codes: 0 nothing found, 1 findings, 2 wrong usage or\n"
          "configuration, 3 a translation unit could not be analysed.\n",
          &Errors)) {
    errs() << Message;
    return std::nullopt;
  }
  if (Help) {
    cl::PrintHelpMessage(/*Hidden=*/false, /*Categorized=*/true);
    std::exit(0);
  }
  Expected<CommandLine> Result = collect(std::move(Fixed));
  if (!Result)
    return Report(Result.takeError());
  return std::move(*Result);
}

} // namespace libtorch_tidy::driver
