//===- Html.cpp - Findings as a page to read ------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/Html.h"
#include "driver/output/CheckDocs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <map>
#include <set>

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// Colours keep a contrast of 4.5 to 1 in both schemes.
static constexpr llvm::StringLiteral Style = R"css(
:root { color-scheme: light dark; --page: #ffffff; --text: #1c2128;
  --soft: #57606a; --line: #d0d7de; --code: #f6f8fa; --mark: #fff2b8;
  --step: #dbeafe; --link: #0a58ca; --error: #b42318; --warning: #8a5100;
  --note: #1d5fa8; --del: #ffebe9; --ins: #dafbe1; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171c; --text: #e4e8ee; --soft: #a5aeba; --line: #3a424d;
    --code: #1c2128; --mark: #5a4a00; --step: #163a63; --link: #7db4ff;
    --error: #ff9b91; --warning: #f0b35a; --note: #8cc2ff; --del: #4a1d1d;
    --ins: #143d23; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.5rem 4rem; max-width: 72rem;
  background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); }
h1 { font-size: 1.6rem; margin: 0.5rem 0; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 0 0 0.25rem; overflow-wrap: anywhere; }
h2 code, h3 code { font-size: inherit; }
caption { text-align: left; font-weight: 700; }
h4 { font-size: 0.9rem; margin: 1rem 0 0.25rem; }
code, pre { font: 0.85rem/1.5 ui-monospace, monospace; tab-size: 4; }
table { border-collapse: collapse; margin: 0.5rem 0 1rem; }
th, td { text-align: left; padding: 0.2rem 1rem 0.2rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
td.count { text-align: right; }
article { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0;
  padding: 0.8rem 1rem; }
.meta { color: var(--soft); font-size: 0.9rem; margin: 0 0 0.5rem;
  overflow-wrap: anywhere; }
.level { font-weight: 700; }
.level-0 { color: var(--error); }
.level-1 { color: var(--warning); }
.level-2 { color: var(--note); }
.code { background: var(--code); border: 1px solid var(--line);
  border-radius: 4px; overflow-x: auto; margin: 0.25rem 0 0.5rem; }
.code pre { margin: 0; padding: 0.4rem 0; width: max-content; min-width: 100%; }
.code .row { display: block; padding: 0 0.6rem; }
.code .number { color: var(--soft); display: inline-block; min-width: 3.2em;
  padding-right: 0.8em; text-align: right; user-select: none; }
.code .told { display: block; padding: 0 0.6rem 0 4.2em; color: var(--soft);
  font-family: system-ui, sans-serif; white-space: pre-wrap; position: sticky;
  left: 0; width: calc(min(100vw, 72rem) - 6rem); }
.code .told.end { color: var(--text); font-weight: 600; }
.code .gap { display: block; color: var(--soft); padding: 0 0.6rem 0 2.6em; }
.badge { display: inline-block; min-width: 1.5em; text-align: center;
  border-radius: 0.75em; background: var(--text); color: var(--page);
  font: 700 0.75rem/1.5 system-ui, sans-serif; padding: 0 0.4em; }
mark { background: var(--step); color: inherit; border-radius: 2px; }
mark.end { background: var(--mark); outline: 1px solid currentColor; }
del { display: block; background: var(--del); text-decoration: none;
  padding: 0 0.6rem; }
ins { display: block; background: var(--ins); text-decoration: none;
  padding: 0 0.6rem; }
#filter { position: sticky; top: 0; z-index: 1; background: var(--page); padding: 0.5rem 0;
  border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap;
  gap: 0.5rem 1.2rem; align-items: center; }
[hidden], #filter[hidden] { display: none; }
select { font: inherit; max-width: 100%; color: inherit;
  background: var(--code); border: 1px solid var(--soft); }
@media print {
  :root { --page: #fff; --text: #000; --soft: #444; --code: #fff;
    --mark: #fff2b8; --step: #e4eefc; --link: #000; --error: #900;
    --warning: #640; --note: #036; --del: #fee; --ins: #efe; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  #filter { display: none; }
  .code { overflow: visible; }
  .code pre { width: auto; white-space: pre-wrap; }
  .code .told { position: static; width: auto; }
  h2, h3, h4 { break-after: avoid; }
  .code .row { break-inside: avoid; }
  * { print-color-adjust: exact; } }
)css";

