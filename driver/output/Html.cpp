//===- Html.cpp - Findings as a page to read ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/Amounts.h"
#include "driver/output/CheckDocs.h"
#include "driver/output/Markup.h"
#include "driver/output/Reports.h"
#include "driver/output/Syntax.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <map>
#include <optional>

using llvm::StringRef;

namespace libtorch_tidy::driver {

// The files of output/html, which Embed.cmake makes literals of.
static constexpr llvm::StringLiteral Style =
#include "driver/report.css.inc"
    ;
static constexpr llvm::StringLiteral Script =
#include "driver/report.js.inc"
    ;

static const char *levelName(Level L) {
  return wordFor(L, {"certain", "likely", "advisory"});
}

static std::optional<uint64_t> knownBytes(const Finding &F) {
  return F.Kind == FindingKind::Defect ? F.Bytes : std::nullopt;
}

static std::vector<StringRef> linesOf(StringRef Text) {
  std::vector<StringRef> Result;
  if (Text.empty())
    return Result;
  Text.consume_back("\n");
  for (StringRef Line : llvm::split(Text, '\n'))
    Result.push_back(Line.rtrim('\r'));
  return Result;
}

/// Where the findings are that \p NumberOf has a number for, the largest first.
template <typename Number>
static std::vector<size_t> largestOf(llvm::ArrayRef<Finding> All,
                                     Number NumberOf) {
  std::vector<size_t> Result;
  for (const auto &[I, F] : llvm::enumerate(All))
    if (NumberOf(F))
      Result.push_back(I);
  llvm::stable_sort(Result, [&](size_t A, size_t B) {
    return NumberOf(All[A]) > NumberOf(All[B]);
  });
  return Result;
}

namespace {

/// Something to point out in a line: a step, or the finding itself.
struct Told {
  const Place *Where;
  StringRef Text;
  unsigned Number;
  bool IsEnd;
};

class Page {
public:
  explicit Page(const Report &R) : R(R), OS(Out) {}

  std::string write() {
    for (const auto &[I, F] : llvm::enumerate(R.Findings)) {
      if (F.Kind != FindingKind::Defect)
        continue;
      const bool Outside = relativePath(F.Where.Path, R.Root) == F.Where.Path;
      Files[{Outside, F.Where.Path}].push_back(I);
      Checks[F.Check].push_back(I);
      ++Levels[static_cast<unsigned>(F.Strength)];
      ++Defects;
    }
    std::vector<std::string> Ids =
        uniqueFingerprints(R.Findings, R.Root, R.Texts);
    for (std::string &Id : Ids) {
      // A colon would need escapes in a style sheet's selector.
      Id = "finding-" + Id;
      std::replace(Id.begin(), Id.end(), ':', '-');
    }
    beginPage(OS, "libtorch-tidy: " + counted(Defects, "finding"), Style,
              /*HasScript=*/Defects);
    overview();
    OS << "<main>\n";
    problems();
    if (Defects)
      filter();
    unsigned Number = 0;
    for (const auto &[Key, List] : Files) {
      OS << "<section class=\"file\">\n<h2 id=\"file-" << ++Number
         << "\"><code>" << path(Key.second) << "</code></h2>\n";
      for (size_t I : List)
        finding(R.Findings[I], Ids[I]);
      OS << "</section>\n";
    }
    rankings(Ids);
    tables();
    aboutChecks();
    OS << "</main>\n";
    endPage(OS, Defects ? StringRef(Script) : "");
    return std::move(Out);
  }

private:
  void overview() {
    OS << "<header>\n<h1>libtorch-tidy: " << counted(Defects, "finding")
       << "</h1>\n<p>" << counted(R.Units.size(), "source file") << " analysed";
    if (!R.FailedUnits.empty())
      OS << ", <a href=\"#problems\">" << R.FailedUnits.size()
         << " of them not in full</a>";
    OS << ". Levels: ";
    for (unsigned L = 0; L < 3; ++L)
      OS << (L ? ", " : "") << "<span class=\"level level-" << L << "\">"
         << levelName(static_cast<Level>(L)) << "</span> " << Levels[L];
    OS << ".</p>\n";
    provenance();
    OS << "</header>\n";
  }

