//===- BudgetPage.cpp - The bytes of models, as a page --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/budget/BudgetPage.h"
#include "checks/base/Amounts.h"
#include "driver/budget/BudgetParts.h"
#include "driver/budget/TimeLine.h"
#include "driver/output/Escape.h"
#include "driver/output/HtmlFrame.h"
#include "driver/output/Report.h"
#include "driver/project/Paths.h"
#include "driver/project/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static constexpr llvm::StringLiteral BudgetStyle =
#include "driver/budget.css.inc"
    ;

/// More than a reader wants; JSON has all.
static constexpr size_t MaxModules = 2000, MaxMissing = 400;
/// A page that opens all of them at once is still one to read.
static constexpr size_t MaxOpenModules = 60;
/// Modules that are deeper are listed below the one at this depth.
static constexpr unsigned MaxLevel = 10;

/// What strangers have written.
static std::string text(StringRef Text) { return escapeHtml(printable(Text)); }

static std::string percent(uint64_t Part, uint64_t Whole) {
  std::string Result;
  llvm::raw_string_ostream(Result)
      << llvm::format("%.2f%%", Whole ? 100 * static_cast<double>(Part) /
                                            static_cast<double>(Whole)
                                      : 0.0);
  return Result;
}

static const char *classOf(Total::Kind Part) {
  switch (Part) {
  case Total::Parameters:
    return "parameters";
  case Total::Buffers:
    return "buffers";
  case Total::Gradients:
    return "gradients";
  case Total::State:
    return "state";
  case Total::Unlisted:
    return "unlisted";
  }
  llvm_unreachable("all kinds are covered");
}

namespace {

/// The modules of a model, as nested lists.
class Tree {
public:
  Tree(llvm::raw_ostream &OS, const ModelRows &Model, StringRef Folder)
      : OS(OS), Rows(Model.Modules), Folder(Folder),
        Sums(subtrees(Model.Modules)), Shown(std::min(Rows.size(), MaxModules)),
        HasStep(hasStep(Model)), IsStepIncomplete(!Model.Step.Missing.empty()) {
    for (const Subtree &Each : Sums) {
      MostBytes = std::max(MostBytes, Each.Bytes);
      MostKept = std::max(MostKept, Each.Kept);
    }
  }
  void write();

private:
  unsigned level(size_t I) const { return std::min(Rows[I].Depth, MaxLevel); }
  void list(size_t I, size_t End);
  void row(size_t I);
  void bar(StringRef Label, uint64_t All, uint64_t Own, uint64_t Most,
           bool AtLeast);

  llvm::raw_ostream &OS;
  const llvm::ArrayRef<ModuleRow> Rows;
  const StringRef Folder;
  const std::vector<Subtree> Sums;
  const size_t Shown;
  const bool HasStep, IsStepIncomplete;
  uint64_t MostBytes = 0, MostKept = 0;
};

class ModelsPage {
public:
  ModelsPage(const bytes::UnitBudget &Budget, const BudgetOptions &Options,
             const std::map<std::string, std::string> &Trouble,
             StringRef Folder)
      : Budget(Budget), Options(Options), Trouble(Trouble), Folder(Folder),
        OS(Out) {}
  std::string write();

private:
  void overview();
  void model(const ModelRows &Model, size_t Number);
  void parts(llvm::ArrayRef<Total> Totals);
  void figures(StringRef Caption, llvm::ArrayRef<Total> Totals, bool AtLeast);
  void pictures(const ModelRows &Model);
  void missing(StringRef Title, llvm::ArrayRef<bytes::MissingRow> Missing);
  void unanswered();

  const bytes::UnitBudget &Budget;
  const BudgetOptions &Options;
  const std::map<std::string, std::string> &Trouble;
  const StringRef Folder;
  std::string Out;
  llvm::raw_string_ostream OS;
};

} // namespace

/// A number, and how much of the largest it is; darker what is not of children.
void Tree::bar(StringRef Label, uint64_t All, uint64_t Own, uint64_t Most,
               bool AtLeast) {
  OS << "<span class=\"amount\" title=\"" << Label
     << (AtLeast ? ": at least " : ": ") << grouped(All) << " bytes";
  if (Own != All)
    OS << ", of its own " << grouped(Own);
  OS << "\"><svg class=\"bar\" aria-hidden=\"true\"><rect class=\"below\" "
        "width=\""
     << percent(All, Most) << "\" height=\"100%\"/><rect width=\""
     << percent(Own, Most) << "\" height=\"100%\"/></svg><span class=\"label\">"
     << Label << " </span>" << (AtLeast ? "&ge; " : "") << readableBytes(All)
     << "</span>";
}