static constexpr llvm::StringLiteral Script = R"js(
(function () {
  var filter = document.getElementById("filter");
  var check = document.getElementById("filter-check");
  var shown = document.getElementById("filter-shown");
  var findings = document.querySelectorAll("article");
  function apply() {
    var levels = {};
    filter.querySelectorAll("input").forEach(function (box) {
      levels[box.value] = box.checked;
    });
    var count = 0;
    findings.forEach(function (finding) {
      finding.hidden = !levels[finding.dataset.level] ||
        (check.value !== "" && check.value !== finding.dataset.check);
      count += finding.hidden ? 0 : 1;
    });
    document.querySelectorAll("section.file").forEach(function (file) {
      file.hidden = !file.querySelector("article:not([hidden])");
    });
    shown.textContent = count + " of " + findings.length + " shown";
  }
  filter.hidden = false;
  filter.addEventListener("change", apply);
  apply();
})();
)js";

/// Text of a source, in which no byte may be taken for markup.
static std::string escape(StringRef Text) {
  std::string Result;
  for (char C : llvm::json::fixUTF8(Text)) {
    switch (C) {
    case '&':
      Result += "&amp;";
      break;
    case '<':
      Result += "&lt;";
      break;
    case '>':
      Result += "&gt;";
      break;
    case '"':
      Result += "&quot;";
      break;
    default:
      // HTML has no control characters but these.
      if (static_cast<unsigned char>(C) < 0x20 && C != '\t' && C != '\n')
        Result += "\xEF\xBF\xBD";
      else if (C != 0x7F)
        Result += C;
    }
  }
  return Result;
}

static const char *levelName(Level L) {
  switch (L) {
  case Level::Certain:
    return "certain";
  case Level::Likely:
    return "likely";
  case Level::Advisory:
    return "advisory";
  }
  llvm_unreachable("all levels are covered");
}

static std::string plural(size_t Count, StringRef Noun) {
  return (llvm::Twine(Count) + " " + Noun + (Count == 1 ? "" : "s")).str();
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
  std::string write();

private:
  void head();
  void overview();
  void filter();
  void finding(const Finding &F, StringRef Id);
  void excerpt(StringRef Path, llvm::ArrayRef<Told> All, StringRef Label);
  void line(const SourceText &Text, unsigned Line, llvm::ArrayRef<Told> Here);
  void fix(const Finding &F);
  void problems();
  void aboutChecks();
  std::string path(StringRef Path) const {
    return escape(relativePath(Path, R.Root));
  }

  const Report &R;
  std::string Out;
  llvm::raw_string_ostream OS;
  /// By path, those inside the project first.
  std::map<std::pair<bool, std::string>, std::vector<size_t>> Files;
  std::map<std::string, std::vector<size_t>> Checks;
  std::array<unsigned, 3> Levels = {};
  size_t Defects = 0;
};

} // namespace

void Page::head() {
  OS << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
     << "<meta charset=\"utf-8\">\n"
     // Nothing is fetched, whatever a source may hold.
     << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
     << "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
     << "<title>libtorch-tidy: " << plural(Defects, "finding") << "</title>\n"
     << "<style>" << Style << "</style>\n</head>\n<body>\n";
}

void Page::overview() {
  OS << "<header>\n<h1>libtorch-tidy: " << plural(Defects, "finding")
     << "</h1>\n<p>" << plural(R.Units.size(), "source file") << " analysed";
  if (!R.FailedUnits.empty())
    OS << ", <a href=\"#problems\">" << R.FailedUnits.size()
       << " of them not in full</a>";
  OS << ". Levels: ";
  for (unsigned L = 0; L < 3; ++L)
    OS << (L ? ", " : "") << "<span class=\"level level-" << L << "\">"
       << levelName(static_cast<Level>(L)) << "</span> " << Levels[L];
  OS << ".</p>\n</header>\n";
  if (!Defects)
    return;
  OS << "<nav aria-label=\"Findings by file and check\">\n"
     << "<table>\n<caption>By file</caption>\n<thead><tr><th "
        "scope=\"col\">File</th><th scope=\"col\">Findings</th></tr></thead>\n"
        "<tbody>\n";
  unsigned Number = 0;
  for (const auto &[Key, List] : Files)
    OS << "<tr><td><a href=\"#file-" << ++Number << "\"><code>"
       << path(Key.second) << "</code></a></td><td class=\"count\">"
       << List.size() << "</td></tr>\n";
  OS << "</tbody>\n</table>\n<table>\n<caption>By check</caption>\n<thead><tr>"
        "<th scope=\"col\">Check</th><th scope=\"col\">Findings</th></tr>"
        "</thead>\n<tbody>\n";
  for (const auto &[Check, List] : Checks)
    OS << "<tr><td><a href=\"#check-" << escape(Check) << "\"><code>"
       << escape(Check) << "</code></a></td><td class=\"count\">" << List.size()
       << "</td></tr>\n";
  OS << "</tbody>\n</table>\n</nav>\n";
}

