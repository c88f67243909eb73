//===- ChangeDocument.cpp - What a change does to models, in words --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/Amounts.h"
#include "driver/budget/Document.h"
#include "driver/project/Messages.h"

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static std::string signedNumber(int64_t Number) {
  if (Number == 0)
    return "0";
  return (Number < 0 ? "-" : "+") + grouped(magnitude(Number));
}

/// "at least 4.9 KB"
static std::string sizeOf(Bound Says, uint64_t Bytes) {
  return boundedInWords(Says, readableBytes(Bytes));
}

/// Of the figure that the first line is about.
static Bound mainBoundOf(const ModelRows &Model, bool OfStep) {
  return OfStep ? trainingBoundOf(Model) : boundOf(Model);
}

namespace {

struct Figure {
  std::string Name;
  uint64_t Before = 0, After = 0;
  std::string Note;
  int64_t difference() const { return int64_t(After - Before); }
};

/// What is said about one model.
class ChangeSection {
public:
  ChangeSection(const ModelPair &P, const BudgetSides &Sides,
                const BudgetOptions &Options, StringRef Folder)
      : P(P), Sides(Sides), Options(Options), Folder(Folder),
        Then(printable(Sides.Against)) {}

  Section make() {
    if (!P.hasBoth()) {
      saySteps();
      sayMissing();
      return {oneSide(), std::move(Blocks)};
    }
    add(modelTotals(*P.Before, Options), modelTotals(*P.After, Options));
    if (P.haveSteps())
      add(stepTotals(P.Before->Step, Folder),
          stepTotals(P.After->Step, Folder));
    Modules = modulesOf(P, Options);
    Changed = hasChanged(P, Options, Modules);
    if (Changed)
      Blocks.push_back(rowsBlock(figureTable()));
    if (!Modules.empty())
      Blocks.push_back(rowsBlock(moduleTable()));
    saySteps();
    sayMissing();
    return {firstLine(), std::move(Blocks)};
  }

private:
  /// Of all figures that one of the sides has.
  void add(const std::vector<Total> &Then, std::vector<Total> Now) {
    auto Find = [](const std::vector<Total> &All, StringRef Name) {
      return llvm::find_if(All, [&](const Total &T) { return T.Name == Name; });
    };
    for (size_t I = 0; I < Then.size(); ++I)
      if (Find(Now, Then[I].Name) == Now.end())
        Now.insert(Now.begin() + std::min(I, Now.size()), {Then[I].Name, 0});
    for (const Total &T : Now) {
      auto It = Find(Then, T.Name);
      Figures.push_back(
          {T.Name, It == Then.end() ? 0 : It->Bytes, T.Bytes, T.Note});
    }
  }

  /// The model, where words about it follow.
  std::string subject() const {
    return modelTitle(P.one(), Options) + (Options.Type.empty() ? "" : ",");
  }

  /// That figures of steps, if any, are not about the same input.
  std::string inputRemark() const {
    if (!P.inputsDiffer())
      return "";
    return !P.Before->HasStep  ? "; an input is known only now"
           : !P.After->HasStep ? "; no input is known now"
                               : "; the inputs differ";
  }

