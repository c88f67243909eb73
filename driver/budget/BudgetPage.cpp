//===- BudgetPage.cpp - The bytes of models, as a page --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/Amounts.h"
#include "driver/budget/Document.h"
#include "driver/output/Markup.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using llvm::formatv;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static constexpr llvm::StringLiteral BudgetStyle =
#include "driver/budget.css.inc"
    ;

/// As bounded(), in HTML.
static std::string boundedOnPage(Bound Says, const std::string &Number) {
  return Says == Bound::Exact      ? Number
         : Says == Bound::AtLeast  ? "&ge; " + Number
         : Says == Bound::AtMost   ? "&le; " + Number
         : Says == Bound::Estimate ? "&asymp; " + Number
                                   : "?";
}

/// More than a reader wants; JSON has all.
static constexpr size_t MaxModules = 2000, MaxMissing = 400;
/// A page that opens all of them at once is still one to read.
static constexpr size_t MaxOpenModules = 60;
/// Modules that are deeper are listed below the one at this depth.
static constexpr unsigned MaxLevel = 10;

/// \p Text, if there is some, with what goes around it.
static std::string around(StringRef Before, StringRef Text, StringRef After) {
  return Text.empty() ? "" : (Before + Text + After).str();
}

static std::string percent(uint64_t Part, uint64_t Whole) {
  return formatv("{0:f2}%", Whole ? 100 * static_cast<double>(Part) /
                                        static_cast<double>(Whole)
                                  : 0.0);
}

namespace {

/// The modules of a model, as nested lists.
class Tree {
public:
  Tree(llvm::raw_ostream &OS, const ModelRows &Model, StringRef Folder)
      : OS(OS), Rows(Model.Modules), Folder(Folder),
        Sums(subtrees(Model.Modules)), Shown(std::min(Rows.size(), MaxModules)),
        HasStep(hasStep(Model)), OfStep(stepBoundOf(Model)) {
    for (const Subtree &Each : Sums) {
      MostBytes = std::max(MostBytes, Each.Bytes);
      MostKept = std::max(MostKept, Each.Kept);
    }
  }

  void write() {
    OS << formatv("<h3>Modules</h3>\n<p class=\"meta\">A bar has all below a "
                  "module; what "
                  "is darker is its own.</p>\n<div class=\"tree{0}\">\n"
                  "<p class=\"row head\"><span>module</span>"
                  "<span>parameters and buffers</span>{1}</p>\n",
                  HasStep ? " with-step" : "",
                  HasStep ? "<span>kept for backward</span><span>result</span>"
                          : "");
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
         << " more modules; <code>budget --format=json</code> has all.</p>\n";
  }

private:
  unsigned level(size_t I) const { return std::min(Rows[I].Depth, MaxLevel); }

