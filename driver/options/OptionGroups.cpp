//===- OptionGroups.cpp - Options about runs, shards and models -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/options/OptionGroups.h"
#include "analysis/bytes/library/ModuleParameters.h"
#include "driver/engine/NolintWriter.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace libtorch_tidy::driver {

void removeForeignOptions() {
  SmallVector<cl::Option *, 0> Foreign;
  for (auto &Entry : cl::getRegisteredOptions()) {
    cl::Option *O = Entry.second;
    const bool IsOurs = any_of(OptionGroups, [&](cl::OptionCategory *Group) {
      return is_contained(O->Categories, Group);
    });
    if (!IsOurs && O->ArgStr != "help-hidden" && O->ArgStr != "version")
      Foreign.push_back(O);
  }
  for (cl::Option *O : Foreign)
    O->removeArgument();
}

Error refuse(StringRef Names, const Twine &Why) {
  SmallVector<StringRef, 0> All;
  SplitString(Names, All);
  for (StringRef Name : All)
    if (cl::getRegisteredOptions().lookup(Name)->getNumOccurrences())
      return makeError("--" + Name + Why);
  return Error::success();
}

Error check(ArrayRef<std::pair<bool, StringRef>> Rules) {
  for (const auto &[IsBroken, Message] : Rules)
    if (IsBroken)
      return makeError(Message);
  return Error::success();
}

static Opt<std::string> Confirm(HiddenGroup, "confirm", "FILE",
                                "As the command watch join", cl::Hidden);
static Flag WatchReport(HiddenGroup, "watch-report",
                        "As the command watch report", cl::Hidden);
static Opt<std::string> Root(WatchGroup, "root", "DIR",
                             "Paths below this folder are relative to it. "
                             "Default: the current one");
static Opt<std::string> WatchJson(HiddenGroup, "watch-json", "FILE",
                                  "As --json of the command watch report",
                                  cl::Hidden);
static Opt<std::string> ReportJson(ReportFormGroup, "json", "FILE",
                                   "Write the report with its lines as JSON; - "
                                   "is the standard output");

Error readWatched(ArrayRef<std::string> Files, StringRef Html,
                  WatchReportOptions &Result, std::string &ToConfirm) {
  Opt<std::string> &Json =
      ReportJson.getNumOccurrences() ? ReportJson : WatchJson;
  if (Error E = check(
          {{isGivenEmpty(Confirm), "--confirm needs the name of a file"},
           {isGivenEmpty(Json), "the JSON needs the name of a file, or -"}}))
    return E;
  ToConfirm = Confirm;
  if (!WatchReport)
    return refuse("root watch-json", " requires the command watch report");
  if (Error E = refuse("confirm budget sarif format output export-fixes fix "
                       "fix-errors fix-notes fix-dry-run baseline "
                       "write-baseline diff staged pre-commit whole-program "
                       "shard merge-shards emit-library-pch list-checks "
                       "dump-config verify-config explain why add-nolint",
                       " cannot be combined with --watch-report"))
    return E;
  if (Files.size() != 1)
    return makeError("watch report takes one report of a run");
  if (Html == "-" && Json == "-")
    return makeError("only one of --html and the JSON can be written to the "
                     "standard output");
  Result = {true, Files.front(), Html.str(), Json, Root};
  return Error::success();
}

static Opt<std::string> AddNolint(
    FixGroup, "add-nolint", "REASON",
    "Add a NOLINT comment with REASON for each finding, and do not report it");

Error readAddNolint(std::string &Reason) {
  if (!AddNolint.getNumOccurrences())
    return Error::success();
  if (StringRef Trouble = troubleWithReason(AddNolint); !Trouble.empty())
    return makeError("--add-nolint" + Trouble);
  Reason = StringRef(AddNolint).trim();
  // Lines move, and outputs are about the files as they were.
  return refuse("fix fix-errors fix-notes fix-dry-run line-filter "
                "audit-nolint write-baseline shard sarif html format "
                "export-fixes statistics why",
                " cannot be combined with --add-nolint");
}

static Opt<std::string>
    Shard(RunGroup, "shard", "I/N",
          "Analyse part I of N of the files and write the results to "
          "--shard-dir. With --whole-program this is one round");
static Opt<unsigned> MergeShards(HiddenGroup, "merge-shards", "N",
                                 "As the command merge", cl::Hidden);
static Opt<std::string> ShardDir(
    RunGroup, "shard-dir", "DIR",
    "Folder that all shards can read and write; use a new one for each run");

