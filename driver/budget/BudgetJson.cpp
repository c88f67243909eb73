//===- BudgetJson.cpp - The bytes of models, for a program ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/budget/Document.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::Spot;
using libtorch_tidy::bytes::TensorRow;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// Raised when a program that reads reports would misread a new one.
static constexpr unsigned ReportVersion = 1;

static const char *nameOf(bytes::DeviceKind Device) {
  switch (Device) {
  case bytes::DeviceKind::Cpu:
    return "cpu";
  case bytes::DeviceKind::CpuOneDnn:
    return "onednn";
  case bytes::DeviceKind::Cuda:
    return "cuda";
  }
  llvm_unreachable("there is no other device");
}

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

static const char *nameOf(Bound Says) {
  return Says == Bound::Exact      ? "exact"
         : Says == Bound::AtLeast  ? "at least"
         : Says == Bound::AtMost   ? "at most"
         : Says == Bound::Estimate ? "estimate"
                                   : "unknown";
}

static Json asJson(const ModelRows &Model, const bytes::StepRows &Step,
                   const BudgetOptions &Options, StringRef Folder,
                   bool WithLines) {
  const bool IsEstimate = !estimateSentence(Options.Device).empty();
  Json Result = {{"input", Step.InputTexts},
                 {"result", Step.Result},
                 {"exact", Step.bound() == Bound::Exact && !IsEstimate},
                 {"fails", Step.Fails},
                 {"device", nameOf(Options.Device)}};
  if (!Step.LibTorch.empty())
    Result["libtorch"] = Step.LibTorch;
  if (!Step.Autocast.empty())
    Result["autocast"] = Step.Autocast;
  if (!Step.InputFrom.File.empty())
    Result["inputAt"] = placed(Step.InputFrom, Folder);
  if (!Step.LossAt.File.empty())
    Result["lossAt"] = placed(Step.LossAt, Folder);
  if (!Step.LeftOut.empty())
    Result[Step.LossAt.File.empty() ? "lossMissing" : "leftOut"] =
        asJson(Step.LeftOut, Folder);
  Result["missing"] = asJson(Step.Missing, Folder);
  Result["atMost"] = asJson(Step.AtMost, Folder);
  Result["estimated"] = asJson(Step.Estimated, Folder);
  if (Step.Fails)
    return Result;
  const Bound Says = stepBoundOf(Model);
  Result["figures"] =
      Says == Bound::Exact && IsEstimate ? "estimate" : nameOf(Says);
  if (trainingBoundOf(Model) != stepBoundOf(Model))
    Result["training"] = nameOf(trainingBoundOf(Model));
  if (!Step.Unreached.empty())
    Result["unreached"] = asJson(Step.Unreached, Folder);
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
    Result.update(
        {{"memory", Options.Memory},
         {"largestBatch",
          Step.Batch.Largest < 0 ? Json(nullptr) : Json(Step.Batch.Largest)}});
  for (const bytes::BatchRow::Remedy &R : Step.Batch.Remedies)
    Result["remedies"].push_back(
        {{"with", R.Option.empty() ? "accumulation" : R.Option},
         {"largestBatch", R.Largest}});
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
  if (!Model.Archive.File.empty())
    Result["archive"] = printable(relativePath(Model.Archive.File, Folder));
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
    Result["step"] = asJson(Model, Model.Step, Options, Folder, WithRows);
  else if (WithRows)
    Result["noStep"] = noStepSentence(Model, Options, Folder);
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
  auto Figures = [&](auto Bytes, auto Kept) {
    Json Each = {{"bytes", Bytes}};
    if (Steps)
      Each["kept"] = Kept;
    return Each;
  };
  Result["before"] =
      C.Before ? Figures(C.Then.Bytes, C.Then.Kept) : Json(nullptr);
  Result["after"] = C.After ? Figures(C.Now.Bytes, C.Now.Kept) : Json(nullptr);
  Result["difference"] = Figures(C.bytes(), C.kept());
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
      Modules.push_back(asJson(C, P.haveSteps(), Folder));
    Difference = differenceOf(Before, After);
  } else if (P.Refused) {
    Change = "refused";
    Result["reason"] = P.Refused->Reason;
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

std::string budgetReport(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options, const Failures &Trouble,
                         StringRef Folder) {
  if (Options.Format == BudgetFormat::Text)
    return asText(documentOf(Budget, Options, Folder));
  Json Result = {{"version", ReportVersion},
                 {"models", Json::array()},
                 {"unanswered", Json::array()}};
  for (const ModelRows &Model : Budget.Models)
    Result["models"].push_back(
        asJson(Model, Options, Folder, /*WithRows=*/true));
  for (const bytes::RefusedModel &M : Budget.Refused)
    Result["unanswered"].push_back(asJson(M, Folder));
  for (const auto &[Name, Value] : Options.Given)
    Result["set"][Name] = Value;
  for (const std::string &Name : Budget.Names)
    if (!Result.contains("set") || !Result["set"].contains(Name))
      Result["notSet"].push_back(Name);
  for (const auto &[File, Reason] : Trouble)
    Result["notRead"].push_back(
        {{"file", printable(relativePath(File, Folder))}, {"reason", Reason}});
  return written(Result, 2) + "\n";
}

std::string budgetReport(const BudgetSides &Sides, const BudgetOptions &Options,
                         StringRef Folder) {
  if (Options.Format == BudgetFormat::Text)
    return asText(documentOf(Sides, Options, Folder));
  Json Result = {{"version", ReportVersion},
                 {"against", Sides.Against},
                 {"models", Json::array()},
                 {"unanswered", Json::array()}};
  const std::vector<ModelPair> Pairs = pairsOf(Sides, Folder);
  for (const ModelPair &P : Pairs)
    Result["models"].push_back(asJson(P, Sides, Options, Folder));
  for (const Refusal &R : refusalsOf(Sides, Pairs)) {
    Json Each = asJson(*R.Model, Folder);
    Each["before"] = R.IsBefore;
    Result["unanswered"].push_back(std::move(Each));
  }
  return written(Result, 2) + "\n";
}

namespace {

/// Reads what asJson() has written of one side, as far as a change asks for it.
class ReportReader {
public:
  explicit ReportReader(const BudgetOptions &Options) : Options(Options) {}

  BudgetSides read(const Json &Report) {
    BudgetSides Result;
    Result.Against = Options.Against;
    Result.LacksBefore = Report.contains("notRead");
    for (const Json &Each : list(Report, "models"))
      Result.Before.Models.push_back(model(Each));
    for (const Json &Each : list(Report, "unanswered"))
      Result.Before.Refused.push_back(
          {text(Each, "model"), spot(Each), text(Each, "reason")});
    for (const auto &[Name, Value] : at(Report, {"set"}).items())
      Result.Given.emplace_back(Name, textOf(Value));
    for (const Json &Name : listOf(at(Report, {"notSet"})))
      Result.Before.Names.push_back(textOf(Name));
    return Result;
  }

  /// The first member that is missing, or of another kind than it is written;
  /// empty: there is none.
  std::string Wrong;
  /// "with --optimizer=adam", where this run has another optimizer.
  std::string Differs;

private:
  const Json &member(const Json &Of, const char *Name,
                     bool (Json::*IsRight)() const noexcept) {
    const Json &Result = at(Of, {Name});
    if (!(Result.*IsRight)() && Wrong.empty())
      Wrong = Name;
    return Result;
  }
  std::string text(const Json &Of, const char *Name) {
    return textOf(member(Of, Name, &Json::is_string));
  }
  uint64_t number(const Json &Of, const char *Name) {
    const Json &Result = member(Of, Name, &Json::is_number_unsigned);
    return Result.is_number_unsigned() ? Result.get<uint64_t>() : 0;
  }
  bool flag(const Json &Of, const char *Name) {
    return isTrue(member(Of, Name, &Json::is_boolean));
  }
  uint64_t bytesOf(const Json &Of, const char *Name) {
    return number(at(Of, {Name}), "bytes");
  }
  const Json &list(const Json &Of, const char *Name) {
    return listOf(member(Of, Name, &Json::is_array));
  }
  Spot spot(const Json &Of) {
    return {text(Of, "file"), static_cast<unsigned>(number(Of, "line"))};
  }

  /// Were figures that \p Option decides made with the same value?
  void expect(StringRef Option, const std::string &Then,
              const std::string &Now) {
    if (Then != Now && Differs.empty())
      Differs = ((Then.empty() ? "without --" : "with --") + Option +
                 (Then.empty() ? "" : "=") + Then)
                    .str();
  }

  std::vector<bytes::MissingRow> missing(const Json &Of,
                                         const char *Name = "missing") {
    std::vector<bytes::MissingRow> Result;
    for (const Json &Each : list(Of, Name))
      Result.push_back({spot(Each), text(Each, "text")});
    return Result;
  }

  bytes::PeakRow peak(const Json &Step, const char *Name) {
    const Json &Of = at(Step, {Name});
    bytes::PeakRow Result;
    Result.Bytes = number(Of, "bytes");
    Result.IsOptimizer = isTrue(at(Of, {"optimizer"}));
    if (!Of.contains("file"))
      return Result;
    Result.Where = spot(Of);
    Result.Module = text(Of, "module");
    Result.IsBackward = flag(Of, "backward");
    return Result;
  }

  bytes::StepRows step(const Json &Of) {
    bytes::StepRows Result;
    for (const Json &Input : list(Of, "input"))
      Result.InputTexts.push_back(textOf(Input));
    if (Of.contains("inputAt"))
      Result.InputFrom = spot(Of["inputAt"]);
    if (Of.contains("lossAt"))
      Result.LossAt = spot(Of["lossAt"]);
    Result.Result = printable(text(Of, "result"));
    Result.Missing = missing(Of);
    for (const char *Key : {"lossMissing", "leftOut"})
      if (Of.contains(Key))
        Result.LeftOut = missing(Of, Key);
    for (auto [Key, Rows] : {std::pair("atMost", &Result.AtMost),
                             std::pair("estimated", &Result.Estimated)})
      if (Of.contains(Key)) // Earlier reports have none.
        *Rows = missing(Of, Key);
    Result.LibTorch = printable(textOf(at(Of, {"libtorch"})));
    Result.Fails = flag(Of, "fails");
    expect("device", text(Of, "device"), nameOf(Options.Device));
    Result.Autocast = printable(textOf(at(Of, {"autocast"})));
    if (!Options.Autocast.empty()) // Else it is the program's own.
      expect("autocast", Result.Autocast, Options.Autocast);
    if (Result.Fails) {
      // The last of them says why.
      if (Result.Missing.empty() && Wrong.empty())
        Wrong = "missing";
      return Result;
    }
    auto MemoryText = [](uint64_t Bytes) {
      return Bytes ? std::to_string(Bytes) + "B" : std::string();
    };
    const uint64_t Memory = Of.contains("memory") ? number(Of, "memory") : 0;
    expect("memory", MemoryText(Memory), MemoryText(Options.Memory));
    Result.Inputs = bytesOf(Of, "inputs");
    Result.Kept = bytesOf(Of, "kept");
    Result.Inference = peak(Of, "inference");
    Result.Unguarded = peak(Of, "unguarded");
    Result.FirstStep = peak(Of, "firstStep");
    Result.LaterSteps = peak(Of, "laterSteps");
    if (const Json &Reserved = at(Of, {"reserved"}); !Reserved.is_null()) {
      Result.ReservedByInference = bytesOf(Reserved, "inference");
      Result.ReservedByTraining = bytesOf(Reserved, "training");
    }
    if (at(Of, {"largestBatch"}).is_number_unsigned())
      Result.Batch.Largest = int64_t(std::min<uint64_t>(
          number(Of, "largestBatch"), bytes::StepRows::AnyBatch));
    return Result;
  }

  TensorRow tensor(const Json &Of) {
    TensorRow Result;
    Result.IsParameter = text(Of, "kind") == "parameter";
    Result.GetsGradient = isTrue(at(Of, {"gradient"}));
    Result.IsKnown = !at(Of, {"bytes"}).is_null();
    if (Result.IsKnown)
      Result.Bytes = number(Of, "bytes");
    const Json &Shape = at(Of, {"shape"});
    Result.Elements = Shape.is_array();
    // One that is not known, or is negative, is no unsigned number.
    for (const Json &Size : listOf(Shape))
      Result.Elements *= Size.is_number_unsigned() ? Size.get<uint64_t>() : 0;
    return Result;
  }

  ModuleRow module(const Json &Of, bool HasStep) {
    ModuleRow Result;
    Result.Path = text(Of, "path");
    Result.Name = Result.Class = text(Of, "class");
    Result.Made = spot(Of);
    Result.IsRepeated = Of.contains("sameAs");
    if (Result.IsRepeated)
      return Result;
    Result.IsIncomplete = !flag(Of, "exact");
    Result.IsUnlisted = !flag(Of, "listed");
    for (const Json &Each : list(Of, "tensors"))
      Result.Tensors.push_back(tensor(Each));
    if (HasStep)
      Result.Kept = bytesOf(Of, "kept");
    return Result;
  }

  ModelRows model(const Json &Of) {
    ModelRows Result;
    Result.Title = text(Of, "model");
    Result.Made = spot(Of);
    Result.Missing = missing(Of);
    Result.Archive.File = textOf(at(Of, {"archive"}));
    expect("dtype", textOf(at(Of, {"convertedTo"})), Options.Type);
    expect("optimizer", textOf(at(Of, {"optimizer", "name"})),
           Options.Optimizer);
    if (const Json &Step = at(Of, {"step"}); !Step.is_null()) {
      Result.HasStep = true;
      Result.Step = step(Step);
    }
    // Where a module lies in the tree, its path says.
    std::map<std::pair<bool, std::string>, unsigned> Depths;
    for (const Json &Each : list(Of, "modules")) {
      ModuleRow Row = module(Each, hasStep(Result));
      // Those that are not listed come last, and the first is not repeated.
      if (Row.IsRepeated && !Result.Modules.empty())
        Row.IsUnlisted = Result.Modules.back().IsUnlisted;
      const size_t Dot = Row.Path.rfind('.');
      const auto Parent =
          Depths.find({Row.IsUnlisted,
                       Dot == Row.Path.npos ? "" : Row.Path.substr(0, Dot)});
      if (!Row.Path.empty())
        Row.Depth = Parent == Depths.end() ? 1 : Parent->second + 1;
      Depths[{Row.IsUnlisted, Row.Path}] = Row.Depth;
      Result.Modules.push_back(std::move(Row));
    }
    return Result;
  }

  const BudgetOptions &Options;
};

} // namespace

llvm::Expected<BudgetSides> readReport(const BudgetOptions &Options,
                                       llvm::vfs::FileSystem &FS) {
  llvm::Expected<Json> Report = readJson(Options.Against, FS);
  if (!Report)
    return Report.takeError();
  const std::string Name = "report '" + Options.Against + "'";
  const Json &Version = at(*Report, {"version"});
  if (!Version.is_number_unsigned())
    return makeError("malformed " + Name +
                     ": it is not one of budget --format=json");
  if (Version != ReportVersion)
    return makeError(Name + " is of version " + Version.dump() +
                     ", and this program reads version " +
                     llvm::Twine(ReportVersion));
  ReportReader Reader(Options);
  BudgetSides Result = Reader.read(*Report);
  if (!Reader.Wrong.empty())
    return makeError("malformed " + Name + ": '" + Reader.Wrong +
                     "' is missing or not as budget --format=json writes it");
  if (!Reader.Differs.empty())
    return writtenOtherwise(Options.Against, Reader.Differs);
  return Result;
}

llvm::Error writtenOtherwise(const std::string &Name, const std::string &How) {
  return makeError("report '" + Name + "' was written " + printable(How) +
                   ", which gives other figures");
}

} // namespace libtorch_tidy::driver