  /// What the page is about, and how to have it again.
  void provenance() {
    auto Link = [&](bool IsThere, StringRef Id, StringRef Text) {
      if (IsThere)
        OS << (Id == "tables" ? "" : ", ") << "<a href=\"#" << Id << "\">"
           << Text << "</a>";
    };
    if (Defects) {
      OS << "<p class=\"meta\">Below the findings: ";
      Link(true, "tables", "by file and check");
      Link(llvm::any_of(
               R.Findings,
               [](const Finding &F) { return F.Confirmed.has_value(); }),
           "confirmed", "confirmed by a run");
      Link(llvm::any_of(R.Findings, knownBytes), "bytes", "most bytes first");
      OS << "</p>\n";
    }
    if (!R.Revision.empty() || !R.Repository.empty())
      OS << "<p class=\"meta\">"
         << (R.Revision.empty()
                 ? "Tracked files differ from the last revision"
                 : "Revision <code>" + escapeHtml(R.Revision) + "</code>")
         << (R.Repository.empty()
                 ? ""
                 : " of <code>" + escapeHtml(R.Repository) + "</code>")
         << "</p>\n";
    if (!R.CommandLine.empty())
      OS << "<details class=\"meta\"><summary>Command line</summary><code>"
         << escapeHtml(R.CommandLine) << "</code></details>\n";
  }

  void tables() {
    if (!Defects)
      return;
    OS << "<nav id=\"tables\" aria-label=\"Findings by file and check\">\n"
       << "<table>\n<caption>By file</caption>\n<thead><tr><th "
          "scope=\"col\">File</th><th "
          "scope=\"col\">Findings</th></tr></thead>\n"
          "<tbody>\n";
    unsigned Number = 0;
    for (const auto &[Key, List] : Files)
      OS << "<tr><td><a href=\"#file-" << ++Number << "\"><code>"
         << path(Key.second) << "</code></a></td><td class=\"count\">"
         << List.size() << "</td></tr>\n";
    OS << "</tbody>\n</table>\n<table>\n<caption>By "
          "check</caption>\n<thead><tr>"
          "<th scope=\"col\">Check</th><th scope=\"col\">Findings</th></tr>"
          "</thead>\n<tbody>\n";
    for (const auto &[Check, List] : Checks)
      OS << "<tr><td><a href=\"#check-" << escapeHtml(Check) << "\"><code>"
         << escapeHtml(Check) << "</code></a></td><td class=\"count\">"
         << List.size() << "</td></tr>\n";
    OS << "</tbody>\n</table>\n</nav>\n";
  }

  /// Shown by the script that it needs.
  void filter() {
    OS << "<div id=\"filter\" role=\"group\" aria-label=\"Filter\" hidden>\n";
    for (unsigned L = 0; L < 3; ++L)
      if (Levels[L])
        OS << "<label><input type=\"checkbox\" value=\"" << L << "\" checked> "
           << levelName(static_cast<Level>(L)) << " (" << Levels[L]
           << ")</label>\n";
    OS << "<label>Check: <select id=\"filter-check\">\n<option "
          "value=\"\">all</option>\n";
    for (const auto &[Check, List] : Checks)
      OS << "<option value=\"" << escapeHtml(Check) << "\">"
         << escapeHtml(Check) << " (" << List.size() << ")</option>\n";
    OS << "</select></label>\n";
    if (llvm::any_of(R.Findings, knownBytes))
      OS << "<label>Order: <select id=\"filter-order\">\n<option "
            "value=\"\">as in the files</option>\n<option value=\"bytes\">most "
            "bytes first</option>\n</select></label>\n";
    OS << "<label>Search: <input type=\"search\" id=\"filter-text\"></label>\n"
          "<output id=\"filter-shown\" "
          "for=\"filter-check filter-text\"></output>\n</div>\n";
  }

