//===- CommandLine.cpp - What the user asked for --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/options/CommandLine.h"
#include "checks/model/ModelText.h"
#include "checks/torch/ModuleParameters.h"
#include "driver/project/FileSystem.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace libtorch_tidy::driver {

static cl::OptionCategory Category("libtorch-tidy options");

static cl::list<std::string> Files(cl::Positional, cl::ZeroOrMore,
                                   cl::desc("[FILE...] [-- compiler flags]"),
                                   cl::cat(Category));

static cl::opt<std::string>
    BuildPath("p", cl::value_desc("dir"),
              cl::desc("Folder of compile_commands.json. Without it the "
                       "folders above each file are searched"),
              cl::cat(Category));
static cl::list<std::string>
    ExtraArg("extra-arg", cl::value_desc("flag"),
             cl::desc("Compiler flag to add at the end"), cl::cat(Category));
static cl::list<std::string>
    ExtraArgBefore("extra-arg-before", cl::value_desc("flag"),
                   cl::desc("Compiler flag to add at the front"),
                   cl::cat(Category));

static cl::opt<std::string>
    Checks("checks", cl::value_desc("globs"),
           cl::desc("Checks to run, as comma separated globs; '-' in front "
                    "takes away. Added to those of .clang-tidy. Default: "
                    "libtorch-*"),
           cl::cat(Category));
static cl::opt<bool> AllowNoChecks("allow-no-checks",
                                   cl::desc("Accept that no check is enabled"),
                                   cl::cat(Category));
static cl::opt<std::string>
    Config("config", cl::value_desc("yaml"),
           cl::desc("Configuration, instead of .clang-tidy files"),
           cl::cat(Category));
static cl::opt<std::string>
    ConfigFile("config-file", cl::value_desc("file"),
               cl::desc("File of the configuration, instead of .clang-tidy "
                        "files"),
               cl::cat(Category));
static cl::opt<std::string>
    HeaderFilter("header-filter", cl::value_desc("regex"),
                 cl::desc("Headers to report findings in. Default: those of "
                          "the project, and none of third parties"),
                 cl::cat(Category));
static cl::opt<std::string>
    ExcludeHeaderFilter("exclude-header-filter", cl::value_desc("regex"),
                        cl::desc("Headers to report no findings in, of those "
                                 "that --header-filter takes"),
                        cl::cat(Category));
static cl::opt<std::string>
    LineFilter("line-filter", cl::value_desc("json"),
               cl::desc("Lines to report findings in: "
                        "[{\"name\":\"a.cpp\",\"lines\":[[1,3]]}]"),
               cl::cat(Category));
static cl::opt<std::string>
    WarningsAsErrors("warnings-as-errors", cl::value_desc("globs"),
                     cl::desc("Checks whose findings are errors, whatever "
                              "--fail-on says"),
                     cl::cat(Category));
static cl::opt<unsigned>
    WeakestLevel("level", cl::value_desc("0|1|2"),
                 cl::desc("Weakest findings to report: 0 certain, 1 likely "
                          "(default), 2 advisory"),
                 cl::cat(Category));
static cl::opt<std::string>
    FailOn("fail-on", cl::value_desc("0|1|2|never"),
           cl::desc("Weakest findings that make the exit code 1. Default: "
                    "any that is reported"),
           cl::cat(Category));

static cl::opt<bool>
    AuditNolint("audit-nolint",
                cl::desc("Also report NOLINT comments that suppress none of "
                         "the findings they name, name no check, or name one "
                         "that does not exist, as libtorch-nolint of level 2"),
                cl::cat(Category));

static cl::opt<bool> WholeProgram(
    "whole-program",
    cl::desc("Follow calls into other files: all units of the compile database "
             "are analysed, findings are reported for the given files"),
    cl::cat(Category));

static cl::opt<std::string> Shard(
    "shard", cl::value_desc("I/N"),
    cl::desc("Analyse the I-th of N parts of the units, and leave what is "
             "found in --shard-dir. Of a whole program this is one "
             "round"),
    cl::cat(Category));
