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
                                   cl::cat(HiddenGroup),
                                   cl::sub(cl::SubCommand::getAll()));

static const cl::cat IsMostUsed(MostUsed);
static const cl::sub ForLsp(LspCommand), ForBudget(BudgetCommand),
    ForReport(ReportCommand);

static Opt<std::string>
    BuildPath(CompileGroup, "p", "DIR",
              "Folder of compile_commands.json, if not above FILE", IsMostUsed);
static cl::list<std::string>
    ExtraArg("extra-arg", cl::value_desc("FLAG"),
             cl::desc("Compiler flag to add at the end"), In{CompileGroup});
static cl::list<std::string>
    ExtraArgBefore("extra-arg-before", cl::value_desc("FLAG"),
                   cl::desc("Compiler flag to add at the front"),
                   In{CompileGroup});
static Opt<std::string> VfsOverlay(CompileGroup, "vfsoverlay", "FILE",
                                   "Virtual file system over the real one");

static Opt<std::string>
    Checks(CheckGroup, "checks", "GLOBS",
           "Checks to run, as globs separated by commas; those after '-' are "
           "excluded. Default: libtorch-*",
           IsMostUsed);
static Flag AllowNoChecks(CheckGroup, "allow-no-checks",
                          "Accept that no check is enabled");
static Opt<std::string> Config(CheckGroup, "config", "YAML",
                               "Configuration, instead of .clang-tidy files",
                               ForBudget);
static Opt<std::string>
    ConfigFile(CheckGroup, "config-file", "FILE",
               "File of the configuration, instead of .clang-tidy files",
               ForBudget);
static Opt<std::string>
    HeaderFilter(CheckGroup, "header-filter", "REGEX",
                 "Headers to report findings in. Default: those of the "
                 "project, and none of third parties");
static Opt<std::string> ExcludeHeaderFilter(
    CheckGroup, "exclude-header-filter", "REGEX",
    "Headers to exclude from those that --header-filter selects");
static cl::list<std::string>
    Exclude("exclude", cl::value_desc("GLOB"),
            cl::desc("Files and folders to leave out, such as 'build/*'"),
            In{CheckGroup}, IsMostUsed, ForBudget);
static Flag WholeProgram(
    CheckGroup, "whole-program",
    "Follow calls into other files: all sources of the compile database are "
    "analysed, findings are reported for the given files");

static Opt<std::string>
    WeakestLevel(SelectGroup, "level", "0|1|2",
                 "Report findings of this level or stronger: 0 certain, 1 "
                 "likely (default), 2 advisory",
                 IsMostUsed, ForLsp);
static Opt<std::string>
    FailOn(SelectGroup, "fail-on", "0|1|2|never",
           "Exit with 1 on findings of this level or stronger", IsMostUsed);
static Opt<std::string> WarningsAsErrors(
    SelectGroup, "warnings-as-errors", "GLOBS",
    "Checks whose findings are errors, whatever --fail-on says", ForLsp);
static Opt<std::string> LineFilter(
    SelectGroup, "line-filter", "JSON",
    "Lines to report findings in: [{\"name\":\"a.cpp\",\"lines\":[[1,3]]}]",
    ForLsp);
static Flag AuditNolint(SelectGroup, "audit-nolint",
                        "Also report unused, unnamed or misspelt NOLINT "
                        "comments (libtorch-nolint, level 2)",
                        ForLsp);
static Opt<std::string> Baseline(SelectGroup, "baseline", "FILE",
                                 "Report only findings that are not in FILE",
                                 IsMostUsed, ForLsp);
static Opt<std::string> WriteBaseline(HiddenGroup, "write-baseline", "FILE",
                                      "As the command baseline", cl::Hidden);
static Opt<std::string>
    Diff(SelectGroup, "diff", "REVISION",
         "Only findings about lines changed since a revision of git (default "
         "HEAD), in FILE or all changed files",
         cl::ValueOptional, IsMostUsed);
static Flag Staged(SelectGroup, "staged",
                   "As --diff, for the lines staged for the next commit");
static Flag
    PreCommit(SelectGroup, "pre-commit",
              "For pre-commit: only findings about the lines of the commit or "
              "push, and only files that have a compile command");

static Flag Fix(FixGroup, "fix", "Apply fixes, unless there are compile errors",
                IsMostUsed);
static Flag FixErrors(FixGroup, "fix-errors",
                      "Apply fixes even if there are compile errors");
static Flag FixNotes(FixGroup, "fix-notes",
                     "Same as --fix (for compatibility with clang-tidy)");
static Flag FixDryRun(FixGroup, "fix-dry-run",
                      "Print what --fix would change as a unified diff on the "
                      "standard output; findings go to the standard error");