Error readShards(ShardOptions &Result) {
  const bool IsShard = Shard.getNumOccurrences();
  const bool Merges = MergeShards.getNumOccurrences();
  if (Error E = check(
          {{IsShard && Merges,
            "--shard and --merge-shards cannot be used together"},
           {(IsShard || Merges) != (ShardDir.getNumOccurrences() > 0),
            "--shard requires --shard-dir, and --shard-dir requires --shard"},
           {isGivenEmpty(ShardDir), "--shard-dir needs a folder"},
           {Merges && !MergeShards, "--merge-shards needs a number above 0"}}))
    return E;
  Result.Folder = ShardDir;
  Result.Count = MergeShards;
  if (!IsShard)
    return Error::success();
  const auto [Index, Count] = StringRef(Shard).split('/');
  if (Index.getAsInteger(10, Result.Index) ||
      Count.getAsInteger(10, Result.Count) || !Result.Index ||
      Result.Index > Result.Count)
    return invalidValue(Shard, Shard, {},
                        "I/N, such as 2/4 for the second of four");
  return refuse(
      "sarif html format export-fixes baseline write-baseline fix "
      "fix-errors fix-notes fix-dry-run confirm fail-on",
      " cannot be combined with --shard: give it to the command merge");
}

static Flag Budget(HiddenGroup, "budget", "As the command budget", cl::Hidden);
static Opt<std::string>
    Model(BudgetGroup, "model", "NAME(VALUES)",
          "This model, such as 'UNet(3, 2)', or a TorchScript archive, such as "
          "net.pt. "
          "Default: those that the files make with known arguments, or without "
          "any");
static Opt<std::string>
    Optimizer(BudgetGroup, "optimizer", "NAME",
              "Also what this optimizer keeps: sgd, sgd-momentum, adam, adamw, "
              "amsgrad, rmsprop or adagrad");
static cl::list<std::string>
    Inputs("input", cl::value_desc("SIZES:TYPE"),
           cl::desc("Argument of forward() in a step: a tensor, such as "
                    "16x3x224x224 or 32x128:int64, or a value; once for each "
                    "argument. Default: what the program passes"),
           In{BudgetGroup});
static cl::list<std::string>
    Given("set", cl::value_desc("NAME=VALUE"),
          cl::desc("Value of a name that the report calls unknown, such as "
                   "width=64 or config.layers='{3, 4}'"),
          In{BudgetGroup});
static Opt<std::string> DeviceMemory(
    BudgetGroup, "memory", "SIZE",
    "Also the largest batch whose step fits into this memory, such as 24GB");
static Opt<bytes::DeviceKind>
    Device(BudgetGroup, "device", "cpu|onednn|cuda",
           "Where the tensors of a step live: on the CPU without oneDNN "
           "(default), on a CPU with it, or on a GPU; the last two are "
           "estimates",
           cl::init(bytes::DeviceKind::Cpu),
           cl::values(clEnumValN(bytes::DeviceKind::Cpu, "cpu",
                                 "on the CPU, without oneDNN"),
                      clEnumValN(bytes::DeviceKind::CpuOneDnn, "onednn",
                                 "on a CPU with AVX-512, as LibTorch does by "
                                 "default; an estimate"),
                      clEnumValN(bytes::DeviceKind::Cuda, "cuda",
                                 "on a GPU; an estimate")));
static Opt<std::string>
    ModelType(BudgetGroup, "dtype", "TYPE",
              "Convert the models to this type first, as to() does: float16, "
              "bfloat16, float32 or float64");
static Opt<std::string>
    AutocastType(BudgetGroup, "autocast", "TYPE",
                 "Run forward() with autocast to this type, float16 or "
                 "bfloat16 (mixed precision)");
static Opt<std::string>
    LibTorch(BudgetGroup, "libtorch", "VERSION",
             "Count for this LibTorch, such as 1.13 or 2.6. Default: the one "
             "whose headers a file includes");
static Opt<std::string> Against(
    BudgetGroup, "against", "FILE",
    "Compare with this report, which --format=json wrote for other files, or "
    "before a change");

static const auto BudgetForms = cl::values(
    clEnumValN(BudgetFormat::Text, "text", "tables to read"),
    clEnumValN(BudgetFormat::Json, "json", "the same, with all tensors"));
static Opt<BudgetFormat> OldBudgetForm(HiddenGroup, "budget-format",
                                       "text|json",
                                       "As --format of the command budget",
                                       cl::init(BudgetFormat::Text), cl::Hidden,
                                       BudgetForms);
static Opt<BudgetFormat>
    BudgetForm(BudgetFormGroup, "format", "text|json",
               "Tables to read (default), or the same with all tensors as JSON",
               cl::init(BudgetFormat::Text), BudgetForms);

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

