//===- BudgetJson.cpp - The bytes of models, for a program ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/budget/Document.h"
#include "driver/project/Json.h"
#include "driver/project/Paths.h"
#include "driver/project/Printable.h"

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::Spot;
using libtorch_tidy::bytes::TensorRow;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// The file and the line of \p At, and \p More about it.
static Json placed(const Spot &At, StringRef Folder,
                   const Json &More = Json::object()) {
  Json Result = {{"file", printable(relativePath(At.File, Folder))},
                 {"line", At.Line}};
  Result.update(More);
  return Result;
}

static Json asJson(const bytes::RefusedModel &M, StringRef Folder) {
  return placed(M.Where, Folder, {{"model", M.Title}, {"reason", M.Reason}});
}

static Json asJson(const TensorRow &T) {
  Json Result = {{"name", T.Name},
                 {"kind", T.IsParameter ? "parameter" : "buffer"}};
  if (T.IsParameter)
    Result["gradient"] = T.GetsGradient;
  Result["shape"] = T.HasShape ? Json::array() : Json(nullptr);
  for (const int64_t Size : T.Shape)
    if (T.HasShape)
      Result["shape"].push_back(Size < 0 ? Json(nullptr) : Json(Size));
  Result["dtype"] = T.Type.empty() ? Json(nullptr) : Json(T.Type);
  Result["bytes"] = T.IsKnown ? Json(T.Bytes) : Json(nullptr);
  return Result;
}

static Json asJson(llvm::ArrayRef<bytes::MissingRow> Missing,
                   StringRef Folder) {
  Json Result = Json::array();
  for (const bytes::MissingRow &M : Missing)
    Result.push_back(placed(M.Where, Folder, {{"text", M.Text}}));
  return Result;
}

/// \p Figures, and where it is so, if that is known.
static Json figuresAt(Json Figures, const Spot &At, const std::string &Module,
                      bool IsBackward, StringRef Folder) {
  if (!At.File.empty())
    Figures.update(
        placed(At, Folder, {{"module", Module}, {"backward", IsBackward}}));
  return Figures;
}

static Json asJson(const bytes::PeakRow &Peak, StringRef Folder) {
  Json Figures = {{"bytes", Peak.Bytes}};
  if (Peak.IsOptimizer)
    Figures["optimizer"] = true;
  return figuresAt(std::move(Figures), Peak.Where, Peak.Module, Peak.IsBackward,
                   Folder);
}

static Json asJson(llvm::ArrayRef<bytes::TimeRow> Line,
                   const bytes::StepRows &Step, StringRef Folder) {
  Json Result = Json::array();
  for (const bytes::TimeRow &Point : Line) {
    const bytes::PlaceRow &Place = Step.Places[Point.Place];
    Result.push_back(figuresAt({{"most", Point.Most}, {"after", Point.After}},
                               Place.Where, Place.Module, Point.IsBackward,
                               Folder));
  }
  return Result;
}

static Json asJson(const bytes::StepRows &Step, const BudgetOptions &Options,
                   StringRef Folder, bool WithLines) {
  Json Result = {
      {"input", Step.InputTexts},
      {"result", Step.Result},
      {"exact", Step.Missing.empty()},
      {"fails", Step.Fails},
      {"device", Options.Device == bytes::DeviceKind::Cuda ? "cuda" : "cpu"}};
  if (!Options.Autocast.empty())
    Result["autocast"] = Options.Autocast;
  if (!Step.InputFrom.File.empty())
    Result["inputAt"] = placed(Step.InputFrom, Folder);
  Result["missing"] = asJson(Step.Missing, Folder);
  if (Step.Fails)
    return Result;
  Result.update({{"inputs", {{"bytes", Step.Inputs}}},
                 {"kept", {{"bytes", Step.Kept}}},
                 {"inference", asJson(Step.Inference, Folder)},
                 {"unguarded", asJson(Step.Unguarded, Folder)},
                 {"firstStep", asJson(Step.FirstStep, Folder)},
                 {"laterSteps", asJson(Step.LaterSteps, Folder)}});
  if (Step.ReservedByTraining)
    Result["reserved"] = {{"inference", {{"bytes", Step.ReservedByInference}}},
                          {"training", {{"bytes", Step.ReservedByTraining}}}};
  if (WithLines)
    Result["timeLines"] = {
        {"inference", asJson(Step.InferenceLine, Step, Folder)},
        {"laterSteps", asJson(Step.LaterLine, Step, Folder)}};
  if (Options.Memory)
    Result["largestBatch"] =
        Step.LargestBatch < 0 ? Json(nullptr) : Json(Step.LargestBatch);
  return Result;
}

static Json asJson(const ModuleRow &Row, bool HasStep, StringRef Folder) {
  Json Result =
      placed(Row.Made, Folder, {{"path", Row.Path}, {"class", Row.Class}});
  if (!Row.Defined.File.empty())
    Result["classAt"] = placed(Row.Defined, Folder);
  if (Row.IsRepeated) {
    Result["sameAs"] = Row.SameAs;
    return Result;
  }
  Result.update({{"exact", !Row.IsIncomplete},
                 {"listed", !Row.IsUnlisted},
                 {"tensors", Json::array()}});
  for (const TensorRow &T : Row.Tensors)
    Result["tensors"].push_back(asJson(T));
  if (HasStep)
    Result.update({{"kept", {{"bytes", Row.Kept}}}, {"result", Row.Result}});
  return Result;
}