/// Shown by the script that it needs.
void Page::filter() {
  OS << "<div id=\"filter\" role=\"group\" aria-label=\"Filter\" hidden>\n";
  for (unsigned L = 0; L < 3; ++L)
    if (Levels[L])
      OS << "<label><input type=\"checkbox\" value=\"" << L << "\" checked> "
         << levelName(static_cast<Level>(L)) << " (" << Levels[L]
         << ")</label>\n";
  OS << "<label>Check: <select id=\"filter-check\">\n<option "
        "value=\"\">all</option>\n";
  for (const auto &[Check, List] : Checks)
    OS << "<option value=\"" << escape(Check) << "\">" << escape(Check) << " ("
       << List.size() << ")</option>\n";
  OS << "</select></label>\n<output id=\"filter-shown\" "
        "for=\"filter-check\"></output>\n</div>\n";
}

/// One line with what is told about it marked, and told below it.
void Page::line(const SourceText &Text, unsigned Line,
                llvm::ArrayRef<Told> Here) {
  StringRef Code = Text.line(Line);
  const unsigned Start = Code.data() - Text.text().data();
  OS << "<span class=\"row\"><span class=\"number\">" << Line << "</span> ";
  unsigned Done = 0; // Of Code.
  for (const Told &T : Here) {
    const unsigned Begin =
        std::min<size_t>(std::max(T.Where->Begin, Start) - Start, Code.size());
    const unsigned End =
        std::min<size_t>(std::max(T.Where->End, Start) - Start, Code.size());
    if (Begin < Done || Begin >= End)
      continue; // Inside one that is marked, or without extent.
    // A step at the place of the finding does not hide it.
    const bool IsEnd = llvm::any_of(Here, [&](const Told &Other) {
      return Other.IsEnd && Other.Where->Begin == T.Where->Begin;
    });
    OS << escape(Code.slice(Done, Begin)) << "<mark"
       << (IsEnd ? " class=\"end\"" : "") << '>'
       << escape(Code.slice(Begin, End)) << "</mark>";
    Done = End;
  }
  OS << escape(Code.drop_front(Done)) << "</span>";
  for (const Told &T : Here)
    OS << "<span class=\"told" << (T.IsEnd ? " end" : "")
       << "\"><span class=\"badge\">" << T.Number << "</span> "
       << escape(T.Text) << "</span>";
}

