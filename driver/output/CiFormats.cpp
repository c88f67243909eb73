//===- CiFormats.cpp - Findings for services of CI ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/output/CheckDocs.h"
#include "driver/output/Markup.h"
#include "driver/output/Reports.h"
#include "driver/project/Json.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// The path and line of a place, for the middle of a text.
static std::string inWords(const Place &Where, const Report &R) {
  return (relativePath(Where.Path, R.Root) + ":" + llvm::Twine(Where.Line))
      .str();
}

/// The message, and below it the steps that have a place.
static std::string withSteps(const Finding &F, const Report &R) {
  std::string Result = F.Message;
  unsigned Number = 0;
  for (const FindingStep &Step : placedSteps(F))
    Result += (llvm::Twine("\n") + llvm::Twine(++Number) + ". " + Step.Text +
               " (" + inWords(Step.Where, R) + ")")
                  .str();
  return Result;
}

/// "error" for what is no defect, or raised to one.
static StringRef severityOf(const Finding &F) {
  return F.Kind != FindingKind::Defect || F.AsError ? "error"
                                                    : severityWord(F.Strength);
}

std::string toGitlab(const Report &R) {
  Json All = Json::array();
  const std::vector<std::string> Names =
      uniqueFingerprints(R.Findings, R.Root, R.Texts);
  for (auto [F, Name] : llvm::zip_equal(R.Findings, Names)) {
    if (F.Kind != FindingKind::Defect || F.Where.Path.empty())
      continue;
    unsigned LastLine = F.Where.Line;
    if (const SourceText *Text = R.Texts.get(F.Where.Path))
      LastLine = Text->position(F.Where.End).Line;
    All.push_back(
        {{"description", F.Message},
         {"check_name", F.Check},
         {"fingerprint", Name},
         {"severity", F.AsError
                          ? "critical"
                          : wordFor(F.Strength, {"major", "minor", "info"})},
         {"location",
          {{"path", relativePath(F.Where.Path, R.Root).str()},
           {"lines", {{"begin", F.Where.Line}, {"end", LastLine}}}}}});
  }
  return written(All, 2) + "\n";
}

/// Escapes for the runner of GitHub Actions. In a property `:` and `,` would
/// end the value.
static std::string escapeCommand(StringRef Text, bool InProperty) {
  std::string Result;
  for (char C : Text) {
    const bool Special = C == '%' || C == '\r' || C == '\n' ||
                         (InProperty && (C == ':' || C == ','));
    if (Special)
      Result += {'%', llvm::hexdigit(C >> 4), llvm::hexdigit(C & 15)};
    else
      Result += C;
  }
  return Result;
}

std::string toGithub(const Report &R) {
  std::string Result;
  llvm::raw_string_ostream OS(Result);
  for (const Finding &F : R.Findings) {
    StringRef Command = severityOf(F);
    OS << "::" << (Command == "note" ? "notice" : Command) << ' ';
    if (!F.Where.Path.empty()) {
      OS << "file=" << escapeCommand(relativePath(F.Where.Path, R.Root), true)
         << ",line=" << F.Where.Line;
      if (const SourceText *Text = R.Texts.get(F.Where.Path)) {
        auto Begin = Text->positionUtf16(F.Where.Begin);
        auto End = Text->positionUtf16(F.Where.End);
        OS << ",endLine=" << End.Line;
        // Columns are refused for more than one line.
        if (End.Line == Begin.Line)
          OS << ",col=" << Begin.Column
             << ",endColumn=" << std::max(Begin.Column, End.Column - 1);
      }
      OS << ',';
    }
    OS << "title=" << escapeCommand(F.Check, true)
       << "::" << escapeCommand(withSteps(F, R), false) << '\n';
  }
  for (const auto &[Unit, Trouble] : R.FailedUnits)
    OS << "::error file=" << escapeCommand(relativePath(Unit, R.Root), true)
       << ",title=libtorch-tidy::could not be analysed in full because "
       << escapeCommand(Trouble, false) << '\n';
  return Result;
}

/// Lines and byte columns, the end exclusive.
static Json rdRange(const Place &Where, const SourceText &Text) {
  auto Position = [&](unsigned Offset) -> Json {
    auto P = Text.position(Offset);
    return {{"line", P.Line}, {"column", P.Column}};
  };
  return {{"start", Position(Where.Begin)},
          {"end", Position(std::max(Where.Begin, Where.End))}};
}

/// The fix as one edit from its first byte to its last: suggestions of
/// reviewdog are alternatives, and belong to the file of the diagnostic. Null
/// when the fix touches another file.
static Json rdSuggestion(const Finding &F, const SourceText &Text) {
  if (F.Fix.size() != 1 || F.Fix.begin()->first != F.Where.Path)
    return nullptr;
  const clang::tooling::Replacements &Edits = F.Fix.begin()->second;
  Place All;
  All.Begin = All.End = Edits.begin()->getOffset();
  std::string NewText;
  for (const clang::tooling::Replacement &E : Edits) {
    NewText += Text.text().slice(All.End, E.getOffset());
    NewText += E.getReplacementText();
    All.End = std::max(All.End, E.getOffset() + E.getLength());
  }
  return {{"range", rdRange(All, Text)}, {"text", NewText}};
}