static cl::opt<unsigned>
    MergeShards("merge-shards", cl::value_desc("N"),
                cl::desc("Report what N shards have left in --shard-dir, as if "
                         "this process had analysed all"),
                cl::cat(Category));
static cl::opt<std::string>
    ShardDir("shard-dir", cl::value_desc("dir"),
             cl::desc("Folder that all shards see; a new one for each run"),
             cl::cat(Category));

static cl::opt<std::string> Baseline(
    "baseline", cl::value_desc("file"),
    cl::desc("Findings to ignore; those that no longer occur are listed"),
    cl::cat(Category));
static cl::opt<std::string>
    Confirm("confirm", cl::value_desc("file"),
            cl::desc("Say which findings a run of the program confirms, and "
                     "what grew that none explains, by the report of "
                     "<libtorch-tidy/watch.h>"),
            cl::cat(Category));
static cl::opt<unsigned>
    SarifLimit("sarif-limit", cl::value_desc("number"), cl::init(25000),
               cl::desc("Most results in SARIF; the weakest are left out. "
                        "Default: 25000, which is what GitHub takes"),
               cl::cat(Category));
static cl::opt<bool> SarifIncludeBaselined(
    "sarif-include-baselined",
    cl::desc("SARIF also has the findings of the baseline, with baselineState "
             "unchanged or absent"),
    cl::cat(Category));
static cl::opt<std::string>
    WriteBaseline("write-baseline", cl::value_desc("file"),
                  cl::desc("Write the findings for --baseline, and report "
                           "none. With --baseline, what that holds of files "
                           "that are not analysed is kept"),
                  cl::cat(Category));
static cl::opt<std::string>
    Diff("diff", cl::ValueOptional, cl::value_desc("revision"),
         cl::desc("Only findings that have to do with lines changed since a "
                  "revision of git (default HEAD). Without files: the files "
                  "that are changed. With --budget: what models take more or "
                  "less than there"),
         cl::cat(Category));
static cl::opt<bool>
    Staged("staged",
           cl::desc("As --diff, for the lines staged for the next commit"),
           cl::cat(Category));

static cl::opt<bool>
    PreCommit("pre-commit",
              cl::desc("As a hook of pre-commit: only findings that have to do "
                       "with the lines of the commit or push, and no file "
                       "without a compile command"),
              cl::cat(Category));

static cl::opt<bool> Fix("fix",
                         cl::desc("Apply fixes, unless there are compile "
                                  "errors"),
                         cl::cat(Category));
static cl::opt<bool> FixErrors("fix-errors",
                               cl::desc("Apply fixes even if there are "
                                        "compile errors"),
                               cl::cat(Category));
static cl::opt<bool> FixNotes(
    "fix-notes",
    cl::desc("As --fix; fixes that belong to a note alone do not exist here"),
    cl::cat(Category));
static cl::opt<bool>
    FixDryRun("fix-dry-run",
              cl::desc("Print what --fix would change as a unified diff on the "
                       "standard output; findings go to the standard error"),
              cl::cat(Category));
static cl::opt<cl::boolOrDefault> VerifyFixes(
    "verify-fixes",
    cl::desc("Offer only fixes that were tried: the changed code compiles "
             "without new warnings, and the finding is gone. Default: with "
             "--fix, --sarif and --export-fixes"),
    cl::cat(Category));
static cl::opt<bool>
    NoVerifyFixes("no-verify-fixes",
                  cl::desc("Offer fixes without trying them first"),
                  cl::cat(Category));
static cl::opt<std::string>
    ExportFixes("export-fixes", cl::value_desc("file"),
                cl::desc("Write findings and fixes as YAML for "
                         "clang-apply-replacements; - is the standard output"),
                cl::cat(Category));
static cl::opt<std::string>
    Sarif("sarif", cl::value_desc("file"),
          cl::desc("Write findings as SARIF 2.1.0; - is the standard output, "
                   "and the text goes to the standard error then"),
          cl::cat(Category));