/// Reads \p Option, the name of one of the types that are \p Known: those of
/// floating point of at most \p Widest bytes.
static Error readType(const Opt<std::string> &Option, ArrayRef<StringRef> Known,
                      unsigned Widest, std::string &Result) {
  if (!Option.getNumOccurrences())
    return Error::success();
  const auto Type = bytes::elementType(Option);
  if (!Type || !Type->Name.contains("float") || Type->Bytes > Widest)
    return invalidValue(Option, Option, Known);
  Result = Type->Name.str();
  return Error::success();
}

/// The text for an archive that \p Model names: no class is called `net.pt`.
static std::string asLoaded(StringRef Model) {
  if (!Model.ends_with(".pt") || Model.contains('"'))
    return Model.str();
  // Compile commands have folders of their own.
  llvm::SmallString<128> Path = Model;
  llvm::sys::fs::make_absolute(Path);
  return bytes::titleOfArchive(Path);
}

Error readBudget(StringRef Html, BudgetOptions &Result) {
  if (!Budget)
    return refuse("model optimizer budget-format input set memory device "
                  "dtype autocast libtorch against",
                  " requires the command budget");
  if (Error E =
          refuse("checks level fail-on audit-nolint whole-program shard "
                 "merge-shards shard-dir baseline write-baseline confirm "
                 "staged pre-commit fix fix-errors fix-notes fix-dry-run "
                 "verify-fixes export-fixes sarif no-verify-fixes format "
                 "output line-filter list-checks warnings-as-errors add-nolint",
                 " is about findings, and cannot be combined with --budget"))
    return E;
  if (Error E = refuse("diff", " is about findings; budget compares with the "
                               "report that --against names"))
    return E;
  const BudgetFormat Form =
      BudgetForm.getNumOccurrences() ? BudgetForm : OldBudgetForm;
  if (Error E = check(
          {{Html == "-" && Form == BudgetFormat::Json,
            "only one of --html and the JSON can be written to the standard "
            "output"},
           {isGivenEmpty(Against), "--against needs the name of a file"},
           {!Html.empty() && !Against.empty(),
            "--html cannot be combined with --against: the page shows no "
            "change"}}))
    return E;
  Result.Asked = true;
  Result.Model = asLoaded(Model);
  Result.Optimizer = Optimizer;
  Result.Format = Form;
  Result.Against = Against;
  if (Model.getNumOccurrences())
    if (Error E = bytes::checkModelText(Result.Model))
      return makeError("--model: " + toString(std::move(E)));
  if (Optimizer.getNumOccurrences() && !bytes::optimizerNamed(Optimizer)) {
    SmallVector<StringRef, 8> Known;
    for (const auto &O : bytes::Optimizers)
      Known.push_back(O.Name);
    return invalidValue(Optimizer, Optimizer, Known);
  }
  Result.Inputs.assign(Inputs.begin(), Inputs.end());
  for (const std::string &Input : Result.Inputs)
    if (Error E = bytes::checkInputText(Input))
      return makeError("--input: " + toString(std::move(E)));
  for (const std::string &Each : Given) {
    const auto [Name, Text] = StringRef(Each).split('=');
    if (Name.empty() || Text.empty())
      return makeError("--set: '" + Each +
                       "' is not a name and a value, such as width=64");
    if (Error E = bytes::checkValueText(Text))
      return makeError("--set: " + toString(std::move(E)));
    Result.Given.emplace_back(Name, Text);
  }
  Result.Device = Device;
  if (Error E =
          readType(ModelType, {"float16", "bfloat16", "float32", "float64"}, 8,
                   Result.Type))
    return E;
  if (Error E =
          readType(AutocastType, {"float16", "bfloat16"}, 2, Result.Autocast))
    return E;
  const auto Type = bytes::elementType(Result.Type);
  if (Device == bytes::DeviceKind::CpuOneDnn &&
      (!Result.Autocast.empty() || (Type && Type->Bytes == 2)))
    return makeError("--device=onednn is for float32: what oneDNN takes for "
                     "smaller types is not known");
  if (LibTorch.getNumOccurrences()) {
    Result.LibTorch = torch::releaseIn(LibTorch);
    if (!Result.LibTorch || *Result.LibTorch < torch::Release(1, 13))
      return invalidValue(LibTorch, LibTorch, {},
                          "a version since 1.13, such as 2.6");
  }
  if (!DeviceMemory.getNumOccurrences())
    return Error::success();
  const std::optional<uint64_t> Bytes = readBytes(DeviceMemory);
  if (!Bytes)
    return invalidValue(DeviceMemory, DeviceMemory, {},
                        "a number and B, KB, MB, GB or TB, such as 24GB");
  Result.Memory = *Bytes;
  return Error::success();
}

} // namespace libtorch_tidy::driver
