//===- BudgetDiff.cpp - What a change does to the bytes of models ---------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/budget/BudgetDiff.h"
#include "checks/base/Amounts.h"
#include "driver/budget/BudgetChange.h"
#include "driver/budget/BudgetParts.h"
#include "driver/project/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;
using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::RefusedModel;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::driver {

static std::string signedNumber(int64_t Number) {
  if (Number == 0)
    return "0";
  return (Number < 0 ? "-" : "+") + grouped(uint64_t(std::abs(Number)));
}

/// "up4.conv (net.cpp:12)"
static std::string nameOf(const ModuleChange &C, StringRef Folder) {
  const ModuleRow &Row = C.row();
  std::string Result =
      Row.Path.empty() ? "the model itself" : printable(Row.Path);
  if (!C.After)
    return Result + " (removed)";
  const std::string Line = lineOf(Row.Made, Folder);
  return Line.empty() ? Result : Result + " (" + Line + ")";
}

/// "; 700.1 MB of it in up4.conv (net.cpp:12)": the module that does most of
/// \p All. Of what is kept, some may be free again at the peak.
static std::string mostOf(int64_t All, llvm::ArrayRef<ModuleChange> Modules,
                          StringRef Folder) {
  auto Most = llvm::find_if(Modules, [&](const ModuleChange &C) {
    return C.Part != 0 && (C.Part > 0) == (All > 0);
  });
  if (Most == Modules.end())
    return "";
  const std::string Size = readableBytes(uint64_t(std::abs(Most->Part)));
  if (std::abs(Most->Part) <= std::abs(All) && !Most->kept())
    return "; " + Size + " of it in " + nameOf(*Most, Folder);
  return "; " + nameOf(*Most, Folder) + " holds " + Size +
         (All > 0 ? " more" : " less");
}

/// "at least 4.9 KB"
static std::string sizeOf(const ModelRows &Model, uint64_t Bytes) {
  return (isExact(Model) ? "" : "at least ") + readableBytes(Bytes);
}

/// The model, where words about it follow.
static std::string subject(const ModelRows &Model,
                           const BudgetOptions &Options) {
  return modelTitle(Model, Options) + (Options.Type.empty() ? "" : ",");
}

/// That figures of steps, if any, are not about the same input.
static std::string inputRemark(const ModelPair &P) {
  if (!inputsDiffer(P))
    return "";
  return !P.Before->HasStep  ? "; an input is known only now"
         : !P.After->HasStep ? "; no input is known now"
                             : "; the inputs differ";
}

/// The first line about a model that both sides have.
static std::string firstLine(const ModelPair &P, llvm::ArrayRef<Figure> Figures,
                             llvm::ArrayRef<ModuleChange> Modules,
                             const BudgetOptions &Options, StringRef Folder) {
  const std::string Before =
      P.Before->Title == P.After->Title
          ? ""
          : " (before: " + printable(P.Before->Title) + ")";
  const bool Exact = isExact(*P.Before) && isExact(*P.After);
  if (!hasChanged(P, Figures, Modules))
    return subject(*P.After, Options) + Before + " does not change" +
           (Exact ? "" : ", as far as it is known") +
           (P.After->HasStep && P.After->Step.Fails ? "; its step fails" : "") +
           inputRemark(P);
  std::string Result = modelTitle(*P.After, Options) + Before + ": ";
  const bool Steps = haveSteps(P);
  const Figure &Main = *llvm::find_if(Figures, [&](const Figure &F) {
    return F.Name == (Steps ? "peak of later steps" : "together");
  });
  const int64_t All = Main.difference();
  if (stepsDiffer(P)) {
    Result += P.After->Step.Fails ? "the step fails with this change"
                                  : "the step no longer fails";
    if (All == 0)
      return Result + inputRemark(P);
    Result += "; ";
  }
  // What is left out of one side can be more than the difference.
  if (!Exact)
    return Result + "what this change does is not known exactly: " +
           sizeOf(*P.Before, Main.Before) + " before, and " +
           sizeOf(*P.After, Main.After) + " now" +
           (Steps ? ", at the peak of later steps" : "") + inputRemark(P);
  if (All == 0)
    return Result + "this change leaves the " +
           (Steps ? "peak of later steps" : "total") + " as it is" +
           inputRemark(P);
  Result += All > 0 ? "this change adds " : "this change saves ";
  Result += readableBytes(uint64_t(std::abs(All)));
  if (Steps)
    Result +=
        All > 0 ? " to the peak of later steps" : " at the peak of later steps";
  return Result + mostOf(All, Modules, Folder) + inputRemark(P);
}

static std::string figuresText(const ModelPair &P,
                               llvm::ArrayRef<Figure> Figures) {
  Columns All("lrrrl");
  All.add({"", "before", "after", "change"});
  const size_t OfModel =
      llvm::find_if(Figures,
                    [](const Figure &F) { return F.Name == "together"; }) -
      Figures.begin();
  for (size_t I = 0; I < Figures.size(); ++I) {
    const Figure &F = Figures[I];
    auto IsLess = [&](const ModelRows &M) {
      return I <= OfModel ? !M.Missing.empty() : !isExact(M);
    };
    All.add({F.Name, atLeast(IsLess(*P.Before), grouped(F.Before)),
             atLeast(IsLess(*P.After), grouped(F.After)),
             signedNumber(F.difference()), F.Note});
  }
  return All.print();
}

static std::string modulesText(const ModelPair &P,
                               llvm::ArrayRef<ModuleChange> Modules,
                               StringRef Folder) {
  // More than a reader wants; JSON has all.
  constexpr size_t MaxRows = 100;
  const bool Steps = haveSteps(P);
  Columns All(Steps ? "lllrrrrl" : "lllrrl");
  Columns::Line Head = {"module", "class", "made at", "bytes", "change"};
  if (Steps)
    llvm::append_range(Head, std::vector<std::string>{"kept", "change"});
  All.add(std::move(Head));
  for (const ModuleChange &C : Modules.take_front(MaxRows)) {
    const ModuleRow &Row = C.row();
    Columns::Line L = {Row.Path.empty() ? printable(Row.Name)
                                        : printable(Row.Path),
                       printable(Row.Class), lineOf(Row.Made, Folder),
                       atLeast(C.IsIncomplete, grouped(C.BytesAfter)),
                       signedNumber(C.bytes())};
    if (C.Before && C.After && C.Before->Class != C.After->Class)
      L[1] += ", was " + printable(C.Before->Class);
    if (Steps) {
      L.push_back(grouped(C.KeptAfter));
      L.push_back(signedNumber(C.kept()));
    }
    if (!C.Before || !C.After)
      L.push_back(!C.Before
                      ? P.Before->Missing.empty() ? "added" : "not known before"
                  : P.After->Missing.empty() ? "removed"
                                             : "not known now");
    All.add(std::move(L));
  }
  std::string Result = All.print();
  if (Modules.size() > MaxRows)
    Result += "  ... and " + grouped(Modules.size() - MaxRows) +
              " more modules; --budget-format=json has all\n";
  return Result;
}

/// With which inputs, and which batch fits. \p Changed: the figures of steps
/// are there.
static std::string stepsText(const ModelPair &P, const BudgetSides &Sides,
                             bool Changed, const BudgetOptions &Options,
                             StringRef Folder) {
  const bool HasBoth = P.Before && P.After;
  const bool Differ = !HasBoth || inputsDiffer(P);
  const std::string Then = "In " + printable(Sides.Revision) + ": ";
  std::string Result;
  auto Add = [&](const ModelRows *M, const Twine &Sentence) {
    Result += ("  " + (M == P.Before ? Then : "") + Sentence + "\n").str();
  };
  for (const ModelRows *M : {P.After, P.Before}) {
    if (!M)
      continue;
    if (M->HasStep) {
      const bool IsPassed = M == P.After && !M->Step.InputFrom.File.empty();
      if (M->Step.Fails || Differ || (Changed && IsPassed))
        Add(M, stepSentence(M->Step, Options, Folder));
      if (M->Step.Fails)
        Result +=
            missingText(llvm::ArrayRef(M->Step.Missing).take_back(), Folder);
    } else if (Options.Memory && (Differ || M == P.After)) {
      Add(M, NoInputSentence);
    } else if (HasBoth && Differ) {
      Add(M, "Nothing passes an input whose sizes are known.");
    }
  }
  const ModelRows &One = P.After ? *P.After : *P.Before;
  if (!Changed || !(HasBoth ? haveSteps(P) : hasStep(One)))
    return Result;
  if (Options.Device == bytes::DeviceKind::Cuda)
    Result += ("  " + EstimateSentence + "\n").str();
  if (!Options.Memory || !isExact(One) || (HasBoth && !isExact(*P.Before)))
    return Result;
  Add(&One, batchSentence(One.Step.LargestBatch, Options));
  if (HasBoth && P.Before->Step.LargestBatch != One.Step.LargestBatch)
    Add(P.Before, batchSentence(P.Before->Step.LargestBatch, Options));
  return Result;
}

/// About the steps, and what is not known of either side.
static std::string notesText(const ModelPair &P, const BudgetSides &Sides,
                             bool Changed, const BudgetOptions &Options,
                             StringRef Folder) {
  std::string Result = stepsText(P, Sides, Changed, Options, Folder);
  if (!Result.empty())
    Result = "\n" + Result;
  for (const ModelRows *M : {P.Before, P.After}) {
    if (!M)
      continue;
    std::vector<bytes::MissingRow> Missing = M->Missing;
    if (hasStep(*M))
      llvm::append_range(Missing, M->Step.Missing);
    if (!Missing.empty())
      Result += "\n  not known " +
                (M == P.Before ? "in " + printable(Sides.Revision) : "now") +
                ", and left out:\n" + missingText(Missing, Folder);
  }
  return Result;
}

/// "4.9 KB, and 2.4 MB at the peak of later steps"
static std::string sizesOf(const ModelRows &Model,
                           const BudgetOptions &Options) {
  std::string Result = (Model.Missing.empty() ? "" : "at least ") +
                       readableBytes(totalsOf(Model, Options.Optimizer).all());
  if (hasStep(Model))
    Result += ", and " + sizeOf(Model, Model.Step.LaterSteps.Bytes) +
              " at the peak of later steps";
  return Result;
}

/// The constructors that the class of \p Model has now.
static std::string constructorsOf(const ModelRows &Model,
                                  const bytes::UnitBudget &Now) {
  std::string Result;
  const std::string Class = classOf(Model).str();
  for (StringRef Known : Now.Known) {
    StringRef Name = Known.split('(').first;
    if (Name == Class || Name.ends_with("::" + Class))
      Result += (Result.empty() ? "" : ", ") + Known.str();
  }
  return Result;
}

/// A model that one side lacks.
static std::string oneSideText(const ModelPair &P, const BudgetSides &Sides,
                               const BudgetOptions &Options) {
  const std::string Then = printable(Sides.Revision);
  const ModelRows &Model = P.After ? *P.After : *P.Before;
  std::string Result = modelTitle(Model, Options);
  std::string Size = sizesOf(Model, Options);
  if (Model.HasStep && Model.Step.Fails)
    Size += P.After ? "; its step fails" : "; its step failed";
  if (P.RefusedBefore) {
    Result += ": in " + Then + ", " + printable(P.RefusedBefore->Reason);
    if (std::string Now = constructorsOf(Model, Sides.After); !Now.empty())
      Result += "; now there are: " + printable(Now);
    return Result + "; it takes " + Size + "\n";
  }
  if (P.RefusedAfter)
    return Result + ": " + printable(P.RefusedAfter->Reason) + "; in " + Then +
           " it took " + Size + "\n";
  if (P.After && Sides.LacksBefore)
    return Result + ": what it took in " + Then + " is not known; it takes " +
           Size + "\n";
  if (!P.After && Sides.LacksAfter)
    return Result + ": what it takes is not known; in " + Then + " it took " +
           Size + "\n";
  return subject(Model, Options) +
         (P.After ? " is new: it takes " : " is gone: it took ") + Size + "\n";
}

/// The refusals that no model of the other side answers. Of those of before
/// only what is not refused now.
static std::vector<const RefusedModel *>
refusalsOf(llvm::ArrayRef<RefusedModel> All, llvm::ArrayRef<ModelPair> Pairs,
           llvm::ArrayRef<RefusedModel> Without = {}) {
  std::vector<const RefusedModel *> Result;
  for (const RefusedModel &M : All)
    if (llvm::none_of(Pairs,
                      [&](const ModelPair &P) {
                        return P.RefusedBefore == &M || P.RefusedAfter == &M;
                      }) &&
        llvm::none_of(Without, [&](const RefusedModel &Other) {
          return Other.Title == M.Title;
        }))
      Result.push_back(&M);
  return Result;
}

static std::string changeAsText(const BudgetSides &Sides,
                                const BudgetOptions &Options,
                                StringRef Folder) {
  std::string Result;
  const std::vector<ModelPair> Pairs = pairsOf(Sides);
  for (const ModelPair &P : Pairs) {
    if (!Result.empty())
      Result += "\n";
    if (!P.Before || !P.After) {
      Result += oneSideText(P, Sides, Options) +
                notesText(P, Sides, /*Changed=*/true, Options, Folder);
      continue;
    }
    const std::vector<Figure> Figures = figuresOf(P, Options, Folder);
    const std::vector<ModuleChange> Modules = modulesOf(P, Options);
    Result += firstLine(P, Figures, Modules, Options, Folder) + "\n";
    const bool Changed = hasChanged(P, Figures, Modules);
    if (Changed)
      Result += "\n" + figuresText(P, Figures);
    if (!Modules.empty())
      Result += "\n" + modulesText(P, Modules, Folder);
    Result += notesText(P, Sides, Changed, Options, Folder);
  }
  std::string Refused;
  for (const RefusedModel *M : refusalsOf(Sides.After.Refused, Pairs))
    Refused += refusedText(*M, "", Folder);
  for (const RefusedModel *M :
       refusalsOf(Sides.Before.Refused, Pairs, Sides.After.Refused))
    Refused += refusedText(*M, " in " + printable(Sides.Revision), Folder);
  if (!Refused.empty())
    Result += (Result.empty() ? "" : "\n") +
              std::string("Without an answer:\n") + Refused;
  return Result;
}

/// The sums of a model, without its modules.
static Json sideAsJson(const ModelRows *Model, const BudgetOptions &Options,
                       StringRef Folder) {
  if (!Model)
    return nullptr;
  Json Result = asJson(*Model, Options, Folder);
  Result.erase("modules");
  if (Result.contains("step"))
    Result["step"].erase("timeLines");
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
  Result.update(asJson(Row.Made, Folder));
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
  Json Result = {{"model", P.After ? P.After->Title : P.Before->Title}};
  Json Modules = Json::array(), Difference = nullptr;
  std::string Change;
  const Json Before = sideAsJson(P.Before, Options, Folder),
             After = sideAsJson(P.After, Options, Folder);
  if (P.Before && P.After) {
    const std::vector<ModuleChange> Rows = modulesOf(P, Options);
    Change =
        hasChanged(P, figuresOf(P, Options, Folder), Rows) ? "changed" : "same";
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
  Result["change"] = Change;
  Result["exact"] =
      (!P.Before || isExact(*P.Before)) && (!P.After || isExact(*P.After));
  Result["before"] = Before;
  Result["after"] = After;
  Result["difference"] = std::move(Difference);
  Result["modules"] = std::move(Modules);
  return Result;
}

static std::string changeAsJson(const BudgetSides &Sides,
                                const BudgetOptions &Options,
                                StringRef Folder) {
  Json Result = {
      {"version", 1}, {"revision", Sides.Revision}, {"commit", Sides.Commit}};
  const std::vector<ModelPair> Pairs = pairsOf(Sides);
  Result["models"] = Json::array();
  for (const ModelPair &P : Pairs)
    Result["models"].push_back(asJson(P, Sides, Options, Folder));
  Result["unanswered"] = Json::array();
  auto Add = [&](const RefusedModel &M, bool IsBefore) {
    Json Each = asJson(M, Folder);
    Each["before"] = IsBefore;
    Result["unanswered"].push_back(std::move(Each));
  };
  for (const RefusedModel *M : refusalsOf(Sides.After.Refused, Pairs))
    Add(*M, false);
  for (const RefusedModel *M :
       refusalsOf(Sides.Before.Refused, Pairs, Sides.After.Refused))
    Add(*M, true);
  Result["unknown"] = Sides.Unknown;
  // Names of files and of modules can hold any bytes.
  return Result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string changeReport(const BudgetSides &Sides, const BudgetOptions &Options,
                         StringRef Folder) {
  return Options.Format == BudgetFormat::Json
             ? changeAsJson(Sides, Options, Folder)
             : changeAsText(Sides, Options, Folder);
}

} // namespace libtorch_tidy::driver