void Tree::row(size_t I) {
  const ModuleRow &Row = Rows[I];
  // Deeper ones are not below their parents any more.
  const std::string &Name = Row.Depth > MaxLevel ? Row.Path : Row.Name;
  OS << "<span class=\"row\"><span class=\"module\"><code>" << text(Name)
     << "</code> <span class=\"meta\">" << text(Row.Class);
  if (const std::string Line = lineOf(Row.Made, Folder); !Line.empty())
    OS << " &middot; " << escapeHtml(Line);
  if (Row.IsRepeated) {
    OS << " &middot; the same as <code>" << text(Row.SameAs)
       << "</code></span></span></span>";
    return;
  }
  const Subtree &Sum = Sums[I];
  if (Sum.Parameters)
    OS << " &middot; " << (Sum.IsIncomplete ? "&ge; " : "")
       << grouped(Sum.Parameters)
       << (Sum.Parameters == 1 ? " parameter" : " parameters");
  OS << "</span></span>";
  uint64_t Own = 0;
  for (const bytes::TensorRow &T : Row.Tensors)
    Own += T.Bytes;
  bar("tensors", Sum.Bytes, Own, MostBytes, Sum.IsIncomplete);
  if (HasStep) {
    bar("kept", Sum.Kept, Row.Kept, MostKept, IsStepIncomplete);
    OS << "<span class=\"result\">";
    if (!Row.Result.empty())
      OS << "<span class=\"label\">gives </span>" << text(Row.Result);
    OS << "</span>";
  }
  OS << "</span>";
}

void Tree::list(size_t I, size_t End) {
  OS << "<ul>\n";
  while (I < End) {
    size_t Next = I + 1;
    while (Next < End && level(Next) > level(I))
      ++Next;
    OS << "<li>";
    if (Next == I + 1) {
      row(I);
    } else {
      OS << "<details"
         << (level(I) == 0 || Shown <= MaxOpenModules ? " open" : "")
         << "><summary>";
      row(I);
      OS << "</summary>\n";
      list(I + 1, Next);
      OS << "</details>";
    }
    OS << "</li>\n";
    I = Next;
  }
  OS << "</ul>\n";
}

void Tree::write() {
  OS << "<h3>Modules</h3>\n<p class=\"meta\">A bar has all below a module; "
        "what "
        "is darker is its own.</p>\n<div class=\"tree"
     << (HasStep ? " with-step" : "")
     << "\">\n<p class=\"row head\"><span>module</span><span>parameters and "
        "buffers</span>";
  if (HasStep)
    OS << "<span>kept for backward</span><span>result</span>";
  OS << "</p>\n";
  const size_t Listed =
      llvm::find_if(Rows, [](const ModuleRow &R) { return R.IsUnlisted; }) -
      Rows.begin();
  list(0, std::min(Listed, Shown));
  if (Listed < Shown) {
    OS << "<p class=\"aside\">in no <code>parameters()</code></p>\n";
    list(Listed, Shown);
  }
  OS << "</div>\n";
  if (Shown < Rows.size())
    OS << "<p>... and " << grouped(Rows.size() - Shown)
       << " more modules; <code>--budget-format=json</code> has all.</p>\n";
}

/// How all that lasts is made up.
void ModelsPage::parts(llvm::ArrayRef<Total> Totals) {
  uint64_t Done = 0;
  const uint64_t All = Totals.back().Bytes;
  OS << "<svg class=\"parts\" aria-hidden=\"true\">";
  for (const Total &T : Totals)
    if (T.Part && T.Bytes) {
      OS << "<rect class=\"" << classOf(*T.Part) << "\" x=\""
         << percent(Done, All) << "\" width=\"" << percent(T.Bytes, All)
         << "\" height=\"100%\"><title>" << escapeHtml(T.Name) << ": "
         << readableBytes(T.Bytes) << "</title></rect>";
      Done += T.Bytes;
    }
  OS << "</svg>\n";
}