std::string toRdjsonl(const Report &R) {
  std::string Result;
  for (const Finding &F : R.Findings) {
    Json Line = {
        {"message", withSteps(F, R)},
        {"location", {{"path", relativePath(F.Where.Path, R.Root).str()}}}};
    Json Suggestion;
    if (const SourceText *Text = R.Texts.get(F.Where.Path)) {
      Line["location"]["range"] = rdRange(F.Where, *Text);
      Suggestion = rdSuggestion(F, *Text);
    }
    StringRef Severity = severityOf(F);
    Line["severity"] = Severity == "note" ? "INFO" : Severity.upper();
    Line["source"] = {{"name", "libtorch-tidy"}};
    Line["code"] = {{"value", F.Check}};
    if (std::string Page = checkPage(F.Check);
        !Page.empty() && findRule(F.Check))
      Line["code"]["url"] = std::move(Page);
    if (!Suggestion.is_null())
      Line["suggestions"] = Json::array({std::move(Suggestion)});
    Result += written(Line) + "\n";
  }
  return Result;
}

/// XML 1.0 has no way to write most control characters, nor U+FFFE and U+FFFF,
/// and readers make a space of a line end in an attribute.
static std::string escapeXml(StringRef Text) {
  std::string Result =
      escapeMarkup(Text, [](char C) -> std::optional<StringRef> {
        if (C == '\n')
          return "&#10;";
        if (static_cast<unsigned char>(C) < 0x20 && C != '\t')
          return "?";
        return std::nullopt;
      });
  for (StringRef None : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (size_t At = Result.find(None); At != std::string::npos;
         At = Result.find(None, At))
      Result.replace(At, None.size(), "?");
  return Result;
}

std::string toJunit(const Report &R) {
  struct Suite {
    std::vector<const Finding *> Findings;
    std::string
        Trouble; ///< Why it is not analysed in full, unless findings say so.
    unsigned Defects = 0, Errors = 0;
  };
  std::map<std::string, Suite> Suites;
  for (const std::string &Unit : R.Units)
    Suites[relativePath(Unit, R.Root).str()];
  for (const auto &[Unit, Trouble] : R.FailedUnits)
    Suites[relativePath(Unit, R.Root).str()].Trouble = Trouble;
  for (const Finding &F : R.Findings)
    Suites[F.Where.Path.empty() ? "configuration"
                                : relativePath(F.Where.Path, R.Root).str()]
        .Findings.push_back(&F);
  unsigned Tests = 0, Failures = 0, Errors = 0;
  for (auto &[Name, S] : Suites) {
    for (const Finding *F : S.Findings)
      ++(F->Kind == FindingKind::Defect ? S.Defects : S.Errors);
    if (S.Errors)
      S.Trouble.clear(); // They say it.
    S.Errors += !S.Trouble.empty();
    Failures += S.Defects;
    Errors += S.Errors;
    Tests += std::max(1U, S.Defects + S.Errors);
  }

  std::string Result;
  llvm::raw_string_ostream OS(Result);
  OS << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
     << "<testsuites name=\"libtorch-tidy\" tests=\"" << Tests
     << "\" failures=\"" << Failures << "\" errors=\"" << Errors << "\">\n";
  for (const auto &[Name, S] : Suites) {
    const std::string File = escapeXml(Name);
    OS << "  <testsuite name=\"" << File << "\" tests=\""
       << std::max(1U, S.Defects + S.Errors) << "\" failures=\"" << S.Defects
       << "\" errors=\"" << S.Errors << "\" skipped=\"0\">\n";
    auto Case = [&](const llvm::Twine &Test) {
      OS << "    <testcase classname=\"" << File << "\" name=\"" << Test << '"';
    };
    for (const Finding *F : S.Findings) {
      const bool IsDefect = F->Kind == FindingKind::Defect;
      const char *Element = IsDefect ? "failure" : "error";
      Case(escapeXml(F->Check) + " at " + llvm::Twine(F->Where.Line) + ":" +
           llvm::Twine(F->Where.Column));
      OS << ">\n      <" << Element << " type=\"" << severityOf(*F)
         << "\" message=\"" << escapeXml(F->Message) << "\">"
         << escapeXml(inWords(F->Where, R) + ": " + withSteps(*F, R)) << "</"
         << Element << ">\n    </testcase>\n";
    }
    if (!S.Trouble.empty()) {
      Case("analysis");
      OS << ">\n      <error type=\"error\" message=\"it could not be analysed "
            "in full because "
         << escapeXml(S.Trouble) << "\"/>\n    </testcase>\n";
    }
    if (!S.Defects && !S.Errors) {
      Case("analysis");
      OS << "/>\n";
    }
    OS << "  </testsuite>\n";
  }
  OS << "</testsuites>\n";
  return Result;
}

} // namespace libtorch_tidy::driver