static cl::opt<std::string>
    Html("html", cl::value_desc("file"),
         cl::desc("Write findings, or with --budget what models take, as one "
                  "HTML file to read; - is the standard output"),
         cl::cat(Category));
static cl::opt<OutputFormat> Format(
    "format", cl::init(OutputFormat::Text),
    cl::desc("Form of the standard output; unless it is text, the text goes "
             "to the standard error"),
    cl::values(clEnumValN(OutputFormat::Text, "text", "as clang-tidy's"),
               clEnumValN(OutputFormat::Gitlab, "gitlab",
                          "GitLab's Code Quality report"),
               clEnumValN(OutputFormat::Github, "github",
                          "workflow commands of GitHub Actions"),
               clEnumValN(OutputFormat::Rdjsonl, "rdjsonl",
                          "reviewdog's JSON lines"),
               clEnumValN(OutputFormat::Junit, "junit", "JUnit's XML")),
    cl::cat(Category));
static cl::opt<std::string>
    Output("output", cl::value_desc("file"),
           cl::desc("File for the form that --format names, instead of the "
                    "standard output"),
           cl::cat(Category));
static cl::opt<bool> Quiet("quiet",
                           cl::desc("No statistics and no notes about flags"),
                           cl::cat(Category));
static cl::opt<bool> UseColor("use-color",
                              cl::desc("Colours in text, or =false for none. "
                                       "Default: if it is a terminal"),
                              cl::cat(Category));
static cl::opt<std::string>
    VfsOverlay("vfsoverlay", cl::value_desc("file"),
               cl::desc("Virtual file system over the real one"),
               cl::cat(Category));

static cl::opt<unsigned>
    Jobs("j", cl::Prefix, cl::value_desc("n"),
         cl::desc("Units to analyse at a time, each in a process. Default: as "
                  "many as there are cores, and memory for"),
         cl::cat(Category));
static cl::opt<unsigned>
    Timeout("timeout", cl::value_desc("seconds"), cl::init(300),
            cl::desc("Processor time that a file may take; one that takes "
                     "longer is named and left, and the exit code is 3. 0 is "
                     "no limit. Default: 300"),
            cl::cat(Category));
static cl::opt<bool>
    ShowProgress("progress",
                 cl::desc("Show progress, or =false to hide it. Default: "
                          "if the standard error is a terminal"),
                 cl::cat(Category));
static cl::opt<std::string>
    CacheDir("cache-dir", cl::value_desc("dir"),
             cl::desc("Folder for results and precompiled library headers. "
                      "Default: $XDG_CACHE_HOME/libtorch-tidy"),
             cl::cat(Category));
static cl::opt<unsigned>
    CacheSize("cache-size", cl::value_desc("MB"), cl::init(2048),
              cl::desc("What the cache may take; what was used least recently "
                       "goes first. Default: 2048"),
              cl::cat(Category));
static cl::opt<bool> NoCache("no-cache",
                             cl::desc("Neither read nor write the cache"),
                             cl::cat(Category));

static cl::opt<bool> NoBackground(
    "no-background",
    cl::desc("Start no process that precompiles library headers after the "
             "run. Default: if the variable CI is set"),
    cl::cat(Category));

static cl::opt<bool>
    Budget("budget",
           cl::desc("Say what the models of the files take, instead of looking "
                    "for findings: bytes of parameters, buffers and gradients"),
           cl::cat(Category));
static cl::opt<std::string>
    Model("model", cl::value_desc("name(values)"),
          cl::desc("Of --budget: this model, as 'UNet(3, 2)'. Default: those "
                   "that the files make with known arguments, or without any"),
          cl::cat(Category));
static cl::opt<std::string>
    Optimizer("optimizer", cl::value_desc("name"),
              cl::desc("Of --budget: also what this optimizer keeps: sgd, "
                       "sgd-momentum, adam, adamw, amsgrad, rmsprop or "
                       "adagrad"),
              cl::cat(Category));
static cl::list<std::string>
    Inputs("input", cl::value_desc("sizes:type"),
           cl::desc("Of --budget: what forward() is given in a step, a tensor "
                    "as 16x3x224x224 or 32x128:int64, or another value; once "
                    "for each argument. Default: what the program passes"),
           cl::cat(Category));
