//===- BudgetOptions.cpp - What --budget is asked for ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/Bytes.h"
#include "analysis/bytes/library/ModuleParameters.h"
#include "driver/options/OptionGroups.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace libtorch_tidy::driver {

static Opt<bool> Budget(
    "budget",
    cl::desc("Say what the models of the files take, instead of looking "
             "for findings: bytes of parameters, buffers and gradients"));
static Opt<std::string>
    Model("model", cl::value_desc("name(values)"),
          cl::desc("Of --budget: this model, as 'UNet(3, 2)'. Default: those "
                   "that the files make with known arguments, or without any"));
static Opt<std::string>
    Optimizer("optimizer", cl::value_desc("name"),
              cl::desc("Of --budget: also what this optimizer keeps: sgd, "
                       "sgd-momentum, adam, adamw, amsgrad, rmsprop or "
                       "adagrad"));
static cl::list<std::string>
    Inputs("input", cl::value_desc("sizes:type"),
           cl::desc("Of --budget: what forward() is given in a step, a tensor "
                    "as 16x3x224x224 or 32x128:int64, or another value; once "
                    "for each argument. Default: what the program passes"),
           cl::cat(Category));
static Opt<std::string>
    DeviceMemory("memory", cl::value_desc("size"),
                 cl::desc("Of --budget: also the largest batch whose step "
                          "fits into this memory, as 24GB"));
static Opt<bytes::DeviceKind>
    Device("device", cl::init(bytes::DeviceKind::Cpu),
           cl::desc("Of --budget: where the tensors of a step live"),
           cl::values(clEnumValN(bytes::DeviceKind::Cpu, "cpu",
                                 "on the CPU, without oneDNN"),
                      clEnumValN(bytes::DeviceKind::Cuda, "cuda",
                                 "on a GPU; an estimate")));
static Opt<std::string>
    ModelType("dtype", cl::value_desc("type"),
              cl::desc("Of --budget: the models are converted to this type "
                       "first, as to() does: float16, bfloat16, float32 or "
                       "float64"));
static Opt<std::string>
    AutocastType("autocast", cl::value_desc("type"),
                 cl::desc("Of --budget: forward() runs with autocast to this "
                          "type, float16 or bfloat16 (mixed precision)"));
static Opt<std::string>
    Against("against", cl::value_desc("file"),
            cl::desc("Of --budget: what models take more or less than in this "
                     "report, which --budget-format=json wrote for other "
                     "files, or before a change"));
static Opt<BudgetFormat> BudgetForm(
    "budget-format", cl::init(BudgetFormat::Text), cl::desc("Form of --budget"),
    cl::values(clEnumValN(BudgetFormat::Text, "text", "tables to read"),
               clEnumValN(BudgetFormat::Json, "json",
                          "the same, with all tensors")));

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
static Error readType(const Opt<std::string> &Option, StringRef Known,
                      unsigned Widest, std::string &Result) {
  if (!Option.getNumOccurrences())
    return Error::success();
  const auto Type = bytes::elementType(Option);
  if (!Type || !Type->Name.contains("float") || Type->Bytes > Widest)
    return makeError("'" + Option + "' is not a type for --" + Option.ArgStr +
                     "; there are " + Known);
  Result = Type->Name.str();
  return Error::success();
}

Error readBudget(StringRef Html, BudgetOptions &Result) {
  if (!Budget)
    return refuse("model optimizer budget-format input memory device dtype "
                  "autocast against",
                  " goes with --budget");
  if (Error E = refuse("checks level fail-on audit-nolint whole-program shard "
                       "merge-shards shard-dir baseline write-baseline confirm "
                       "staged pre-commit fix fix-errors fix-notes fix-dry-run "
                       "verify-fixes export-fixes sarif no-verify-fixes format "
                       "output line-filter list-checks warnings-as-errors",
                       " is about findings, and does not go with --budget"))
    return E;
  if (Error E = refuse("diff", " is about findings; --budget compares with the "
                               "report that --against names"))
    return E;
  if (Html == "-" && BudgetForm == BudgetFormat::Json)
    return makeError("only one of --html and --budget-format=json can be "
                     "written to the standard output");
  if (isGivenEmpty(Against))
    return makeError("--against needs the name of a file");
  if (!Html.empty() && !Against.empty())
    return makeError("--html does not go with --against: the page shows no "
                     "change");
  Result.Asked = true;
  Result.Model = Model;
  Result.Optimizer = Optimizer;
  Result.Format = BudgetForm;
  Result.Against = Against;
  if (Model.getNumOccurrences())
    if (Error E = bytes::checkModelText(Model))
      return makeError("--model: " + toString(std::move(E)));
  if (Optimizer.getNumOccurrences() && !bytes::optimizerNamed(Optimizer))
    return makeError(
        "--optimizer: '" + Optimizer + "' is not known; there are " +
        join(map_range(bytes::Optimizers, [](const auto &O) { return O.Name; }),
             ", "));
  Result.Inputs.assign(Inputs.begin(), Inputs.end());
  for (const std::string &Input : Result.Inputs)
    if (Error E = bytes::checkInputText(Input))
      return makeError("--input: " + toString(std::move(E)));
  Result.Device = Device;
  if (Error E = readType(ModelType, "float16, bfloat16, float32 and float64", 8,
                         Result.Type))
    return E;
  if (Error E =
          readType(AutocastType, "float16 and bfloat16", 2, Result.Autocast))
    return E;
  if (!DeviceMemory.getNumOccurrences())
    return Error::success();
  const std::optional<uint64_t> Bytes = readBytes(DeviceMemory);
  if (!Bytes)
    return makeError("--memory: '" + DeviceMemory +
                     "' is not a size; a size is a number and B, KB, MB, GB "
                     "or TB, as in 24GB");
  Result.Memory = *Bytes;
  return Error::success();
}

} // namespace libtorch_tidy::driver