void ModelsPage::figures(StringRef Caption, llvm::ArrayRef<Total> Totals,
                         bool AtLeast) {
  OS << "<table>\n<caption>" << Caption << "</caption>\n<tbody>\n";
  for (const Total &T : Totals) {
    OS << "<tr><th scope=\"row\">";
    if (T.Part)
      OS << "<span class=\"chip " << classOf(*T.Part) << "\"></span> ";
    OS << escapeHtml(T.Name);
    if (!T.Note.empty())
      OS << " <span class=\"note\">" << escapeHtml(T.Note) << "</span>";
    OS << "</th><td class=\"count\">" << (AtLeast ? "at least " : "")
       << readableBytes(T.Bytes) << " <span class=\"exact\">";
    if (T.Bytes >= 1024)
      OS << grouped(T.Bytes) << " bytes";
    OS << "</span></td></tr>\n";
  }
  OS << "</tbody>\n</table>\n";
}

void ModelsPage::missing(StringRef Title,
                         llvm::ArrayRef<bytes::MissingRow> Missing) {
  OS << "<div class=\"missing\">\n<p>" << Title << "</p>\n<ul>\n";
  for (const bytes::MissingRow &M : Missing.take_front(MaxMissing)) {
    OS << "<li>";
    if (const std::string Where = lineOf(M.Where, Folder); !Where.empty())
      OS << "<code>" << escapeHtml(Where) << "</code>: ";
    OS << text(M.Text) << "</li>\n";
  }
  if (Missing.size() > MaxMissing)
    OS << "<li>... and " << grouped(Missing.size() - MaxMissing)
       << " more; <code>--budget-format=json</code> has all</li>\n";
  OS << "</ul>\n</div>\n";
}

void ModelsPage::pictures(const ModelRows &Model) {
  const bytes::StepRows &Step = Model.Step;
  PassPicture Training = {"a later training step",
                          Step.LaterLine,
                          Step.LaterSteps,
                          {},
                          !Step.Missing.empty()};
  PassPicture Inference = {"inference",
                           Step.InferenceLine,
                           Step.Inference,
                           {},
                           !Step.Missing.empty()};
  std::vector<Band> OfTraining;
  for (const Total &T : modelTotals(Model, Options)) {
    if (!T.Part)
      continue;
    const bool IsOfBoth =
        *T.Part != Total::Gradients && *T.Part != Total::State;
    (IsOfBoth ? Inference.Floor : OfTraining)
        .push_back({T.Name, classOf(*T.Part), T.Bytes});
  }
  Inference.Floor.push_back({"input", "input", Step.Inputs});
  Training.Floor = Inference.Floor;
  llvm::append_range(Training.Floor, OfTraining);
  OS << "<h3>Over time</h3>\n";
  if (Training.Peak.IsOptimizer)
    OS << "<p class=\"meta\">The optimizer's step is the last column.</p>\n";
  writeTimeLine(OS, Training, Step.Places, Folder);
  writeTimeLine(OS, Inference, Step.Places, Folder);
}

void ModelsPage::model(const ModelRows &Model, size_t Number) {
  const bytes::StepRows &Step = Model.Step;
  OS << "<section id=\"model-" << Number << "\">\n<h2><code>"
     << escapeHtml(modelTitle(Model, Options)) << "</code></h2>\n";
  if (const std::string Line = lineOf(Model.Made, Folder); !Line.empty())
    OS << "<p class=\"meta\">defined at " << escapeHtml(Line) << "</p>\n";
  const bool HasFigures = hasStep(Model);
  if (HasFigures) {
    OS << "<p>" << escapeHtml(stepSentence(Step, Options, Folder));
    if (Options.Device == bytes::DeviceKind::Cuda)
      OS << " " << EstimateSentence;
    if (Options.Memory && Step.Missing.empty())
      OS << " <b>" << batchSentence(Step.LargestBatch, Options) << "</b>";
    OS << "</p>\n";
  } else if (Model.HasStep) {
    missing(escapeHtml(stepSentence(Step, Options, Folder)),
            llvm::ArrayRef(Step.Missing).take_back());
  } else if (Options.Memory) {
    OS << "<p>" << NoInputSentence << "</p>\n";
  }
  const std::vector<Total> Totals = modelTotals(Model, Options);
  parts(Totals);
  OS << "<div class=\"figures\">\n";
  figures("The model", Totals, !Model.Missing.empty());
  if (HasFigures)
    figures("A step", stepTotals(Step, Folder), !Step.Missing.empty());
  OS << "</div>\n";
  if (!Model.Missing.empty())
    missing("Not known, and left out of the sums:", Model.Missing);
  if (HasFigures && !Step.Missing.empty())
    missing("Not known of the step, and left out:", Step.Missing);
  if (HasFigures)
    pictures(Model);
  Tree(OS, Model, Folder).write();
  OS << "</section>\n";
}