static cl::opt<std::string>
    DeviceMemory("memory", cl::value_desc("size"),
                 cl::desc("Of --budget: also the largest batch whose step "
                          "fits into this memory, as 24GB"),
                 cl::cat(Category));
static cl::opt<torch::DeviceKind>
    Device("device", cl::init(torch::DeviceKind::Cpu),
           cl::desc("Of --budget: where the tensors of a step live"),
           cl::values(clEnumValN(torch::DeviceKind::Cpu, "cpu",
                                 "on the CPU, without oneDNN"),
                      clEnumValN(torch::DeviceKind::Cuda, "cuda",
                                 "on a GPU; an estimate")),
           cl::cat(Category));
static cl::opt<std::string>
    ModelType("dtype", cl::value_desc("type"),
              cl::desc("Of --budget: the models are converted to this type "
                       "first, as to() does: float16, bfloat16, float32 or "
                       "float64"),
              cl::cat(Category));
static cl::opt<std::string>
    AutocastType("autocast", cl::value_desc("type"),
                 cl::desc("Of --budget: forward() runs with autocast to this "
                          "type, float16 or bfloat16 (mixed precision)"),
                 cl::cat(Category));
static cl::opt<BudgetFormat> BudgetForm(
    "budget-format", cl::init(BudgetFormat::Text), cl::desc("Form of --budget"),
    cl::values(clEnumValN(BudgetFormat::Text, "text", "tables to read"),
               clEnumValN(BudgetFormat::Json, "json",
                          "the same, with all tensors")),
    cl::cat(Category));

static cl::opt<bool>
    Lsp("lsp",
        cl::desc("Serve an editor by the Language Server Protocol, on the "
                 "standard input and output; no files are named"),
        cl::cat(Category));

static cl::opt<bool> ListChecks("list-checks",
                                cl::desc("List the enabled checks"),
                                cl::cat(Category));
static cl::opt<bool>
    ListAsJson("json", cl::desc("With --list-checks: all checks, as JSON"),
               cl::cat(Category));
static cl::opt<bool> DumpConfig("dump-config",
                                cl::desc("Print the effective configuration"),
                                cl::cat(Category));
static cl::opt<bool> VerifyConfig("verify-config",
                                  cl::desc("Look for unknown libtorch-* checks "
                                           "and options in the configuration"),
                                  cl::cat(Category));
static cl::opt<std::string>
    Explain("explain", cl::value_desc("check"),
            cl::desc("Print the documentation of a check"), cl::cat(Category));

static cl::opt<std::string>
    EmitLibraryPch("emit-library-pch", cl::value_desc("file"), cl::Hidden,
                   cl::desc("Precompile the one given header without the "
                            "bodies of library functions"),
                   cl::cat(Category));
static cl::opt<bool>
    Scope("scope", cl::init(true), cl::Hidden,
          cl::desc("=false: walk library code and parse its function bodies, "
                   "as stock clang-tidy does"),
          cl::cat(Category));
static cl::opt<bool>
    SkipUnrelated("skip-unrelated", cl::init(true), cl::Hidden,
                  cl::desc("=false: analyse units that include no header of "
                           "LibTorch, too"),
                  cl::cat(Category));
// LLVM's own -h can be grouped with others: to it, --html is a call for help.
static cl::opt<bool> Help("h", cl::Hidden, cl::desc("As --help"),
                          cl::cat(Category));
// run-clang-tidy can pass it on. There is no such checker here.
static cl::opt<bool>
    AlphaCheckers("allow-enabling-analyzer-alpha-checkers", cl::Hidden,
                  cl::desc("Accepted for run-clang-tidy, without effect"),
                  cl::cat(Category));

static cl::list<std::string> Load("load", cl::Hidden, cl::cat(Category));

static Error usageError(const Twine &Message) {
  return createStringError(inconvertibleErrorCode(), Message);
}

