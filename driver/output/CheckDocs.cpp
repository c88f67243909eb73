//===- CheckDocs.cpp - What is said about the checks themselves -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/output/CheckDocs.h"
#include "driver/findings/NolintAudit.h"
#include "driver/output/Terminal.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {
struct DocPage {
  llvm::StringLiteral Name, Markdown;
};
} // namespace

// Written by Embed.cmake; the first entry is there so that the array is
// never empty.
static constexpr DocPage Pages[] = {
    {"", ""},
#include "driver/CheckDocPages.inc"
};

std::string documentationOf(const CatalogEntry &Entry) {
  const auto *It = llvm::find_if(
      Pages, [&](const DocPage &P) { return P.Name == Entry.Name; });
  if (It != std::end(Pages))
    return It->Markdown.str();
  return ("# " + Entry.Name + "\n\nFinds that " + Entry.Summary + ".\n\n" +
          Entry.Why + "\n")
      .str();
}

const CatalogEntry *findRule(StringRef Name) {
  const CatalogEntry &Audit = nolintAuditEntry();
  return Name == Audit.Name ? &Audit : findInCatalog(Name);
}

/// What a reader of a page in a terminal needs of the address of a link in it,
/// which is relative to docs/checks.
static std::string addressFor(StringRef Text, StringRef Address) {
  if (Address.contains("://"))
    return Address.str();
  StringRef Page = Address.split('#').first;
  if (Page.consume_front("../")) {
    const StringRef Home = LIBTORCH_TIDY_HOMEPAGE;
    return ((Home.empty() ? "" : Home + "/blob/main/") + "docs/" + Page).str();
  }
  Page.consume_back(".md");
  return Page.empty() || Text.contains(Page)
             ? ""
             : ("libtorch-tidy explain " + Page).str();
}

llvm::Expected<std::string> explain(StringRef Name, bool AsMarkdown) {
  const CatalogEntry *Entry = findRule(Name);
  if (!Entry)
    Entry = findRule(("libtorch-" + Name).str());
  if (Entry && AsMarkdown)
    return documentationOf(*Entry);
  if (Entry) {
    TerminalForm Form = formOfOutput();
    Form.Address = addressFor;
    return inTerminal(documentationOf(*Entry), Form);
  }
  constexpr StringRef Prefix = "libtorch-";
  std::vector<StringRef> Bare;
  for (const CatalogEntry &E : catalog())
    Bare.push_back(E.Name.drop_front(Prefix.size()));
  StringRef Word = Name;
  Word.consume_front(Prefix);
  return makeError("unknown check '" + Name + "'" +
                   didYouMean(Word, Bare, Prefix, "; see --list-checks"));
}

std::string checkPage(StringRef Check) {
  StringRef Home = LIBTORCH_TIDY_HOMEPAGE;
  if (Home.empty())
    return {};
  return (Home + "/blob/main/docs/checks/" + Check + ".md").str();
}

std::string installedPage(StringRef Check) {
  namespace path = llvm::sys::path;
  static const std::string Program = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&installedPage));
  llvm::SmallString<256> Page(path::parent_path(path::parent_path(Program)));
  path::append(Page, "share/doc/libtorch-tidy/docs/checks", Check + ".md");
  return llvm::sys::fs::exists(Page) ? Page.str().str() : "";
}

/// As the tables of the pages have it.
static const char *inWords(Effect Does) {
  static constexpr const char *Words[] = {"0, certain", "1, likely",
                                          "2, advisory", "silent", "no fix"};
  return Words[static_cast<unsigned>(Does)];
}

std::string catalogAsJson(llvm::ArrayRef<std::string> Enabled) {
  Json All = Json::array();
  for (const CatalogEntry &E : catalog()) {
    Json Tags = Json::array();
    for (StringRef Tag : E.Tags)
      Tags.push_back(Tag.str());
    Json Reasons = Json::array();
    for (const Reason &R : E.Reasons())
      Reasons.push_back({{"name", R.Name.str()},
                         {"effect", inWords(R.Does)},
                         {"when", R.When.str()}});
    All.push_back({{"name", E.Name.str()},
                   {"level", static_cast<unsigned>(E.StrongestLevel)},
                   {"summary", E.Summary.str()},
                   {"why", E.Why.str()},
                   {"fixes", E.Fix != FixKind::None},
                   {"tags", std::move(Tags)},
                   {"reasons", std::move(Reasons)},
                   {"enabled", llvm::is_contained(Enabled, E.Name)}});
  }
  return All.dump(2) + "\n";
}