  void finding(const Finding &F, StringRef Id) {
    const unsigned L = static_cast<unsigned>(F.Strength);
    OS << "<article id=\"" << Id << "\" data-level=\"" << L
       << "\" data-check=\"" << escapeHtml(F.Check) << '"';
    if (F.Bytes)
      OS << " data-bytes=\"" << *F.Bytes << '"';
    OS << ">\n<h3><span class=\"level level-" << L << "\">"
       << levelName(F.Strength) << "</span> " << escapeHtml(F.Message)
       << "</h3>\n<p class=\"meta\"><a href=\"#" << Id << "\">line "
       << F.Where.Line << ", column " << F.Where.Column << "</a>";
    if (!F.Function.empty())
      OS << " in <code>" << escapeHtml(F.Function) << "</code>";
    OS << " &middot; <a href=\"#check-" << escapeHtml(F.Check) << "\"><code>"
       << escapeHtml(F.Check) << "</code></a>"
       << (F.AsError ? " &middot; treated as an error" : "");
    if (F.Bytes)
      OS << " &middot; " << readableBytes(*F.Bytes);
    OS << "</p>\n";

    // In one sequence, but the lines of each file together.
    llvm::MapVector<StringRef, std::vector<Told>> InFiles;
    unsigned Number = 0;
    for (const FindingStep &Step : placedSteps(F))
      InFiles[Step.Where.Path].push_back(
          {&Step.Where, Step.Text, ++Number, /*IsEnd=*/false});
    InFiles[F.Where.Path].push_back(
        {&F.Where, "reported here", ++Number, /*IsEnd=*/true});
    for (const auto &[Path, All] : InFiles) {
      if (InFiles.size() > 1)
        OS << "<p class=\"meta\">in <code>" << path(Path) << "</code></p>\n";
      excerpt(Path, All, "Source with the steps of the finding");
    }
    if (!F.Fix.empty())
      fix(F);
    if (const std::string Why = whyWithheld(F); !Why.empty())
      OS << "<p class=\"withheld\">" << escapeHtml(Why) << "</p>\n";
    OS << "</article>\n";
  }

  /// The lines of one file that matter, with two around each.
  void excerpt(StringRef Path, llvm::ArrayRef<Told> All, StringRef Label) {
    const SourceText *Text = R.Texts.get(Path);
    if (!Text)
      return;
    std::map<unsigned, std::vector<Told>> Lines;
    for (const Told &T : All) {
      const unsigned First = T.Where->Line > 2 ? T.Where->Line - 2 : 1;
      for (unsigned L = First; L <= T.Where->Line + 2; ++L)
        if (L < Text->lineCount() ||
            (L == Text->lineCount() && !Text->line(L).empty()))
          Lines[L];
      if (auto Own = Lines.find(T.Where->Line); Own != Lines.end())
        Own->second.push_back(T);
    }
    // Can be scrolled, so it must be reached without a mouse.
    OS << "<div class=\"code\" role=\"group\" tabindex=\"0\" aria-label=\""
       << Label << "\"><pre>";
    unsigned Previous = 0;
    for (auto &[L, Here] : Lines) {
      if (Previous && L > Previous + 1)
        OS << "<span class=\"gap\">...</span>";
      Previous = L;
      line(*Text, L, Here);
    }
    OS << "</pre></div>\n";
  }

  /// One line with what is said about it marked, and said below it.
  void line(const SourceText &Text, unsigned Line, llvm::ArrayRef<Told> Here) {
    StringRef Code = Text.line(Line);
    const unsigned Start = Code.data() - Text.text().data();
    OS << "<span class=\"row\"><span class=\"number\">" << Line << "</span> ";
    const Syntax &Colours = coloursOf(Text);
    auto Write = [&](unsigned From, unsigned To) {
      OS << Colours.html(Start + From, Start + To);
    };
    std::vector<Told> ByPlace = Here.vec();
    llvm::stable_sort(ByPlace, [](const Told &A, const Told &B) {
      return A.Where->Begin < B.Where->Begin;
    });
    unsigned Done = 0; // Of Code.
    for (const Told &T : ByPlace) {
      const unsigned Begin = std::min<size_t>(
          std::max(T.Where->Begin, Start) - Start, Code.size());
      const unsigned End =
          std::min<size_t>(std::max(T.Where->End, Start) - Start, Code.size());
      if (Begin < Done || Begin >= End)
        continue; // Inside one that is marked, or without extent.
      // A step at the place of the finding does not hide it.
      const bool IsEnd = llvm::any_of(Here, [&](const Told &Other) {
        return Other.IsEnd && Other.Where->Begin == T.Where->Begin;
      });
      Write(Done, Begin);
      OS << "<mark" << (IsEnd ? " class=\"end\"" : "") << '>';
      Write(Begin, End);
      OS << "</mark>";
      Done = End;
    }
    Write(Done, Code.size());
    OS << "</span>";
    for (const Told &T : Here)
      OS << "<span class=\"told" << (T.IsEnd ? " end" : "")
         << "\"><span class=\"badge\">" << T.Number << "</span> "
         << escapeHtml(T.Text) << "</span>";
  }