static Flag
    VerifyFixes(FixGroup, "verify-fixes",
                "Offer only fixes that were tried: the changed code compiles "
                "without new warnings, and the finding is gone. The default",
                cl::init(true));
static Flag NoVerifyFixes(FixGroup, "no-verify-fixes",
                          "Offer fixes without trying them first; takes about "
                          "half the time where there are some");
static Opt<std::string>
    ExportFixes(FixGroup, "export-fixes", "FILE",
                "Write findings and fixes as YAML for "
                "clang-apply-replacements; - is the standard output");

static Opt<std::string> Sarif(OutputGroup, "sarif", "FILE",
                              "Write SARIF 2.1.0; - is the standard output",
                              IsMostUsed);
static Opt<unsigned>
    SarifLimit(OutputGroup, "sarif-limit", "NUMBER",
               "Maximum number of SARIF results; the weakest are dropped "
               "first. Default: 25000, the maximum of GitHub",
               cl::init(25000));
static Flag
    SarifIncludeBaselined(OutputGroup, "sarif-include-baselined",
                          "SARIF also has the findings of the baseline, with "
                          "baselineState unchanged or absent");
static Opt<std::string> Html(OutputGroup, "html", "FILE",
                             "Write an HTML report; - is the standard output",
                             IsMostUsed, ForBudget, ForReport);
static Opt<OutputFormat>
    Format(OutputGroup, "format", "text|sarif|html|gitlab|github|rdjsonl|junit",
           "Format of the standard output. Default: text",
           cl::init(OutputFormat::Text), IsMostUsed,
           cl::values(clEnumValN(OutputFormat::Text, "text", "as clang-tidy's"),
                      clEnumValN(OutputFormat::Sarif, "sarif", "as --sarif=-"),
                      clEnumValN(OutputFormat::Html, "html", "as --html=-"),
                      clEnumValN(OutputFormat::Gitlab, "gitlab",
                                 "GitLab's Code Quality report"),
                      clEnumValN(OutputFormat::Github, "github",
                                 "workflow commands of GitHub Actions"),
                      clEnumValN(OutputFormat::Rdjsonl, "rdjsonl",
                                 "reviewdog's JSON lines"),
                      clEnumValN(OutputFormat::Junit, "junit", "JUnit's XML")));
static Flag Statistics(OutputGroup, "statistics",
                       "Print how many findings each check has, instead of the "
                       "findings");
static Opt<std::string> Output(
    OutputGroup, "output", "FILE",
    "File for the format that --format names, instead of the standard output");

static Flag Quiet(RunGroup, "quiet", "No statistics and no notes about flags");
static Flag UseColor(
    RunGroup, "use-color",
    "Colours in text, or =false for none. Default: if it is a terminal");
static Opt<unsigned> Jobs(RunGroup, "j", "N", "Files to analyse in parallel",
                          cl::Prefix, IsMostUsed);
static Opt<unsigned>
    Timeout(RunGroup, "timeout", "SECONDS",
            "Processor time that a file may take; a slower one is reported and "
            "skipped, and the exit code is 3. 0: no limit. Default: 300",
            cl::init(300));
static Opt<unsigned> WallTimeout(RunGroup, "wall-timeout", "SECONDS",
                                 "Wall-clock time that a file may take, "
                                 "otherwise as --timeout, and a call of git; "
                                 "0: no limit. Default: ten times --timeout, "
                                 "and 120 for git");
static Opt<unsigned>
    MaxMemory(RunGroup, "max-memory", "MB",
              "Memory that a file may take, as --timeout, on Linux; 0: no "
              "limit. Default: 4096",
              cl::init(4096));
static Flag ShowProgress(RunGroup, "progress",
                         "Show progress, or =false to hide it. Default: if the "
                         "standard error is a terminal");
static Opt<std::string>
    CacheDir(RunGroup, "cache-dir", "DIR",
             "Folder for results and precompiled library headers. Default: "
             "$XDG_CACHE_HOME/libtorch-tidy");
static Opt<unsigned> CacheSize(RunGroup, "cache-size", "MB",
                               "Maximum size of the cache; what was used least "
                               "recently goes first. Default: 2048",
                               cl::init(2048));
static Flag NoCache(RunGroup, "no-cache", "Neither read nor write the cache");
static Flag NoBackground(RunGroup, "no-background",
                         "Do not precompile library headers in the background. "
                         "Default: if the variable CI is set");

static Flag ListChecks(InfoGroup, "list-checks", "List the enabled checks");
static Flag ListAsJson(InfoGroup, "json",
                       "With --list-checks: all checks, as JSON");