static Expected<Level> levelOf(StringRef Option, StringRef Value) {
  unsigned Number;
  if (Value.getAsInteger(10, Number) || Number > 2)
    return usageError(
        "--" + Option + ": '" + Value + "' is not a level" +
        (Option == "fail-on" ? " (0, 1, 2 or never)" : " (0, 1 or 2)"));
  return static_cast<Level>(Number);
}

static std::optional<std::string> ifGiven(const cl::opt<std::string> &Option) {
  if (!Option.getNumOccurrences())
    return std::nullopt;
  return Option.getValue();
}

static cl::opt<bool> &statsOption();

/// The level that \p Option names, if it was given.
static Error readLevel(StringRef Option, StringRef Value, bool IsGiven,
                       std::optional<Level> &Result) {
  if (!IsGiven)
    return Error::success();
  Expected<Level> L = levelOf(Option, Value);
  if (!L)
    return L.takeError();
  Result = *L;
  return Error::success();
}

/// Options without a value that is needed.
static Error checkFileNames() {
  for (const cl::opt<std::string> *Option :
       {&Html, &ExportFixes, &Sarif, &Output})
    if (Option->getNumOccurrences() && Option->empty())
      return usageError("--" + Option->ArgStr +
                        " needs the name of a file, or -");
  if (Baseline.getNumOccurrences() && Baseline.empty())
    return usageError("--baseline needs the name of a file");
  if (WriteBaseline.getNumOccurrences() &&
      (WriteBaseline.empty() || WriteBaseline == "-"))
    return usageError("--write-baseline needs the name of a file");
  if (Explain.getNumOccurrences() && Explain.empty())
    return usageError("--explain needs the name of a check");
  return Error::success();
}

/// Options that are for a run which ends, or for a terminal.
static Error checkLsp() {
  if (!Lsp)
    return Error::success();
  if (!Files.empty())
    return usageError("--lsp takes no files: the editor opens them");
  const cl::Option *const Others[] = {
      &FailOn,        &Confirm,       &Sarif,
      &Html,          &Format,        &Output,
      &ExportFixes,   &WriteBaseline, &Diff,
      &Staged,        &PreCommit,     &Fix,
      &FixErrors,     &FixNotes,      &FixDryRun,
      &VerifyFixes,   &NoVerifyFixes, &ShowProgress,
      &AllowNoChecks, &ListChecks,    &DumpConfig,
      &VerifyConfig,  &Explain,       &EmitLibraryPch,
      &WholeProgram,  &Shard,         &MergeShards,
      &ShardDir,      &Budget,        &Model,
      &Optimizer,     &BudgetForm,    std::addressof(Inputs),
      &DeviceMemory,  &Device,        &ModelType,
      &AutocastType,  &statsOption()};
  for (const cl::Option *Other : Others)
    if (Other->getNumOccurrences())
      return usageError("--" + Other->ArgStr + " does not go with --lsp");
  return Error::success();
}

/// Reads `24GB`: a number and a unit, of which one is 1,024 of the one before.
static std::optional<uint64_t> readBytes(StringRef Text) {
  double Number = 0;
  const StringRef Digits =
      Text.take_while([](char C) { return llvm::isDigit(C) || C == '.'; });
  if (Digits.empty() || Digits.getAsDouble(Number))
    return std::nullopt;
  const unsigned Exponent =
      llvm::StringSwitch<unsigned>(Text.drop_front(Digits.size()).trim())
          .CasesLower("b", "", 0)
          .CasesLower("k", "kb", "kib", 1)
          .CasesLower("m", "mb", "mib", 2)
          .CasesLower("g", "gb", "gib", 3)
          .CasesLower("t", "tb", "tib", 4)
          .Default(5);
  for (unsigned I = 0; I < Exponent; ++I)
    Number *= 1024;
  // Beyond 2^60 nothing is counted.
  if (Exponent == 5 || Number < 1 || Number > 1e18)
    return std::nullopt;
  return static_cast<uint64_t>(Number);
}