  /// The lines that a fix changes, before and after.
  void fix(const Finding &F) {
    OS << "<h4>Suggested fix</h4>\n";
    for (const auto &[Path, Edits] : F.Fix) {
      const SourceText *Text = R.Texts.get(Path);
      if (!Text)
        continue;
      for (auto It = Edits.begin(); It != Edits.end();) {
        // Edits of neighbouring lines are one change.
        const unsigned First = Text->position(It->getOffset()).Line;
        unsigned Last = First;
        auto End = It;
        for (; End != Edits.end() &&
               Text->position(End->getOffset()).Line <= Last + 1;
             ++End)
          Last = std::max(
              Last, Text->position(End->getOffset() + End->getLength()).Line);
        StringRef Before = Text->lines(First, Last);
        unsigned Done = Before.data() - Text->text().data();
        const unsigned BeforeEnd = Done + Before.size();
        std::string After;
        for (; It != End; ++It) {
          After += Text->text().slice(Done, It->getOffset());
          After += It->getReplacementText();
          Done = std::max(Done, It->getOffset() + It->getLength());
        }
        After += Text->text().slice(Done, BeforeEnd);
        change(Path, First, Last, linesOf(Before), linesOf(After));
      }
    }
  }

  /// How much white space begins all lines that are not blank.
  static size_t sharedIndent(llvm::ArrayRef<StringRef> Old,
                             llvm::ArrayRef<StringRef> New) {
    std::optional<StringRef> Shared;
    for (StringRef Line : llvm::concat<const StringRef>(Old, New)) {
      const StringRef Rest = Line.ltrim(" \t");
      const StringRef Indent = Line.drop_back(Rest.size());
      if (Rest.trim().empty())
        continue;
      while (Shared && !Indent.starts_with(*Shared))
        Shared = Shared->drop_back();
      if (!Shared)
        Shared = Indent;
    }
    return Shared.value_or("").size();
  }

  void change(StringRef Path, unsigned First, unsigned Last,
              llvm::ArrayRef<StringRef> Old, llvm::ArrayRef<StringRef> New) {
    OS << "<p class=\"meta\"><code>" << path(Path) << "</code>, "
       << (First == Last
               ? "line " + llvm::utostr(First)
               : "lines " + llvm::utostr(First) + " to " + llvm::utostr(Last))
       << "</p>\n<div class=\"code\" role=\"group\" tabindex=\"0\" "
          "aria-label=\"Before and after the fix\"><pre>";
    // A line that an edit only begins or ends at is as it was.
    size_t Same = 0, SameAtEnd = 0;
    const size_t Fewest = std::min(Old.size(), New.size());
    while (Same < Fewest && Old[Same] == New[Same])
      ++Same;
    while (SameAtEnd < Fewest - Same &&
           Old[Old.size() - 1 - SameAtEnd] == New[New.size() - 1 - SameAtEnd])
      ++SameAtEnd;
    const size_t Indent = sharedIndent(Old, New);
    auto Rows = [&](llvm::ArrayRef<StringRef> Lines, size_t From, size_t To,
                    StringRef Open, StringRef Close, char Sign) {
      for (; From < To; ++From)
        OS << Open << Sign << ' ' << Syntax(Lines[From].substr(Indent)).html()
           << Close;
    };
    Rows(Old, 0, Same, "<span class=\"row\">", "</span>", ' ');
    Rows(Old, Same, Old.size() - SameAtEnd, "<del>", "</del>", '-');
    Rows(New, Same, New.size() - SameAtEnd, "<ins>", "</ins>", '+');
    Rows(Old, Old.size() - SameAtEnd, Old.size(), "<span class=\"row\">",
         "</span>", ' ');
    OS << "</pre></div>\n";
  }