static Flag DumpConfig(InfoGroup, "dump-config",
                       "Print the effective configuration");
static Flag VerifyConfig(
    InfoGroup, "verify-config",
    "Look for unknown libtorch-* checks and options in the configuration");

static Flag Lsp(HiddenGroup, "lsp", "As the command lsp", cl::Hidden);
static Opt<std::string> Explain(HiddenGroup, "explain", "CHECK",
                                "As the command explain", cl::Hidden);
static Flag Markdown(PageFormGroup, "markdown", "Print the page as Markdown");
static Opt<std::string> Why(HiddenGroup, "why", "FILE[:LINE]",
                            "As the command why", cl::Hidden);
static Opt<std::string> EmitLibraryPch(
    HiddenGroup, "emit-library-pch", "FILE",
    "Precompile the one given header without the bodies of library functions",
    cl::Hidden);
static Flag Scope(HiddenGroup, "scope",
                  "=false: walk library code and parse its function bodies, as "
                  "stock clang-tidy does",
                  cl::init(true), cl::Hidden);
static Flag SkipUnrelated(
    HiddenGroup, "skip-unrelated",
    "=false: analyse units that include no header of LibTorch, too",
    cl::init(true), cl::Hidden);
// run-clang-tidy can pass it on. There is no such checker here.
static Flag AlphaCheckers(HiddenGroup, "allow-enabling-analyzer-alpha-checkers",
                          "Accepted for run-clang-tidy, without effect",
                          cl::Hidden);

static cl::list<std::string> Load("load", cl::Hidden, In{HiddenGroup});

/// The options below are created after LLVM's own of these names are removed: a
/// duplicate ends the program.
static Opt<bool> &statsOption() {
  static Flag Stats(RunGroup, "stats",
                    "Print to the standard error what each file cost (time per "
                    "check, work of the flow model) and what the cache holds. "
                    "Cached results are not used");
  return Stats;
}

static cl::opt<std::string> &helpOption() {
  static cl::opt<std::string> Help(
      "help", cl::value_desc("GROUP"),
      cl::desc("Print the options of a group, or all"), cl::ValueOptional,
      cl::cat(InfoGroup), cl::sub(cl::SubCommand::getAll()));
  return Help;
}
// LLVM's own -h can be grouped with others: to it, --html is a call for help.
static cl::opt<bool> ShortHelp("h", cl::desc("As --help"), cl::Hidden,
                               cl::cat(HiddenGroup),
                               cl::sub(cl::SubCommand::getAll()));

/// The level that \p Option names, if it was given and does not say "never".
static Error readLevel(const Opt<std::string> &Option,
                       ArrayRef<StringRef> Known,
                       std::optional<Level> &Result) {
  if (!Option.getNumOccurrences())
    return Error::success();
  const size_t Index = find(Known, Option.getValue()) - Known.begin();
  if (Index == Known.size())
    return invalidValue(Option, Option, Known);
  if (Index < 3)
    Result = static_cast<Level>(Index);
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

/// SARIF and HTML have options of their own, for a file next to the text.
static Error expandFormat() {
  if (Format != OutputFormat::Sarif && Format != OutputFormat::Html)
    return Error::success();
  Opt<std::string> &Same = Format == OutputFormat::Sarif ? Sarif : Html;
  if (isGiven(Same))
    return makeError("--format=" + Same.ArgStr + " and --" + Same.ArgStr +
                     " cannot be used together");
  if (isGivenEmpty(Output))
    return makeError("--output needs the name of a file, or -");
  Same.addOccurrence(1, Same.ArgStr, Output.empty() ? "-" : Output.getValue());
  Format.setValue(OutputFormat::Text);
  Output.reset();
  return Error::success();
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
      "fix-notes fix-dry-run verify-fixes no-verify-fixes add-nolint "
      "progress allow-no-checks list-checks dump-config "
      "verify-config explain why emit-library-pch whole-program shard "
      "merge-shards shard-dir budget model optimizer "
      "budget-format input set memory device dtype autocast against stats "
      "watch-report",
      " cannot be combined with --lsp");
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
            "-p and flags after '--' cannot be used together"},
           {isGiven(Config) && isGiven(ConfigFile),
            "--config and --config-file cannot be used together"},
           {NoVerifyFixes && isGiven(VerifyFixes) && VerifyFixes,
            "--verify-fixes and --no-verify-fixes cannot be used together"},
           {isGiven(Output) && !HasForm,
            "--output requires a --format other than text"},
           {ToStandardOutput > 1,
            "only one of --sarif, --html, --export-fixes and --format can be "
            "written to the standard output"},
           {SarifIncludeBaselined && (Baseline.empty() || Sarif.empty()),
            "--sarif-include-baselined requires --sarif and --baseline"},
           {Selections > 1,
            "--diff, --staged and --pre-commit cannot be used together"},
           {isGiven(WriteBaseline) && (Selections || isGiven(LineFilter)),
            "a baseline holds all findings: it cannot be combined with --diff, "
            "--staged, --pre-commit and --line-filter"},
           {isGiven(Jobs) && !Jobs, "-j needs a number above 0"},
           {NoCache && isGiven(CacheDir),
            "--cache-dir and --no-cache cannot be used together"},
           {ListAsJson && !ListChecks, "--json requires --list-checks"}}))
    return E;
  return isGiven(Why)
             ? refuse("level sarif html format output export-fixes baseline "
                      "write-baseline diff staged pre-commit fix fix-errors "
                      "fix-notes fix-dry-run verify-fixes audit-nolint confirm "
                      "budget shard merge-shards list-checks dump-config "
                      "verify-config explain",
                      " cannot be combined with --why")
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