/// The revision of --diff, if it was given.
static std::optional<std::string> diffRevision() {
  if (!Diff.getNumOccurrences())
    return std::nullopt;
  return Diff.empty() ? "HEAD" : Diff.getValue();
}

/// Reads the options about the bytes of models.
static Error readBudget(BudgetOptions &Result) {
  if (!Budget) {
    for (const cl::Option *Other : std::initializer_list<const cl::Option *>{
             &Model, &Optimizer, &BudgetForm, std::addressof(Inputs),
             &DeviceMemory, &Device, &ModelType, &AutocastType})
      if (Other->getNumOccurrences())
        return usageError("--" + Other->ArgStr + " goes with --budget");
    return Error::success();
  }
  const cl::Option *const Others[] = {&Checks,        &WeakestLevel,
                                      &FailOn,        &AuditNolint,
                                      &WholeProgram,  &Shard,
                                      &MergeShards,   &ShardDir,
                                      &Baseline,      &WriteBaseline,
                                      &Confirm,       &Staged,
                                      &PreCommit,     &Fix,
                                      &FixErrors,     &FixNotes,
                                      &FixDryRun,     &VerifyFixes,
                                      &ExportFixes,   &Sarif,
                                      &NoVerifyFixes, &Format,
                                      &Output,        &LineFilter,
                                      &ListChecks,    &WarningsAsErrors};
  for (const cl::Option *Other : Others)
    if (Other->getNumOccurrences())
      return usageError("--" + Other->ArgStr +
                        " is about findings, and does not go with --budget");
  if (Html == "-" && BudgetForm == BudgetFormat::Json)
    return usageError("only one of --html and --budget-format=json can be "
                      "written to the standard output");
  if (Html.getNumOccurrences() && Diff.getNumOccurrences())
    return usageError("--html does not go with --budget --diff: the page shows "
                      "one revision");
  Result.Asked = true;
  Result.Model = Model;
  Result.Optimizer = Optimizer;
  Result.Format = BudgetForm;
  Result.Revision = diffRevision();
  if (Model.getNumOccurrences())
    if (Expected<model::ModelText> Text = model::parseModelText(Model); !Text)
      return usageError("--model: " + toString(Text.takeError()));
  if (Optimizer.getNumOccurrences() && !torch::optimizerCopies(Optimizer))
    return usageError("--optimizer: '" + Optimizer +
                      "' is not known; there are " +
                      join(torch::knownOptimizers(), ", "));
  Result.Inputs.assign(Inputs.begin(), Inputs.end());
  for (const std::string &Input : Result.Inputs)
    if (auto Value = model::parseInputText(Input); !Value)
      return usageError("--input: " + toString(Value.takeError()));
  Result.Device = Device;
  for (const auto &[Name, Given, Widest, Kept] :
       {std::tuple(&ModelType, "float16, bfloat16, float32 and float64", 8U,
                   &Result.Type),
        std::tuple(&AutocastType, "float16 and bfloat16", 2U,
                   &Result.Autocast)}) {
    const auto Type = torch::elementType(*Name);
    if (!Name->getNumOccurrences())
      continue;
    if (!Type || !Type->Name.contains("float") || Type->Bytes > Widest)
      return usageError("'" + *Name + "' is not a type for --" + Name->ArgStr +
                        "; there are " + Given);
    *Kept = Type->Name.str();
  }
  if (!DeviceMemory.getNumOccurrences())
    return Error::success();
  const std::optional<uint64_t> Bytes = readBytes(DeviceMemory);
  if (!Bytes)
    return usageError("--memory: '" + DeviceMemory +
                      "' is not a size; a size is a number and B, KB, MB, GB "
                      "or TB, as in 24GB");
  Result.Memory = *Bytes;
  return Error::success();
}