  /// What the findings do not cover.
  void problems() {
    const bool Any = llvm::any_of(R.Findings, [](const Finding &F) {
      return F.Kind != FindingKind::Defect;
    });
    if (!Any && R.FailedUnits.empty())
      return;
    OS << "<section id=\"problems\">\n<h2>Not analysed in full</h2>\n<ul>\n";
    for (const auto &[Unit, Trouble] : R.FailedUnits)
      OS << "<li><code>" << path(Unit)
         << "</code> could not be analysed in full because "
         << escapeHtml(Trouble) << "</li>\n";
    for (const Finding &F : R.Findings)
      if (F.Kind != FindingKind::Defect) {
        OS << "<li>";
        if (!F.Where.Path.empty())
          OS << "<code>" << path(F.Where.Path) << ':' << F.Where.Line
             << "</code>: ";
        OS << escapeHtml(F.Message) << "</li>\n";
      }
    OS << "</ul>\n</section>\n";
  }

  std::string linkTo(const Finding &F, StringRef Id) const {
    return ("<a href=\"#" + Id + "\">" + path(F.Where.Path) + ":" +
            llvm::Twine(F.Where.Line) + "</a> (<code>" + escapeHtml(F.Check) +
            "</code>)")
        .str();
  }

  void rankings(llvm::ArrayRef<std::string> Ids) {
    const std::vector<size_t> Confirmed =
        largestOf(R.Findings, [](const Finding &F) {
          return F.Confirmed ? std::optional(F.Confirmed->Bytes) : std::nullopt;
        });
    if (!Confirmed.empty())
      OS << "<section id=\"confirmed\">\n<h2>Confirmed by a run of the "
            "program</h2>\n<ol>\n";
    for (size_t I : Confirmed)
      OS << "<li>" << linkTo(R.Findings[I], Ids[I]) << ": "
         << escapeHtml(amountInWords(*R.Findings[I].Confirmed)) << "</li>\n";
    const std::vector<size_t> Known = largestOf(R.Findings, knownBytes);
    const char *const End = "</ol>\n</section>\n";
    OS << (Confirmed.empty() ? "" : End);
    if (Known.empty())
      return;
    OS << "<section id=\"bytes\">\n<h2>Most bytes first</h2>\n<p>Of the "
          "findings whose sizes are known.</p>\n<ol>\n";
    for (size_t I : Known)
      OS << "<li>" << readableBytes(*R.Findings[I].Bytes) << ": "
         << linkTo(R.Findings[I], Ids[I]) << "</li>\n";
    OS << End;
  }

  void aboutChecks() {
    if (Checks.empty())
      return;
    OS << "<section>\n<h2>The checks</h2>\n";
    for (const auto &[Name, List] : Checks) {
      OS << "<h3 id=\"check-" << escapeHtml(Name) << "\"><code>"
         << escapeHtml(Name) << "</code></h3>\n";
      if (const CatalogEntry *Entry = findRule(Name)) {
        OS << "<p>Finds that " << escapeHtml(Entry->Summary) << ". "
           << escapeHtml(Entry->Why) << "</p>\n";
        if (std::string Address = checkPage(Name); !Address.empty())
          OS << "<p><a href=\"" << escapeHtml(Address)
             << "\">Documentation</a></p>\n";
      }
      OS << "<p><code>libtorch-tidy explain " << escapeHtml(Name)
         << "</code> says more.</p>\n";
    }
    OS << "</section>\n";
  }

  std::string path(StringRef Path) const {
    return escapeHtml(relativePath(Path, R.Root));
  }

  const Syntax &coloursOf(const SourceText &Text) {
    return Colours.try_emplace(&Text, Text.text()).first->second;
  }

  const Report &R;
  std::map<const SourceText *, Syntax> Colours;
  std::string Out;
  llvm::raw_string_ostream OS;
  /// By path, those inside the project first.
  std::map<std::pair<bool, std::string>, std::vector<size_t>> Files;
  std::map<std::string, std::vector<size_t>> Checks;
  std::array<unsigned, 3> Levels = {};
  size_t Defects = 0;
};

} // namespace

std::string toHtml(const Report &R) { return Page(R).write(); }

} // namespace libtorch_tidy::driver