/// Which models there are, when they are several.
void ModelsPage::overview() {
  const bool HasStep = llvm::any_of(
      Budget.Models, [](const ModelRows &Model) { return Model.HasStep; });
  OS << "<nav aria-label=\"Models\">\n<table>\n<thead><tr><th "
        "scope=\"col\">Model</th><th scope=\"col\" "
        "class=\"count\">Parameters</th><th scope=\"col\" "
        "class=\"count\">Together</th>";
  if (HasStep)
    OS << "<th scope=\"col\" class=\"count\">Peak of later steps</th>";
  OS << "</tr></thead>\n<tbody>\n";
  for (const auto &[I, Model] : llvm::enumerate(Budget.Models)) {
    const std::vector<Total> Totals = modelTotals(Model, Options);
    const StringRef AtLeast = Model.Missing.empty() ? "" : "&ge; ";
    OS << "<tr><td><a href=\"#model-" << I + 1 << "\"><code>"
       << escapeHtml(modelTitle(Model, Options))
       << "</code></a></td><td class=\"count\">" << AtLeast
       << readableBytes(Totals.front().Bytes) << "</td><td class=\"count\">"
       << AtLeast << readableBytes(Totals.back().Bytes) << "</td>";
    if (HasStep) {
      OS << "<td class=\"count\">";
      if (Model.Step.Fails)
        OS << "fails";
      else if (Model.HasStep)
        OS << (Model.Step.Missing.empty() ? "" : "&ge; ")
           << readableBytes(Model.Step.LaterSteps.Bytes);
      OS << "</td>";
    }
    OS << "</tr>\n";
  }
  OS << "</tbody>\n</table>\n</nav>\n";
}

void ModelsPage::unanswered() {
  if (!Budget.Refused.empty()) {
    OS << "<section>\n<h2>Without an answer</h2>\n<ul>\n";
    for (const bytes::RefusedModel &M : Budget.Refused) {
      OS << "<li><code>" << text(M.Title) << "</code>: ";
      if (const std::string Where = lineOf(M.Where, Folder); !Where.empty())
        OS << "<code>" << escapeHtml(Where) << "</code>: ";
      OS << text(M.Reason) << "</li>\n";
    }
    OS << "</ul>\n</section>\n";
  }
  if (Trouble.empty())
    return;
  OS << "<section>\n<h2>Not read in full</h2>\n<ul>\n";
  for (const auto &[File, Reason] : Trouble)
    OS << "<li><code>" << text(relativePath(File, Folder))
       << "</code>: " << text(Reason) << "</li>\n";
  OS << "</ul>\n</section>\n";
}

std::string ModelsPage::write() {
  const size_t Count = Budget.Models.size();
  const std::string Title =
      Count == 1 ? "What a model takes"
                 : "What " + std::to_string(Count) + " models take";
  beginPage(OS,
            "libtorch-tidy: " +
                (Count == 1 ? printable(Budget.Models.front().Title) : Title),
            BudgetStyle, /*HasScript=*/false);
  OS << "<header>\n<h1>" << Title
     << "</h1>\n<p class=\"meta\">Taken from the source; nothing was run. A KB "
        "is "
        "1,024 bytes. Paths are relative to the folder that libtorch-tidy ran "
        "in.</p>\n</header>\n"
     << "<main>\n";
  if (Count > 1)
    overview();
  for (const auto &[I, Model] : llvm::enumerate(Budget.Models))
    model(Model, I + 1);
  unanswered();
  OS << "</main>\n";
  endPage(OS, "");
  return std::move(Out);
}

std::string budgetAsHtml(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options,
                         const std::map<std::string, std::string> &Trouble,
                         StringRef WorkingDirectory) {
  return ModelsPage(Budget, Options, Trouble, WorkingDirectory).write();
}

} // namespace libtorch_tidy::driver