/// Reads the options about shards.
static Error readShards(ShardOptions &Result) {
  const bool IsShard = Shard.getNumOccurrences();
  const bool Merges = MergeShards.getNumOccurrences();
  if (IsShard && Merges)
    return usageError("--shard and --merge-shards exclude each other");
  if ((IsShard || Merges) != (ShardDir.getNumOccurrences() > 0))
    return usageError("--shard-dir goes with --shard or --merge-shards, and "
                      "they with it");
  if (ShardDir.getNumOccurrences() && ShardDir.empty())
    return usageError("--shard-dir needs a folder");
  Result.Folder = ShardDir;
  if (Merges) {
    if (!MergeShards)
      return usageError("--merge-shards needs a number above 0");
    Result.Count = MergeShards;
  }
  if (!IsShard)
    return Error::success();
  const auto [Index, Count] = StringRef(Shard).split('/');
  if (Index.getAsInteger(10, Result.Index) ||
      Count.getAsInteger(10, Result.Count) || !Result.Index ||
      Result.Index > Result.Count)
    return usageError("invalid value '" + Shard +
                      "' of --shard: expected I/N, as 2/4 for the second of "
                      "four");
  const cl::Option *const Others[] = {
      &Sarif, &Html,      &Format,   &ExportFixes, &Baseline, &WriteBaseline,
      &Fix,   &FixErrors, &FixNotes, &FixDryRun,   &Confirm,  &FailOn};
  for (const cl::Option *Other : Others)
    if (Other->getNumOccurrences())
      return usageError("--" + Other->ArgStr +
                        " does not go with --shard: it goes with "
                        "--merge-shards");
  return Error::success();
}

/// Options that do not go together. \p HasFlags: there are flags after `--`.
static Error checkCombinations(bool HasFlags) {
  if (HasFlags && BuildPath.getNumOccurrences())
    return usageError("-p and flags after '--' exclude each other");
  if (Config.getNumOccurrences() && ConfigFile.getNumOccurrences())
    return usageError("--config and --config-file exclude each other");
  if (NoVerifyFixes && VerifyFixes == cl::BOU_TRUE)
    return usageError("--verify-fixes and --no-verify-fixes exclude each "
                      "other");
  const bool HasForm = Format != OutputFormat::Text;
  if (Output.getNumOccurrences() && !HasForm)
    return usageError("--output goes with --format=gitlab, github, rdjsonl "
                      "or junit");
  if ((Sarif == "-") + (ExportFixes == "-") + (Html == "-") +
          (HasForm && (Output.empty() || Output == "-")) >
      1)
    return usageError("only one of --sarif, --html, --export-fixes and "
                      "--format can "
                      "be written to the standard output");
  if (SarifIncludeBaselined && (Baseline.empty() || Sarif.empty()))
    return usageError("--sarif-include-baselined goes with --sarif and "
                      "--baseline");
  const unsigned Lines = Diff.getNumOccurrences() > 0;
  if (Lines + Staged + PreCommit > 1)
    return usageError("--diff, --staged and --pre-commit exclude each other");
  if (WriteBaseline.getNumOccurrences() &&
      (Lines || Staged || PreCommit || LineFilter.getNumOccurrences()))
    return usageError("--write-baseline takes all findings: --diff, --staged, "
                      "--pre-commit and --line-filter do not go with it");
  if (Jobs.getNumOccurrences() && !Jobs)
    return usageError("-j needs a number above 0");
  if (NoCache && CacheDir.getNumOccurrences())
    return usageError("--cache-dir and --no-cache exclude each other");
  if (ListAsJson && !ListChecks)
    return usageError("--json goes with --list-checks");
  return Error::success();
}

static ConfigurationOptions configuration() {
  ConfigurationOptions Result;
  Result.Checks = ifGiven(Checks);
  Result.Config = ifGiven(Config);
  Result.ConfigFile = ifGiven(ConfigFile);
  Result.HeaderFilter = ifGiven(HeaderFilter);
  Result.ExcludeHeaderFilter = ifGiven(ExcludeHeaderFilter);
  Result.LineFilter = ifGiven(LineFilter);
  Result.WarningsAsErrors = ifGiven(WarningsAsErrors);
  if (UseColor.getNumOccurrences())
    Result.UseColor = UseColor;
  return Result;
}