  void list(size_t I, size_t End) {
    OS << "<ul>\n";
    while (I < End) {
      size_t Next = I + 1;
      while (Next < End && level(Next) > level(I))
        ++Next;
      OS << "<li>";
      if (Next == I + 1) {
        row(I);
      } else {
        const bool IsOpen = level(I) == 0 || Shown <= MaxOpenModules;
        OS << "<details" << (IsOpen ? " open" : "") << "><summary>";
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

  void row(size_t I) {
    const ModuleRow &Row = Rows[I];
    // Deeper ones are not below their parents any more.
    OS << formatv(
        R"(<span class="row"><span class="module"><code>{0}</code> )"
        R"(<span class="meta">{1}{2})",
        escapeForeign(Row.Depth > MaxLevel ? Row.Path : Row.Name),
        escapeForeign(Row.Class),
        around(" &middot; ", escapeHtml(lineOf(Row.Made, Folder)), ""));
    if (Row.IsRepeated) {
      OS << " &middot; the same as <code>" << escapeForeign(Row.SameAs)
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
    bar("tensors", Sum.Bytes, Own, MostBytes, boundOf(Sum));
    if (HasStep) {
      bar("kept", Sum.Kept, Row.Kept, MostKept, OfStep);
      OS << R"(<span class="result">)"
         << around(R"(<span class="label">gives </span>)",
                   escapeForeign(Row.Result), "")
         << "</span>";
    }
    OS << "</span>";
  }

  /// A number, and how much of the largest it is; darker what is not of
  /// children.
  void bar(StringRef Label, uint64_t All, uint64_t Own, uint64_t Most,
           Bound Says) {
    OS << formatv(
        R"(<span class="amount" title="{0}: {1}{2}">)"
        R"(<svg class="bar" aria-hidden="true"><rect class="below" width="{3}" )"
        R"(height="100%"/><rect width="{4}" height="100%"/></svg>)"
        R"(<span class="label">{0} </span>{5}</span>)",
        Label, boundedInWords(Says, grouped(All) + " bytes"),
        Own == All ? "" : ", of its own " + grouped(Own), percent(All, Most),
        percent(Own, Most), boundedOnPage(Says, readableBytes(All)));
  }

  llvm::raw_ostream &OS;
  const llvm::ArrayRef<ModuleRow> Rows;
  const StringRef Folder;
  const std::vector<Subtree> Sums;
  const size_t Shown;
  const bool HasStep;
  const Bound OfStep;
  uint64_t MostBytes = 0, MostKept = 0;
};

class ModelsPage {
public:
  ModelsPage(const Document &Said, StringRef Folder)
      : Said(Said), Folder(Folder), OS(Out) {}

  std::string write(const Failures &Trouble) {
    const size_t Count = Said.Sections.size();
    const std::string Title =
        Count == 1 ? "What a model takes"
                   : "What " + std::to_string(Count) + " models take";
    beginPage(OS,
              "libtorch-tidy: " +
                  (Count == 1 ? printable(Said.Sections.front().Model->Title)
                              : Title),
              BudgetStyle, /*HasScript=*/false);
    OS << "<header>\n<h1>" << Title
       << "</h1>\n<p class=\"meta\">Taken from the source; nothing was run. A "
          "KB "
          "is 1,024 bytes. Paths are relative to the folder that libtorch-tidy "
          "ran in.</p>\n</header>\n<main>\n";
    if (Count > 1)
      overview();
    for (const auto &[I, S] : llvm::enumerate(Said.Sections))
      section(S, I + 1);
    remarks("Without an answer", Said.Unanswered);
    std::vector<Remark> NotRead;
    for (const auto &[File, Reason] : Trouble)
      NotRead.push_back(
          {printable(relativePath(File, Folder)), "", printable(Reason)});
    remarks("Not read in full", NotRead);
    OS << "</main>\n";
    endPage(OS, "");
    return std::move(Out);
  }

private:
  void overview() {
    const bool HasStep = llvm::any_of(
        Said.Sections, [](const Section &S) { return S.Model->HasStep; });
    OS << "<nav aria-label=\"Models\">\n<table>\n<thead><tr>"
          R"(<th scope="col">Model</th><th scope="col" class="count">)"
          R"(Parameters</th><th scope="col" class="count">Together</th>)";
    if (HasStep)
      OS << R"(<th scope="col" class="count">Peak of later steps</th>)";
    OS << "</tr></thead>\n<tbody>\n";
    for (const auto &[I, S] : llvm::enumerate(Said.Sections)) {
      const ModelRows &Model = *S.Model;
      const std::vector<Total> &Totals = S.totals();
      OS << formatv(
          R"(<tr><td><a href="#model-{0}"><code>{1}</code></a></td>)"
          R"(<td class="count">{2}</td><td class="count">{3}</td>)",
          I + 1, escapeHtml(S.Title),
          boundedOnPage(boundOf(Model), readableBytes(Totals.front().Bytes)),
          boundedOnPage(boundOf(Model), readableBytes(Totals.back().Bytes)));
      if (HasStep) {
        OS << R"(<td class="count">)";
        if (Model.Step.Fails)
          OS << "fails";
        else if (Model.HasStep)
          OS << boundedOnPage(trainingBoundOf(Model),
                              readableBytes(Model.Step.LaterSteps.Bytes));
        OS << "</td>";
      }
      OS << "</tr>\n";
    }
    OS << "</tbody>\n</table>\n</nav>\n";
  }

  void section(const Section &S, size_t Number) {
    OS << formatv("<section id=\"model-{0}\">\n<h2><code>{1}</code></h2>\n{2}",
                  Number, escapeHtml(S.Title),
                  around(R"(<p class="meta">defined at )",
                         escapeHtml(lineOf(S.Model->Made, Folder)), "</p>\n"));
    auto ForEach = [&](Block::Kind Kind, auto Write) {
      for (const Block &B : S.Blocks)
        if (B.Is == Kind)
          Write(B);
    };
    std::string Sentences;
    ForEach(Block::Said, [&](const Block &B) {
      Sentences += escapeHtml(llvm::join(B.Sentences, " "));
    });
    ForEach(Block::Answer, [&](const Block &B) {
      Sentences += " <b>" + B.Sentences.front() + "</b>";
      for (const std::string &More : llvm::ArrayRef(B.Sentences).drop_front())
        Sentences += " " + escapeHtml(More);
    });
    OS << around("<p>", Sentences, "</p>\n");
    auto WriteMissing = [&](const Block &B) { missing(B); };
    ForEach(Block::Failure, WriteMissing);
    parts(S.totals());
    OS << "<div class=\"figures\">\n";
    ForEach(Block::Sums, [&](const Block &B) { figures(B); });
    OS << "</div>\n";
    ForEach(Block::Missing, WriteMissing);
    if (hasStep(*S.Model))
      pictures(S);
    Tree(OS, *S.Model, Folder).write();
    OS << "</section>\n";
  }

  /// How all that lasts is made up.
  void parts(llvm::ArrayRef<Total> Totals) {
    uint64_t Done = 0;
    const uint64_t All = Totals.back().Bytes;
    OS << R"(<svg class="parts" aria-hidden="true">)";
    for (const Total &T : Totals)
      if (!T.Style.empty() && T.Bytes) {
        OS << formatv(R"(<rect class="{0}" x="{1}" width="{2}" height="100%">)"
                      "<title>{3}: {4}</title></rect>",
                      T.Style, percent(Done, All), percent(T.Bytes, All),
                      escapeHtml(T.Name), readableBytes(T.Bytes));
        Done += T.Bytes;
      }
    OS << "</svg>\n";
  }

  void figures(const Block &Sums) {
    OS << "<table>\n<caption>" << Sums.Sentences.front()
       << "</caption>\n<tbody>\n";
    for (const Total &T : Sums.Totals)
      OS << formatv(
          R"(<tr><th scope="row">{0}{1}{2}</th><td class="count">{3} )"
          R"(<span class="exact">{4}</span></td></tr>)"
          "\n",
          around(R"(<span class="chip )", T.Style, R"("></span> )"),
          escapeHtml(T.Name),
          around(R"( <span class="note">)", escapeHtml(T.Note), "</span>"),
          boundedInWords(T.Says, readableBytes(T.Bytes)),
          T.Bytes >= 1024 && T.Says != Bound::Unknown
              ? grouped(T.Bytes) + " bytes"
              : "");
    OS << "</tbody>\n</table>\n";
  }

  void missing(const Block &B) {
    // As text it follows two spaces, and begins with a small letter.
    std::string Title = escapeHtml(B.Sentences.front());
    Title.front() = llvm::toUpper(Title.front());
    OS << "<div class=\"missing\">\n<p>" << Title << "</p>\n<ul>\n";
    for (const Remark &R : llvm::ArrayRef(B.Remarks).take_front(MaxMissing))
      OS << "<li>" << around("<code>", escapeHtml(R.Where), "</code>: ")
         << escapeHtml(R.Text) << "</li>\n";
    if (B.Remarks.size() > MaxMissing)
      OS << "<li>... and " << grouped(B.Remarks.size() - MaxMissing)
         << " more; <code>budget --format=json</code> has all</li>\n";
    OS << "</ul>\n</div>\n";
  }

  void pictures(const Section &S) {
    const bytes::StepRows &Step = S.Model->Step;
    PassPicture Training = {"a later training step",
                            Step.LaterLine,
                            Step.LaterSteps,
                            {},
                            trainingBoundOf(*S.Model)};
    PassPicture Inference = {"inference",
                             Step.InferenceLine,
                             Step.Inference,
                             {},
                             stepBoundOf(*S.Model)};
    std::vector<Total> OfTraining;
    for (const Total &T : S.totals())
      if (T.Style == "gradients" || T.Style == "state")
        OfTraining.push_back(T);
      else if (!T.Style.empty())
        Inference.Floor.push_back(T);
    Inference.Floor.push_back({"input", Step.Inputs, "", "input"});
    Training.Floor = Inference.Floor;
    llvm::append_range(Training.Floor, OfTraining);
    OS << "<h3>Over time</h3>\n";
    if (Training.Peak.IsOptimizer)
      OS << "<p class=\"meta\">The optimizer's step is the last column.</p>\n";
    writeTimeLine(OS, Training, Step.Places, Folder);
    writeTimeLine(OS, Inference, Step.Places, Folder);
  }

  void remarks(StringRef Title, llvm::ArrayRef<Remark> Remarks) {
    if (Remarks.empty())
      return;
    OS << "<section>\n<h2>" << Title << "</h2>\n<ul>\n";
    for (const Remark &R : Remarks)
      OS << "<li><code>" << escapeHtml(R.About)
         << "</code>: " << around("<code>", escapeHtml(R.Where), "</code>: ")
         << escapeHtml(R.Text) << "</li>\n";
    OS << "</ul>\n</section>\n";
  }

  const Document &Said;
  const StringRef Folder;
  std::string Out;
  llvm::raw_string_ostream OS;
};

} // namespace

std::string budgetPage(const bytes::UnitBudget &Budget,
                       const BudgetOptions &Options, const Failures &Trouble,
                       StringRef WorkingDirectory) {
  const Document Said = documentOf(Budget, Options, WorkingDirectory);
  return ModelsPage(Said, WorkingDirectory).write(Trouble);
}

} // namespace libtorch_tidy::driver