  /// "up4.conv (net.cpp:12)"
  std::string nameOf(const ModuleChange &C) const {
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
  std::string mostOf(int64_t All) const {
    auto Most = llvm::find_if(Modules, [&](const ModuleChange &C) {
      return C.Part != 0 && (C.Part > 0) == (All > 0);
    });
    if (Most == Modules.end())
      return "";
    const std::string Size = readableBytes(magnitude(Most->Part));
    if (magnitude(Most->Part) <= magnitude(All) && !Most->kept())
      return "; " + Size + " of it in " + nameOf(*Most);
    return "; " + nameOf(*Most) + " holds " + Size +
           (All > 0 ? " more" : " less");
  }

  /// The first line about a model that both sides have.
  std::string firstLine() const {
    const std::string Before =
        P.Before->Title == P.After->Title
            ? ""
            : " (before: " + printable(P.Before->Title) + ")";
    const bool Exact = isExact(*P.Before) && isExact(*P.After);
    if (!Changed)
      return subject() + Before + " does not change" +
             (Exact ? "" : ", as far as it is known") +
             (P.After->HasStep && P.After->Step.Fails ? "; its step fails"
                                                      : "") +
             inputRemark();
    std::string Result = modelTitle(*P.After, Options) + Before + ": ";
    const bool Steps = P.haveSteps();
    const Figure &Main = *llvm::find_if(Figures, [&](const Figure &F) {
      return F.Name == (Steps ? "peak of later steps" : "together");
    });
    const int64_t All = Main.difference();
    if (P.stepsDiffer()) {
      Result += P.After->Step.Fails ? "the step fails with this change"
                                    : "the step no longer fails";
      if (All == 0)
        return Result + inputRemark();
      Result += "; ";
    }
    // What is left out of one side can be more than the difference.
    if (!Exact)
      return Result + "what this change does is not known exactly: " +
             sizeOf(mainBoundOf(*P.Before, Steps), Main.Before) +
             " before, and " +
             sizeOf(mainBoundOf(*P.After, Steps), Main.After) + " now" +
             (Steps ? ", at the peak of later steps" : "") + inputRemark();
    if (All == 0)
      return Result + "this change leaves the " +
             (Steps ? "peak of later steps" : "total") + " as it is" +
             inputRemark();
    Result += All > 0 ? "this change adds " : "this change saves ";
    Result += readableBytes(magnitude(All));
    if (Steps)
      Result += All > 0 ? " to the peak of later steps"
                        : " at the peak of later steps";
    return Result + mostOf(All) + inputRemark();
  }

  std::string oneSide() const {
    const ModelRows &Model = P.one();
    // "4.9 KB, and 2.4 MB at the peak of later steps"
    std::string Size = sizeOf(boundOf(Model),
                              totalsOf(Model.Modules, Options.Optimizer).all());
    if (hasStep(Model))
      Size += ", and " +
              sizeOf(trainingBoundOf(Model), Model.Step.LaterSteps.Bytes) +
              " at the peak of later steps";
    if (Model.HasStep && Model.Step.Fails)
      Size += P.After ? "; its step fails" : "; its step failed";
    const std::string Title = modelTitle(Model, Options);
    const std::string Known =
        P.After ? "; it takes " + Size : "; in " + Then + " it took " + Size;
    if (P.Refused)
      return Title + ": " + (P.After ? "in " + Then + ", " : "") +
             printable(P.Refused->Reason) + Known;
    if (P.After ? Sides.LacksBefore : Sides.LacksAfter)
      return Title + ": what it " + (P.After ? "took in " + Then : "takes") +
             " is not known" + Known;
    return subject() + (P.After ? " is new: it takes " : " is gone: it took ") +
           Size;
  }

  std::string figureTable() const {
    std::vector<Cells> Lines = {{"", "before", "after", "change"}};
    const size_t OfModel =
        llvm::find_if(Figures,
                      [](const Figure &F) { return F.Name == "together"; }) -
        Figures.begin();
    for (size_t I = 0; I < Figures.size(); ++I) {
      const Figure &F = Figures[I];
      Lines.push_back(
          {F.Name,
           bounded(mainBoundOf(*P.Before, I > OfModel), grouped(F.Before)),
           bounded(mainBoundOf(*P.After, I > OfModel), grouped(F.After)),
           signedNumber(F.difference()), F.Note});
    }
    return inColumns("lrrrl", Lines);
  }

  std::string moduleTable() const {
    // More than a reader wants; JSON has all.
    constexpr size_t MaxRows = 100;
    const bool Steps = P.haveSteps();
    std::vector<Cells> Lines = {
        {"module", "class", "made at", "bytes", "change"}};
    if (Steps)
      llvm::append_range(Lines.front(), Cells{"kept", "change"});
    for (const ModuleChange &C : llvm::ArrayRef(Modules).take_front(MaxRows)) {
      const ModuleRow &Row = C.row();
      Cells &L = Lines.emplace_back(
          Cells{Row.Path.empty() ? printable(Row.Name) : printable(Row.Path),
                printable(Row.Class), lineOf(Row.Made, Folder),
                bounded(std::max(boundOf(C.Then), boundOf(C.Now)),
                        grouped(C.Now.Bytes)),
                signedNumber(C.bytes())});
      if (C.Before && C.After && C.Before->Class != C.After->Class)
        L[1] += ", was " + printable(C.Before->Class);
      if (Steps) {
        L.push_back(grouped(C.Now.Kept));
        L.push_back(signedNumber(C.kept()));
      }
      if (!C.Before || !C.After)
        L.push_back(!C.Before ? P.Before->Missing.empty() ? "added"
                                                          : "not known before"
                    : P.After->Missing.empty() ? "removed"
                                               : "not known now");
    }
    return inColumns(Steps ? "lllrrrrl" : "lllrrl", Lines,
                     Modules.size() - std::min(Modules.size(), MaxRows));
  }

  /// About \p M, or both sides. Only the first is apart from what is above it.
  void say(const ModelRows *M, Block B) {
    if (M && M == P.Before)
      B.Sentences.front().insert(0, "In " + Then + ": ");
    B.Follows = !Blocks.empty() && Blocks.back().Is != Block::Rows;
    Blocks.push_back(std::move(B));
  }

  /// With which inputs, and which batch fits.
  void saySteps() {
    const bool Differ = !P.hasBoth() || P.inputsDiffer();
    for (const ModelRows *M : {P.After, P.Before}) {
      if (!M)
        continue;
      const bool IsPassed = M == P.After && !M->Step.InputFrom.File.empty();
      if (M->HasStep) {
        if (M->Step.Fails || Differ || (Changed && IsPassed))
          say(M, stepBlock(M->Step, Options, Folder));
      } else if (Options.Memory ? Differ || M == P.After
                                : P.hasBoth() && Differ) {
        say(M, {Block::Said,
                {M == P.After ? noStepSentence(*M, Options, Folder)
                              : "No step is followed."}});
      }
    }
    const ModelRows &One = P.one();
    if (!Changed || !(P.hasBoth() ? P.haveSteps() : hasStep(One)))
      return;
    if (StringRef Why = estimateSentence(Options.Device); !Why.empty())
      say(nullptr, {Block::Said, {Why.str()}});
    if (!Options.Memory || !isExact(One) ||
        (P.hasBoth() && !isExact(*P.Before)))
      return;
    auto Answer = [&](const ModelRows &M) {
      say(&M, {Block::Answer, {batchSentence(M.Step, Options)}});
    };
    Answer(One);
    if (P.hasBoth() && P.Before->Step.Batch.Largest != One.Step.Batch.Largest)
      Answer(*P.Before);
  }

  void sayMissing() {
    for (const ModelRows *M : {P.Before, P.After}) {
      if (!M)
        continue;
      const std::string When = M == P.Before ? "in " + Then : "now";
      std::vector<bytes::MissingRow> Missing = M->Missing;
      if (hasStep(*M)) {
        llvm::append_range(Missing, M->Step.Missing);
        llvm::append_range(Missing, M->Step.LeftOut);
      }
      if (!Missing.empty())
        Blocks.push_back(missingBlock(
            "not known " + When + ", and left out:", Missing, Folder));
      if (hasStep(*M) && !M->Step.AtMost.empty())
        Blocks.push_back(missingBlock("depends on values " + When +
                                          ", and counts as the most:",
                                      M->Step.AtMost, Folder));
      if (hasStep(*M) && !M->Step.Estimated.empty())
        Blocks.push_back(missingBlock(
            "estimated " + When + ", and a few percent off:", M->Step.Estimated,
            Folder));
    }
  }

  const ModelPair &P;
  const BudgetSides &Sides;
  const BudgetOptions &Options;
  const StringRef Folder;
  const std::string Then; ///< The report of the side before.
  /// Of a pair that has both sides: all that one of them has.
  std::vector<Figure> Figures;
  std::vector<ModuleChange> Modules;
  bool Changed = true;
  std::vector<Block> Blocks;
};

} // namespace

Document documentOf(const BudgetSides &Sides, const BudgetOptions &Options,
                    StringRef Folder) {
  Document Result;
  const std::vector<ModelPair> Pairs = pairsOf(Sides, Folder);
  for (const ModelPair &P : Pairs)
    Result.Sections.push_back(ChangeSection(P, Sides, Options, Folder).make());
  for (const Refusal &R : refusalsOf(Sides, Pairs)) {
    Remark Each = remarkOf(*R.Model, Folder);
    if (R.IsBefore)
      Each.About += " in " + printable(Sides.Against);
    Result.Unanswered.push_back(std::move(Each));
  }
  return Result;
}

} // namespace libtorch_tidy::driver