WhyQuery WhyQuery::parse(StringRef Text) {
  const auto [File, Number] = Text.rsplit(':');
  unsigned Line;
  if (!File.empty() && !Number.getAsInteger(10, Line) && Line)
    return {File.str(), Line};
  return {Text.str(), 0};
}

static std::string named(const FindingReason &Why) {
  return Why.Name + (Why.Detail.empty() ? "" : ": " + Why.Detail);
}

static const Reason *rowOf(const CatalogEntry *Entry, StringRef Name) {
  if (Entry)
    for (const Reason &Row : Entry->Reasons())
      if (Row.Name == Name)
        return &Row;
  return nullptr;
}

/// What the page says of \p Row, on lines of its own.
static std::string meaningOf(const Reason *Row) {
  if (!Row)
    return {};
  TerminalForm Form = formOfOutput();
  Form.Columns -= 2;
  const std::string Text = inTerminal(Row->When, Form);
  std::string Result;
  for (StringRef Line : llvm::split(StringRef(Text).trim(), '\n'))
    Result += ("\n  " + Line).str();
  return Result;
}

namespace {
/// The rest of a line, and the row of the page that it names, if any.
struct Decision {
  std::string Text;
  const Reason *Row = nullptr;
};
} // namespace

static std::vector<Decision> decisionsOn(const Finding &F) {
  const std::string Number = std::to_string(unsigned(F.Strength));
  std::vector<Decision> Result;
  const CatalogEntry *Entry = findInCatalog(F.Check);
  bool HasLevel = false;
  for (const FindingReason &Why : F.Reasons) {
    const Reason *Row = rowOf(Entry, Why.Name);
    if (!Row)
      continue;
    if (Row->Does == Effect::NoFix) {
      Result.push_back({"no fix: " + named(Why), Row});
    } else if (unsigned(Row->Does) == unsigned(F.Strength)) {
      const bool IsLower = Entry->StrongestLevel < F.Strength;
      Result.push_back({(IsLower ? "lowered to " : "of level ") + Number +
                            " by " + named(Why),
                        Row});
      HasLevel = true;
    } else {
      Result.push_back({"also " + named(Why), Row});
    }
  }
  if (!HasLevel)
    Result.insert(Result.begin(), {"a finding of level " + Number});
  return Result;
}

std::string answerWhy(const WhyQuery &Query, StringRef Path,
                      llvm::ArrayRef<Finding> Findings,
                      llvm::ArrayRef<Silence> Silences) {
  std::set<std::pair<unsigned, std::string>> Lines;
  auto Say = [&](const Place &Where, StringRef Check, const Decision &What) {
    if (Where.Path == Path && (!Query.Line || Query.Line == Where.Line))
      Lines.insert({Where.Line, printable(Check.str() + ": " + What.Text) +
                                    (Query.Line ? meaningOf(What.Row) : "")});
  };
  for (const Finding &F : Findings)
    if (F.Kind == FindingKind::Defect)
      for (const Decision &What : decisionsOn(F))
        Say(F.Where, F.Check, What);
  for (const Silence &S : Silences)
    Say(S.Where, S.Check,
        {"not a finding: " + named(S.Why),
         rowOf(findInCatalog(S.Check), S.Why.Name)});
  if (Lines.empty())
    return "no reason is known" +
           (Query.Line ? " at line " + std::to_string(Query.Line)
                       : std::string(" in this file")) +
           ": no check reports anything there, or says why not\n";
  std::string Result;
  for (const auto &[Line, Text] : Lines)
    Result += (Query.Line ? "" : std::to_string(Line) + ": ") + Text + "\n";
  return Result;
}

} // namespace libtorch_tidy::driver
