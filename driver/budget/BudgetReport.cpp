//===- BudgetReport.cpp - The bytes of models, for a reader ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/budget/BudgetReport.h"
#include "analysis/bytes/library/ModuleParameters.h"
#include "checks/base/Amounts.h"
#include "driver/budget/BudgetParts.h"
#include "driver/output/Report.h"
#include "driver/project/Paths.h"
#include "driver/project/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using Json = nlohmann::ordered_json;
using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::Spot;
using libtorch_tidy::bytes::TensorRow;
using llvm::StringRef;

namespace libtorch_tidy::driver {

uint64_t BudgetTotals::all() const {
  return Parameters + Buffers + Gradients + OptimizerState.value_or(0) +
         Unlisted;
}

BudgetTotals totalsOf(const ModelRows &Model, StringRef Optimizer) {
  return totalsOf(Model.Modules, Optimizer);
}

BudgetTotals totalsOf(llvm::ArrayRef<ModuleRow> Rows, StringRef Optimizer) {
  BudgetTotals Result;
  for (const ModuleRow &Row : Rows)
    for (const TensorRow &T : Row.Tensors) {
      if (Row.IsUnlisted) {
        Result.Unlisted += T.Bytes;
        continue;
      }
      (T.IsParameter ? Result.ParameterCount : Result.BufferCount) +=
          T.Elements;
      (T.IsParameter ? Result.Parameters : Result.Buffers) += T.Bytes;
      if (T.GetsGradient)
        Result.Gradients += T.Bytes;
    }
  if (std::optional<unsigned> Copies = bytes::optimizerCopies(Optimizer))
    // What gets no gradient, no step looks at.
    Result.OptimizerState = *Copies * Result.Gradients;
  return Result;
}

bytes::UnitBudget merged(llvm::ArrayRef<bytes::UnitBudget> Units) {
  using Key = std::tuple<std::string, std::string, unsigned>;
  bytes::UnitBudget Result;
  std::map<Key, size_t> Seen;
  std::set<Key> Refused;
  std::set<std::pair<std::string, unsigned>> InModels;
  for (const bytes::UnitBudget &Unit : Units) {
    for (const ModelRows &M : Unit.Models) {
      auto [It, New] = Seen.try_emplace(Key(M.Title, M.Made.File, M.Made.Line),
                                        Result.Models.size());
      if (New)
        Result.Models.push_back(M);
      else if (M.Missing.empty())
        Result.Models[It->second] = M; // Another unit may see more of it.
      for (const ModuleRow &Row : M.Modules)
        InModels.emplace(Row.Defined.File, Row.Defined.Line);
    }
    for (const std::string &Known : Unit.Known)
      if (!llvm::is_contained(Result.Known, Known))
        Result.Known.push_back(Known);
    Result.HasModel |= Unit.HasModel;
  }
  for (const bytes::UnitBudget &Unit : Units)
    for (const bytes::RefusedModel &M : Unit.Refused)
      if ((!M.IsNotMade || !InModels.count({M.Where.File, M.Where.Line})) &&
          Refused.emplace(M.Title, M.Where.File, M.Where.Line).second)
        Result.Refused.push_back(M);
  return Result;
}

static std::string relative(StringRef File, StringRef Folder) {
  return printable(relativePath(File, Folder));
}

std::string lineOf(const Spot &At, StringRef Folder) {
  return At.File.empty()
             ? ""
             : relative(At.File, Folder) + ":" + std::to_string(At.Line);
}

std::string grouped(uint64_t Number) {
  std::string Result = std::to_string(Number);
  for (size_t At = Result.size(); At > 3;)
    Result.insert(At -= 3, ",");
  return Result;
}

std::string Columns::print() const {
  std::vector<size_t> Widths(Sides.size());
  for (const Line &L : Lines)
    for (size_t I = 0; I < L.size(); ++I)
      Widths[I] = std::max(Widths[I], L[I].size());
  std::string Result;
  for (const Line &L : Lines) {
    std::string Text = " ";
    for (size_t I = 0; I < L.size(); ++I) {
      const std::string Space(Widths[I] - L[I].size(), ' ');
      Text +=
          Sides[I] == 'l' ? " " + L[I] + Space + " " : " " + Space + L[I] + " ";
    }
    Result += StringRef(Text).rtrim().str() + "\n";
  }
  return Result;
}

size_t endOfSubtree(llvm::ArrayRef<ModuleRow> Rows, size_t At) {
  size_t End = At + 1;
  while (End < Rows.size() && Rows[End].Depth > Rows[At].Depth &&
         Rows[End].IsUnlisted == Rows[At].IsUnlisted)
    ++End;
  return End;
}

std::vector<Subtree> subtrees(llvm::ArrayRef<ModuleRow> Rows) {
  std::vector<Subtree> Result(Rows.size());
  for (size_t I = Rows.size(); I--;) {
    Subtree &Own = Result[I];
    Own.IsIncomplete |= Rows[I].IsIncomplete;
    Own.Kept += Rows[I].Kept;
    for (const TensorRow &T : Rows[I].Tensors) {
      Own.Parameters += T.IsParameter ? T.Elements : 0;
      Own.Bytes += T.Bytes;
    }
    // The children are the rows after it that are one deeper.
    for (size_t J = I + 1, End = endOfSubtree(Rows, I); J < End; ++J)
      if (Rows[J].Depth == Rows[I].Depth + 1) {
        Own.Parameters += Result[J].Parameters;
        Own.Bytes += Result[J].Bytes;
        Own.Kept += Result[J].Kept;
        Own.IsIncomplete |= Result[J].IsIncomplete;
      }
  }
  return Result;
}

std::string atLeast(bool Is, const std::string &Number) {
  return Is ? ">=" + Number : Number;
}

bool hasStep(const ModelRows &Model) {
  return Model.HasStep && !Model.Step.Fails;
}

/// More rows than a reader wants; JSON has all.
static constexpr size_t MaxRows = 400;

static std::string table(const ModelRows &Model, StringRef Folder) {
  const std::vector<Subtree> Sums = subtrees(Model.Modules);
  // Module, class and place; numbers; sizes of a result.
  Columns All("lllrrrl");
  const bool HasStep = hasStep(Model);
  All.add({"module", "class", "made at", "parameters", "bytes",
           HasStep ? "kept" : "", HasStep ? "result" : ""});
  const size_t Shown = std::min(Model.Modules.size(), MaxRows);
  bool Unlisted = false;
  for (size_t I = 0; I < Shown; ++I) {
    const ModuleRow &Row = Model.Modules[I];
    if (Row.IsUnlisted && !Unlisted)
      All.add({"in no parameters():"});
    Unlisted = Row.IsUnlisted;
    Columns::Line L = {std::string(2 * size_t(Row.Depth), ' ') +
                           printable(Row.Name),
                       printable(Row.Class), lineOf(Row.Made, Folder)};
    L.resize(7);
    if (Row.IsRepeated) {
      L[2] = "the same as '" + printable(Row.SameAs) + "'";
    } else {
      L[3] = atLeast(Sums[I].IsIncomplete, grouped(Sums[I].Parameters));
      L[4] = atLeast(Sums[I].IsIncomplete, grouped(Sums[I].Bytes));
      if (HasStep) {
        L[5] = atLeast(!Model.Step.Missing.empty(), grouped(Sums[I].Kept));
        L[6] = Row.Result;
      }
    }
    All.add(std::move(L));
  }
  std::string Result = All.print();
  if (Shown < Model.Modules.size())
    Result += "  ... and " + grouped(Model.Modules.size() - Shown) +
              " more modules; --budget-format=json has all\n";
  return Result;
}

static std::string totalsText(llvm::ArrayRef<Total> Totals, bool IsIncomplete) {
  size_t NameWidth = 0, NumberWidth = 0;
  for (const Total &T : Totals) {
    NameWidth = std::max(NameWidth, T.Name.size());
    NumberWidth = std::max(NumberWidth, grouped(T.Bytes).size());
  }
  std::string Result;
  for (const Total &T : Totals) {
    const std::string Number = grouped(T.Bytes);
    Result += "  " + T.Name + std::string(NameWidth - T.Name.size(), ' ') +
              (IsIncomplete ? "  at least " : "  ") +
              std::string(NumberWidth - Number.size(), ' ') + Number + " bytes";
    if (T.Bytes >= 1024)
      Result += "  (" + readableBytes(T.Bytes) + ")";
    Result += (T.Note.empty() ? "" : "  " + T.Note) + "\n";
  }
  return Result;
}

std::vector<Total> modelTotals(const ModelRows &Model,
                               const BudgetOptions &Options) {
  const BudgetTotals Sums = totalsOf(Model, Options.Optimizer);
  std::vector<Total> Totals = {
      {"parameters", Sums.Parameters, "", Total::Parameters},
      {"buffers", Sums.Buffers, "", Total::Buffers},
      {"gradients", Sums.Gradients, "", Total::Gradients}};
  if (Sums.OptimizerState)
    Totals.push_back({"state of " + Options.Optimizer, *Sums.OptimizerState, "",
                      Total::State});
  if (Sums.Unlisted)
    Totals.push_back(
        {"in no parameters()", Sums.Unlisted, "", Total::Unlisted});
  Totals.push_back({"together", Sums.all()});
  return Totals;
}

std::string missingText(llvm::ArrayRef<bytes::MissingRow> Missing,
                        StringRef Folder) {
  std::string Result;
  constexpr size_t MaxMissing = 40;
  for (const bytes::MissingRow &M : Missing.take_front(MaxMissing)) {
    const std::string Where = lineOf(M.Where, Folder);
    Result +=
        "    " + (Where.empty() ? "" : Where + ": ") + printable(M.Text) + "\n";
  }
  if (Missing.size() > MaxMissing)
    Result += "    ... and " + grouped(Missing.size() - MaxMissing) + " more\n";
  return Result;
}

std::string placeOf(const bytes::PeakRow &Peak, StringRef Folder) {
  if (Peak.IsOptimizer)
    return "in the optimizer's step";
  const std::string Line = lineOf(Peak.Where, Folder);
  if (Line.empty())
    return "";
  const std::string At =
      Peak.Module.empty() ? Line : printable(Peak.Module) + " (" + Line + ")";
  return (Peak.IsBackward ? "in the backward pass of " : "in ") + At;
}

std::string batchSentence(int64_t Largest, const BudgetOptions &Options) {
  const std::string Memory = readableBytes(Options.Memory);
  if (Largest < 0)
    return "Which batch fits into " + Memory +
           " is not known: not all of them can be followed.";
  if (Largest == 0)
    return "Not even a batch of 1 fits into " + Memory + ".";
  if (Largest == bytes::StepRows::AnyBatch)
    return "Every batch fits into " + Memory + ".";
  return "The largest batch whose steps fit into " + Memory + " is " +
         grouped(static_cast<uint64_t>(Largest)) + ".";
}

std::string modelTitle(const ModelRows &Model, const BudgetOptions &Options) {
  return printable(Model.Title) +
         (Options.Type.empty() ? "" : ", converted to " + Options.Type);
}

std::string stepSentence(const bytes::StepRows &Step,
                         const BudgetOptions &Options, StringRef Folder) {
  const std::string From = lineOf(Step.InputFrom, Folder);
  const std::string Input = printable(llvm::join(Step.InputTexts, ", "));
  std::string Result = "A step with " + (From.empty() ? "an input of " + Input
                                                      : "the input of " + From +
                                                            ", " + Input + ",");
  if (!Options.Autocast.empty())
    Result += (From.empty() ? ", with autocast to " : " with autocast to ") +
              Options.Autocast + ",";
  if (Step.Fails)
    return Result + " fails:";
  return Result + (Step.Result.empty() ? "." : " gives " + Step.Result + ".");
}

std::vector<Total> stepTotals(const bytes::StepRows &Step, StringRef Folder) {
  auto Peak = [&](StringRef Name, const bytes::PeakRow &P) {
    return Total{Name.str(), P.Bytes, placeOf(P, Folder)};
  };
  std::vector<Total> Result = {Total{"kept for backward", Step.Kept},
                               Peak("peak of inference", Step.Inference),
                               Peak("the same, unguarded", Step.Unguarded),
                               Peak("peak of the first step", Step.FirstStep),
                               Peak("peak of later steps", Step.LaterSteps)};
  if (Step.ReservedByInference)
    Result.push_back({"reserved by inference", Step.ReservedByInference});
  if (Step.ReservedByTraining)
    Result.push_back({"reserved by training", Step.ReservedByTraining});
  return Result;
}

static std::string stepText(const bytes::StepRows &Step,
                            const BudgetOptions &Options, StringRef Folder) {
  const bool IsIncomplete = !Step.Missing.empty();
  std::string Result = "  " + stepSentence(Step, Options, Folder) + "\n";
  if (Step.Fails)
    return Result +
           missingText(llvm::ArrayRef(Step.Missing).take_back(), Folder);
  if (Options.Device == bytes::DeviceKind::Cuda)
    Result += ("  " + EstimateSentence + "\n").str();
  Result += "\n" + totalsText(stepTotals(Step, Folder), IsIncomplete);
  if (Options.Memory && !IsIncomplete)
    Result += "\n  " + batchSentence(Step.LargestBatch, Options) + "\n";
  if (IsIncomplete)
    Result += "\n  not known of the step, and left out:\n" +
              missingText(Step.Missing, Folder);
  return Result;
}

std::string refusedText(const bytes::RefusedModel &M, const std::string &When,
                        StringRef Folder) {
  const std::string Where = lineOf(M.Where, Folder);
  return "  " + printable(M.Title) + When + ": " +
         (Where.empty() ? "" : Where + ": ") + printable(M.Reason) + "\n";
}

std::string budgetAsText(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options, StringRef Folder) {
  std::string Result;
  for (const ModelRows &Model : Budget.Models) {
    if (!Result.empty())
      Result += "\n";
    Result += modelTitle(Model, Options) + "\n\n" + table(Model, Folder) +
              "\n" +
              totalsText(modelTotals(Model, Options), !Model.Missing.empty());
    if (!Model.Missing.empty())
      Result += "\n  not known, and left out of the sums:\n" +
                missingText(Model.Missing, Folder);
    if (Model.HasStep)
      Result += "\n" + stepText(Model.Step, Options, Folder);
    else if (Options.Memory)
      Result += ("\n  " + NoInputSentence + "\n").str();
  }
  if (Budget.Refused.empty())
    return Result;
  if (!Result.empty())
    Result += "\n";
  Result += "Without an answer:\n";
  for (const bytes::RefusedModel &M : Budget.Refused)
    Result += refusedText(M, "", Folder);
  return Result;
}

Json asJson(const Spot &At, StringRef Folder) {
  Json Result = Json::object();
  Result["file"] = relative(At.File, Folder);
  Result["line"] = At.Line;
  return Result;
}

Json asJson(const bytes::RefusedModel &M, StringRef Folder) {
  Json Result = asJson(M.Where, Folder);
  Result["model"] = M.Title;
  Result["reason"] = M.Reason;
  return Result;
}

static Json asJson(const TensorRow &T) {
  Json Result = {{"name", T.Name},
                 {"kind", T.IsParameter ? "parameter" : "buffer"}};
  if (T.IsParameter)
    Result["gradient"] = T.GetsGradient;
  Result["shape"] = nullptr;
  if (T.HasShape) {
    Result["shape"] = Json::array();
    for (const int64_t Size : T.Shape)
      Result["shape"].push_back(Size < 0 ? Json(nullptr) : Json(Size));
  }
  Result["dtype"] = T.Type.empty() ? Json(nullptr) : Json(T.Type);
  Result["bytes"] = T.IsKnown ? Json(T.Bytes) : Json(nullptr);
  return Result;
}

static Json asJson(llvm::ArrayRef<bytes::MissingRow> Missing,
                   StringRef Folder) {
  Json Result = Json::array();
  for (const bytes::MissingRow &M : Missing) {
    Json Each = asJson(M.Where, Folder);
    Each["text"] = M.Text;
    Result.push_back(std::move(Each));
  }
  return Result;
}

static Json asJson(const bytes::PeakRow &Peak, StringRef Folder) {
  Json Result = {{"bytes", Peak.Bytes}};
  if (Peak.IsOptimizer)
    Result["optimizer"] = true;
  if (Peak.Where.File.empty())
    return Result;
  Result.update(asJson(Peak.Where, Folder));
  Result["module"] = Peak.Module;
  Result["backward"] = Peak.IsBackward;
  return Result;
}

static Json asJson(llvm::ArrayRef<bytes::TimeRow> Line,
                   const bytes::StepRows &Step, StringRef Folder) {
  Json Result = Json::array();
  for (const bytes::TimeRow &Point : Line) {
    Json Each = {{"most", Point.Most}, {"after", Point.After}};
    const bytes::PlaceRow &Place = Step.Places[Point.Place];
    if (!Place.Where.File.empty()) {
      Each.update(asJson(Place.Where, Folder));
      Each["module"] = Place.Module;
      Each["backward"] = Point.IsBackward;
    }
    Result.push_back(std::move(Each));
  }
  return Result;
}

static Json asJson(const bytes::StepRows &Step, const BudgetOptions &Options,
                   StringRef Folder) {
  Json Result = {
      {"input", Step.InputTexts},
      {"result", Step.Result},
      {"exact", Step.Missing.empty()},
      {"fails", Step.Fails},
      {"device", Options.Device == bytes::DeviceKind::Cuda ? "cuda" : "cpu"}};
  if (!Options.Autocast.empty())
    Result["autocast"] = Options.Autocast;
  if (!Step.InputFrom.File.empty())
    Result["inputAt"] = asJson(Step.InputFrom, Folder);
  Result["missing"] = asJson(Step.Missing, Folder);
  if (Step.Fails)
    return Result;
  Result["inputs"] = {{"bytes", Step.Inputs}};
  Result["kept"] = {{"bytes", Step.Kept}};
  Result["inference"] = asJson(Step.Inference, Folder);
  Result["unguarded"] = asJson(Step.Unguarded, Folder);
  Result["firstStep"] = asJson(Step.FirstStep, Folder);
  Result["laterSteps"] = asJson(Step.LaterSteps, Folder);
  if (Step.ReservedByTraining)
    Result["reserved"] = {{"inference", {{"bytes", Step.ReservedByInference}}},
                          {"training", {{"bytes", Step.ReservedByTraining}}}};
  Result["timeLines"] = {
      {"inference", asJson(Step.InferenceLine, Step, Folder)},
      {"laterSteps", asJson(Step.LaterLine, Step, Folder)}};
  if (Options.Memory)
    Result["largestBatch"] =
        Step.LargestBatch < 0 ? Json(nullptr) : Json(Step.LargestBatch);
  return Result;
}

Json asJson(const ModelRows &Model, const BudgetOptions &Options,
            StringRef Folder) {
  const BudgetTotals Sums = totalsOf(Model, Options.Optimizer);
  Json Result = asJson(Model.Made, Folder);
  Result["model"] = Model.Title;
  if (!Options.Type.empty())
    Result["convertedTo"] = Options.Type;
  Result["exact"] = Model.Missing.empty();
  Result["parameters"] = {{"count", Sums.ParameterCount},
                          {"bytes", Sums.Parameters}};
  Result["buffers"] = {{"count", Sums.BufferCount}, {"bytes", Sums.Buffers}};
  Result["gradients"] = {{"bytes", Sums.Gradients}};
  if (Sums.OptimizerState)
    Result["optimizer"] = {{"name", Options.Optimizer},
                           {"bytes", *Sums.OptimizerState}};
  Result["unlisted"] = {{"bytes", Sums.Unlisted}};
  Result["together"] = {{"bytes", Sums.all()}};
  Result["modules"] = Json::array();
  for (const ModuleRow &Row : Model.Modules) {
    Json Module = asJson(Row.Made, Folder);
    Module["path"] = Row.Path;
    Module["class"] = Row.Class;
    if (!Row.Defined.File.empty())
      Module["classAt"] = asJson(Row.Defined, Folder);
    if (Row.IsRepeated) {
      Module["sameAs"] = Row.SameAs;
    } else {
      Module["exact"] = !Row.IsIncomplete;
      Module["listed"] = !Row.IsUnlisted;
      Module["tensors"] = Json::array();
      for (const TensorRow &T : Row.Tensors)
        Module["tensors"].push_back(asJson(T));
      if (hasStep(Model)) {
        Module["kept"] = {{"bytes", Row.Kept}};
        Module["result"] = Row.Result;
      }
    }
    Result["modules"].push_back(std::move(Module));
  }
  Result["missing"] = asJson(Model.Missing, Folder);
  if (Model.HasStep)
    Result["step"] = asJson(Model.Step, Options, Folder);
  return Result;
}

std::string budgetAsJson(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options, StringRef Folder) {
  Json Result = {{"version", 1}};
  Result["models"] = Json::array();
  for (const ModelRows &Model : Budget.Models)
    Result["models"].push_back(asJson(Model, Options, Folder));
  Result["unanswered"] = Json::array();
  for (const bytes::RefusedModel &M : Budget.Refused)
    Result["unanswered"].push_back(asJson(M, Folder));
  // Names of files and of modules can hold any bytes.
  return Result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace libtorch_tidy::driver