static FixOptions fixes() {
  FixOptions Result;
  Result.Apply = Fix || FixErrors || FixNotes || FixDryRun;
  Result.DryRun = FixDryRun;
  Result.ApplyDespiteErrors = FixErrors;
  Result.OnlyVerified = VerifyFixes == cl::BOU_UNSET && !NoVerifyFixes
                            ? Result.Apply || !Sarif.empty() ||
                                  !ExportFixes.empty() || !Html.empty() ||
                                  // Shards do not know what the merge writes.
                                  Shard.getNumOccurrences() ||
                                  MergeShards.getNumOccurrences()
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
  // About models it is no selection.
  if (!Budget)
    Result.Diff = diffRevision();
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
  Result.Timeout = Timeout;
  Result.SkipUnrelated = SkipUnrelated;
  Result.Cache = {!NoCache, CacheDir, CacheSize};
  Result.Background =
      NoBackground.getNumOccurrences() ? !NoBackground : !isForCi();
  if (ShowProgress.getNumOccurrences())
    Result.Progress.Show = ShowProgress;
  Result.Progress.Quiet = Quiet;
  return Result;
}

static Expected<CommandLine>
collect(std::unique_ptr<clang::tooling::FixedCompilationDatabase> Fixed) {
  if (!Load.empty())
    return usageError("-load: libtorch-tidy has its checks built in and loads "
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
  if (Error E = readBudget(Result.Budget))
    return E;
  Result.Files = Files;
  Result.VfsOverlay = VfsOverlay;
  Result.Quiet = Quiet;
  Result.Commands = {BuildPath, std::move(Fixed), PreCommit, Quiet};
  Result.AllowNoChecks = AllowNoChecks;
  Result.Fixes = fixes();
  Result.Analysis = analysis(Result.Fixes.OnlyVerified);
  if (Error E = readShards(Result.Analysis.Shards))
    return E;
  if (Result.Budget.Asked) {
    Result.Analysis.Unit.Budget = model::BudgetRequest{
        Result.Budget.Model,   Result.Budget.Inputs, Result.Budget.Optimizer,
        Result.Budget.Memory,  Result.Budget.Device, Result.Budget.Type,
        Result.Budget.Autocast};
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
  Result.Confirm = Confirm;
  Result.Lsp = Lsp;
  Result.ListChecks = ListChecks;
  Result.Json = ListAsJson;
  Result.DumpConfig = DumpConfig;
  Result.VerifyConfig = VerifyConfig;
  Result.Explain = Explain;
  Result.EmitLibraryPch = EmitLibraryPch;
  return Result;
}

static void printVersion(raw_ostream &OS) {
  OS << "libtorch-tidy version " LIBTORCH_TIDY_VERSION "\n"
     << "  on clang-tidy's engine, LLVM version " LLVM_VERSION_STRING "\n";
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

/// Made when LLVM's option of that name is gone: two of a name end the program.
static cl::opt<bool> &statsOption() {
  static cl::opt<bool> Stats(
      "stats",
      cl::desc("Print on the standard error what each unit cost: the time of "
               "each check, and what the flow model did; and what the cache "
               "holds. Results are not taken from it"),
      cl::cat(Category));
  return Stats;
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
    WithColor::error(errs(), "libtorch-tidy") << toString(std::move(E)) << '\n';
    return std::nullopt;
  };
  // Refuses what has no end.
  Expected<FileSystem> Disk = createFileSystem("");
  if (!Disk)
    return Report(Disk.takeError());
  Expansion.setVFS(Disk->get());
  if (Error E = Expansion.expandResponseFiles(Args))
    return Report(std::move(E));
  int Count = Args.size();
  std::string Message;
  std::unique_ptr<clang::tooling::FixedCompilationDatabase> Fixed =
      clang::tooling::FixedCompilationDatabase::loadFromCommandLine(
          Count, Args.data(), Message);
  // With a database the message is a complaint about outputs, which a syntax
  // check has none of: CMake's command for a precompiled header brings one.
  if (!Fixed && !Message.empty())
    return Report(
        usageError("flags after '--': " + StringRef(Message).rtrim()));

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