/// \p WithRows: with modules and time lines.
static Json asJson(const ModelRows &Model, const BudgetOptions &Options,
                   StringRef Folder, bool WithRows) {
  const BudgetTotals Sums = totalsOf(Model.Modules, Options.Optimizer);
  Json Result = placed(Model.Made, Folder, {{"model", Model.Title}});
  if (!Options.Type.empty())
    Result["convertedTo"] = Options.Type;
  Result.update(
      {{"exact", Model.Missing.empty()},
       {"parameters",
        {{"count", Sums.ParameterCount}, {"bytes", Sums.Parameters}}},
       {"buffers", {{"count", Sums.BufferCount}, {"bytes", Sums.Buffers}}},
       {"gradients", {{"bytes", Sums.Gradients}}}});
  if (Sums.OptimizerState)
    Result["optimizer"] = {{"name", Options.Optimizer},
                           {"bytes", *Sums.OptimizerState}};
  Result.update({{"unlisted", {{"bytes", Sums.Unlisted}}},
                 {"together", {{"bytes", Sums.all()}}}});
  if (WithRows)
    Result["modules"] = Json::array();
  for (const ModuleRow &Row : Model.Modules)
    if (WithRows)
      Result["modules"].push_back(asJson(Row, hasStep(Model), Folder));
  Result["missing"] = asJson(Model.Missing, Folder);
  if (Model.HasStep)
    Result["step"] = asJson(Model.Step, Options, Folder, WithRows);
  return Result;
}

/// Differences of all that is a number of bytes on both sides.
static Json differenceOf(const Json &Before, const Json &After) {
  Json Result = Json::object();
  for (const auto &[Key, Now] : After.items()) {
    if (!Before.contains(Key))
      continue;
    const Json &Then = Before[Key];
    if (Key == "step" || Key == "reserved")
      Result[Key] = differenceOf(Then, Now);
    else if (Now.is_object() && Now.contains("bytes") && Then.is_object() &&
             Then.contains("bytes"))
      Result[Key] = {{"bytes", int64_t(Now["bytes"].get<uint64_t>() -
                                       Then["bytes"].get<uint64_t>())}};
  }
  return Result;
}

static Json asJson(const ModuleChange &C, bool Steps, StringRef Folder) {
  const ModuleRow &Row = C.row();
  Json Result = {{"path", Row.Path}, {"class", Row.Class}};
  Result.update(placed(Row.Made, Folder));
  Result["change"] = !C.Before ? "added" : !C.After ? "removed" : "changed";
  auto Side = [&](uint64_t Bytes, uint64_t Kept) {
    Json Each = {{"bytes", Bytes}};
    if (Steps)
      Each["kept"] = Kept;
    return Each;
  };
  Result["before"] =
      C.Before ? Side(C.BytesBefore, C.KeptBefore) : Json(nullptr);
  Result["after"] = C.After ? Side(C.BytesAfter, C.KeptAfter) : Json(nullptr);
  Result["difference"] = {{"bytes", C.bytes()}};
  if (Steps)
    Result["difference"]["kept"] = C.kept();
  return Result;
}

static Json asJson(const ModelPair &P, const BudgetSides &Sides,
                   const BudgetOptions &Options, StringRef Folder) {
  auto Side = [&](const ModelRows *M) {
    return M ? asJson(*M, Options, Folder, /*WithRows=*/false) : Json(nullptr);
  };
  Json Result = {{"model", P.one().Title}};
  Json Modules = Json::array(), Difference = nullptr;
  const Json Before = Side(P.Before), After = Side(P.After);
  std::string Change;
  if (P.hasBoth()) {
    const std::vector<ModuleChange> Rows = modulesOf(P, Options);
    Change = hasChanged(P, Options, Rows) ? "changed" : "same";
    for (const ModuleChange &C : Rows)
      Modules.push_back(asJson(C, haveSteps(P), Folder));
    Difference = differenceOf(Before, After);
  } else if (P.RefusedBefore || P.RefusedAfter) {
    Change = "refused";
    Result["reason"] =
        P.RefusedBefore ? P.RefusedBefore->Reason : P.RefusedAfter->Reason;
  } else if (P.After ? Sides.LacksBefore : Sides.LacksAfter) {
    Change = "unknown";
  } else {
    Change = P.After ? "added" : "removed";
  }
  Result.update({{"change", Change},
                 {"exact", (!P.Before || isExact(*P.Before)) &&
                               (!P.After || isExact(*P.After))},
                 {"before", Before},
                 {"after", After},
                 {"difference", std::move(Difference)},
                 {"modules", std::move(Modules)}});
  return Result;
}

static std::string written(const Json &Report) {
  // Names of files and of modules can hold any bytes.
  return Report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string asJson(const bytes::UnitBudget &Budget,
                   const BudgetOptions &Options, StringRef Folder) {
  Json Result = {
      {"version", 1}, {"models", Json::array()}, {"unanswered", Json::array()}};
  for (const ModelRows &Model : Budget.Models)
    Result["models"].push_back(
        asJson(Model, Options, Folder, /*WithRows=*/true));
  for (const bytes::RefusedModel &M : Budget.Refused)
    Result["unanswered"].push_back(asJson(M, Folder));
  return written(Result);
}

std::string asJson(const BudgetSides &Sides, const BudgetOptions &Options,
                   StringRef Folder) {
  Json Result = {{"version", 1},
                 {"revision", Sides.Revision},
                 {"commit", Sides.Commit},
                 {"models", Json::array()},
                 {"unanswered", Json::array()},
                 {"unknown", Sides.Unknown}};
  const std::vector<ModelPair> Pairs = pairsOf(Sides);
  for (const ModelPair &P : Pairs)
    Result["models"].push_back(asJson(P, Sides, Options, Folder));
  for (const Refusal &R : refusalsOf(Sides, Pairs)) {
    Json Each = asJson(*R.Model, Folder);
    Each["before"] = R.IsBefore;
    Result["unanswered"].push_back(std::move(Each));
  }
  return written(Result);
}

} // namespace libtorch_tidy::driver