/// The lines of one file that matter, with two around each.
void Page::excerpt(StringRef Path, llvm::ArrayRef<Told> All, StringRef Label) {
  const SourceText *Text = R.Texts.get(Path);
  if (!Text)
    return;
  std::map<unsigned, std::vector<Told>> ByLine;
  std::set<unsigned> Lines;
  for (const Told &T : All) {
    ByLine[T.Where->Line].push_back(T);
    const unsigned First = T.Where->Line > 2 ? T.Where->Line - 2 : 1;
    for (unsigned L = First; L <= T.Where->Line + 2; ++L)
      if (L < Text->lineCount() ||
          (L == Text->lineCount() && !Text->line(L).empty()))
        Lines.insert(L);
  }
  // Can be scrolled, so it must be reached without a mouse.
  OS << "<div class=\"code\" role=\"group\" tabindex=\"0\" aria-label=\""
     << Label << "\"><pre>";
  unsigned Previous = 0;
  for (unsigned L : Lines) {
    if (Previous && L > Previous + 1)
      OS << "<span class=\"gap\">...</span>";
    Previous = L;
    std::vector<Told> &Here = ByLine[L];
    llvm::stable_sort(Here, [](const Told &A, const Told &B) {
      return A.Where->Begin < B.Where->Begin;
    });
    line(*Text, L, Here);
  }
  OS << "</pre></div>\n";
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

/// The lines that a fix changes, before and after.
void Page::fix(const Finding &F) {
  OS << "<h4>Suggested fix</h4>\n";
  for (size_t I = 0; I < F.Fix.size();) {
    const std::string &Path = F.Fix[I].Where.Path;
    const SourceText *Text = R.Texts.get(Path);
    if (!Text) {
      ++I;
      continue;
    }
    // Edits of neighbouring lines are one change.
    const unsigned First = Text->position(F.Fix[I].Where.Begin).Line;
    unsigned Last = First;
    size_t End = I;
    for (; End < F.Fix.size() && F.Fix[End].Where.Path == Path &&
           Text->position(F.Fix[End].Where.Begin).Line <= Last + 1;
         ++End)
      Last = std::max(Last, Text->position(F.Fix[End].Where.End).Line);
    StringRef Before = Text->lines(First, Last);
    unsigned Done = Before.data() - Text->text().data();
    const unsigned BeforeEnd = Done + Before.size();
    std::string After;
    for (; I < End; ++I) {
      const Edit &E = F.Fix[I];
      After += Text->text().slice(Done, E.Where.Begin);
      After += E.Text;
      Done = std::max(Done, E.Where.End);
    }
    After += Text->text().slice(Done, BeforeEnd);

    OS << "<p class=\"meta\"><code>" << path(Path) << "</code>, "
       << (First == Last
               ? "line " + llvm::utostr(First)
               : "lines " + llvm::utostr(First) + " to " + llvm::utostr(Last))
       << "</p>\n<div class=\"code\" role=\"group\" tabindex=\"0\" "
          "aria-label=\"Before and after the fix\"><pre>";
    std::vector<StringRef> Old = linesOf(Before), New = linesOf(After);
    // A line that an edit only begins or ends at is as it was.
    size_t Same = 0, SameAtEnd = 0;
    const size_t Fewest = std::min(Old.size(), New.size());
    while (Same < Fewest && Old[Same] == New[Same])
      ++Same;
    while (SameAtEnd < Fewest - Same &&
           Old[Old.size() - 1 - SameAtEnd] == New[New.size() - 1 - SameAtEnd])
      ++SameAtEnd;
    auto Rows = [&](const std::vector<StringRef> &Lines, size_t From, size_t To,
                    StringRef Open, StringRef Close, char Sign) {
      for (; From < To; ++From)
        OS << Open << Sign << ' ' << escape(Lines[From]) << Close;
    };
    Rows(Old, 0, Same, "<span class=\"row\">", "</span>", ' ');
    Rows(Old, Same, Old.size() - SameAtEnd, "<del>", "</del>", '-');
    Rows(New, Same, New.size() - SameAtEnd, "<ins>", "</ins>", '+');
    Rows(Old, Old.size() - SameAtEnd, Old.size(), "<span class=\"row\">",
         "</span>", ' ');
    OS << "</pre></div>\n";
  }
}

void Page::finding(const Finding &F, StringRef Id) {
  const unsigned L = static_cast<unsigned>(F.Strength);
  const CodeOutline *Outline = R.Outlines.get(F.Where.Path);
  StringRef Function = Outline ? Outline->functionAt(F.Where.Begin) : "";
  OS << "<article id=\"" << Id << "\" data-level=\"" << L << "\" data-check=\""
     << escape(F.Check) << "\">\n<h3><span class=\"level level-" << L << "\">"
     << levelName(F.Strength) << "</span> " << escape(F.Message)
     << "</h3>\n<p class=\"meta\"><a href=\"#" << Id << "\">line "
     << F.Where.Line << ", column " << F.Where.Column << "</a>";
  if (!Function.empty())
    OS << " in <code>" << escape(Function) << "</code>";
  OS << " &middot; <a href=\"#check-" << escape(F.Check) << "\"><code>"
     << escape(F.Check) << "</code></a>"
     << (F.AsError ? " &middot; treated as an error" : "") << "</p>\n";

  // In one sequence, but the lines of each file together.
  std::vector<std::pair<StringRef, std::vector<Told>>> InFiles;
  auto Add = [&](const Place &Where, StringRef Text, unsigned Number,
                 bool IsEnd) {
    auto It = llvm::find_if(
        InFiles, [&](const auto &P) { return P.first == Where.Path; });
    if (It == InFiles.end()) {
      InFiles.emplace_back(Where.Path, std::vector<Told>());
      It = std::prev(InFiles.end());
    }
    It->second.push_back({&Where, Text, Number, IsEnd});
  };
  unsigned Number = 0;
  for (const FindingStep &Step : F.Steps)
    if (!Step.Where.Path.empty())
      Add(Step.Where, Step.Text, ++Number, /*IsEnd=*/false);
  Add(F.Where, "reported here", ++Number, /*IsEnd=*/true);
  for (const auto &[Path, All] : InFiles) {
    if (Path != F.Where.Path)
      OS << "<p class=\"meta\">in <code>" << path(Path) << "</code></p>\n";
    excerpt(Path, All, "Source with the steps of the finding");
  }
  if (!F.Fix.empty())
    fix(F);
  OS << "</article>\n";
}

/// What the findings do not cover.
void Page::problems() {
  const bool Any = llvm::any_of(R.Findings, [](const Finding &F) {
    return F.Kind != FindingKind::Defect;
  });
  if (!Any && R.FailedUnits.empty())
    return;
  OS << "<section id=\"problems\">\n<h2>Not analysed in full</h2>\n<ul>\n";
  for (const std::string &Unit : R.FailedUnits)
    OS << "<li><code>" << path(Unit) << "</code> does not compile</li>\n";
  for (const Finding &F : R.Findings)
    if (F.Kind != FindingKind::Defect) {
      OS << "<li>";
      if (!F.Where.Path.empty())
        OS << "<code>" << path(F.Where.Path) << ':' << F.Where.Line
           << "</code>: ";
      OS << escape(F.Message) << "</li>\n";
    }
  OS << "</ul>\n</section>\n";
}

void Page::aboutChecks() {
  if (Checks.empty())
    return;
  OS << "<section>\n<h2>The checks</h2>\n";
  for (const auto &[Name, List] : Checks) {
    OS << "<h3 id=\"check-" << escape(Name) << "\"><code>" << escape(Name)
       << "</code></h3>\n";
    if (const CatalogEntry *Entry = findRule(Name)) {
      OS << "<p>Finds that " << escape(Entry->Summary) << ". "
         << escape(Entry->Why) << "</p>\n";
      if (std::string Address = checkPage(Name); !Address.empty())
        OS << "<p><a href=\"" << escape(Address)
           << "\">Documentation</a></p>\n";
    }
    OS << "<p><code>libtorch-tidy --explain=" << escape(Name)
       << "</code> tells more.</p>\n";
  }
  OS << "</section>\n";
}

std::string Page::write() {
  for (const auto &[I, F] : llvm::enumerate(R.Findings)) {
    if (F.Kind != FindingKind::Defect)
      continue;
    const bool Outside = relativePath(F.Where.Path, R.Root) == F.Where.Path;
    Files[{Outside, F.Where.Path}].push_back(I);
    Checks[F.Check].push_back(I);
    ++Levels[static_cast<unsigned>(F.Strength)];
    ++Defects;
  }
  const std::vector<std::string> Names =
      uniqueFingerprints(R.Findings, R.Root, R.Outlines);
  head();
  overview();
  OS << "<main>\n";
  problems();
  if (Defects)
    filter();
  unsigned Number = 0;
  for (const auto &[Key, List] : Files) {
    OS << "<section class=\"file\">\n<h2 id=\"file-" << ++Number << "\"><code>"
       << path(Key.second) << "</code></h2>\n";
    for (size_t I : List) {
      // A colon would need escapes in a style sheet's selector.
      std::string Id = "finding-" + Names[I];
      std::replace(Id.begin(), Id.end(), ':', '-');
      finding(R.Findings[I], Id);
    }
    OS << "</section>\n";
  }
  aboutChecks();
  OS << "</main>\n<footer><p class=\"meta\">libtorch-tidy "
     << LIBTORCH_TIDY_VERSION << "</p></footer>\n";
  if (Defects)
    OS << "<script>" << Script << "</script>\n";
  OS << "</body>\n</html>\n";
  return std::move(Out);
}

std::string toHtml(const Report &R) { return Page(R).write(); }

} // namespace libtorch_tidy::driver