static FixOptions fixes() {
  FixOptions Result;
  Result.Apply = Fix || FixErrors || FixNotes || FixDryRun;
  Result.DryRun = FixDryRun;
  Result.ApplyDespiteErrors = FixErrors;
  Result.OnlyVerified = !NoVerifyFixes && VerifyFixes;
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
  Result.GitSeconds = WallTimeout.getNumOccurrences() ? WallTimeout : 120;
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
  if (Error E = applyCommand(Files))
    return E;
  CommandLine Result;
  Result.Configuration = configuration();
  Result.NeverFail = FailOn == "never";
  // Only the first error is reported.
  if (Error E = readLevel(WeakestLevel, {"0", "1", "2"},
                          Result.Configuration.WeakestLevel))
    return E;
  if (Error E = readLevel(FailOn, {"0", "1", "2", "never"}, Result.FailOn))
    return E;
  if (Error E = expandFormat())
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
  if (Error E = readAddNolint(Result.NolintReason))
    return E;
  Result.Files = Files;
  Result.Exclude = Exclude;
  Result.Statistics = Statistics;
  Result.Doctor = bool(DoctorCommand);
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
  Result.Fixes = fixes();
  Result.Analysis = analysis(Result.Fixes.OnlyVerified);
  Result.Analysis.Shards = std::move(Shards);
  Result.Analysis.Examines = Result.Doctor;
  Result.Analysis.WillRepeat = Result.Fixes.Apply;
  Result.Analysis.Unit.AsksWhy = !Result.Why.File.empty();
  // Who asks why nothing is reported, or how a unit is analysed, wants no fix.
  if (Result.Doctor || Result.Analysis.Unit.AsksWhy)
    Result.Analysis.VerifyFixes = false;
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
  Result.Analysis.Shards.GitSeconds = Result.Selection.GitSeconds;
  Result.Reports = reports();
  Result.ExportFixes = ExportFixes;
  Result.Lsp = Lsp;
  Result.ListChecks = ListChecks;
  Result.Json = ListAsJson;
  Result.DumpConfig = DumpConfig;
  Result.VerifyConfig = VerifyConfig;
  Result.Explain = Explain;
  Result.AsMarkdown = Markdown;
  Result.EmitLibraryPch = EmitLibraryPch;
  return Result;
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
  cl::opt<std::string> &Help = helpOption();
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
  if (Error E = joinCommandWords(Args))
    return Report(std::move(E));
  int Count = Args.size();
  std::string Message;
  std::unique_ptr<clang::tooling::FixedCompilationDatabase> Fixed =
      clang::tooling::FixedCompilationDatabase::loadFromCommandLine(
          Count, Args.data(), Message);
  // With a database the message is a complaint about outputs, which a syntax
  // check has none of: CMake's command for a precompiled header brings one.
  if (!Fixed && !Message.empty())
    return Report(makeError("flags after '--': " + StringRef(Message).rtrim()));

  if (Error E = checkOptionNames(ArrayRef(Args).take_front(Count)))
    return Report(std::move(E));
  Message.clear();
  raw_string_ostream Errors(Message);
  if (!cl::ParseCommandLineOptions(
          Count, Args.data(),
          "Finds memory antipatterns in LibTorch (PyTorch C++) code.\n",
          &Errors)) {
    errs() << Message;
    return std::nullopt;
  }
  if (isGiven(Help) || ShortHelp) {
    if (Error E = printHelp(Help))
      return Report(std::move(E));
    std::exit(0);
  }
  Expected<CommandLine> Result = collect(std::move(Fixed));
  if (!Result)
    return Report(Result.takeError());
  return std::move(*Result);
}

} // namespace libtorch_tidy::driver
