//===- CheckDocs.cpp - What is said about the checks themselves -----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/CheckDocs.h"
#include "driver/findings/NolintAudit.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {
struct DocPage {
  llvm::StringLiteral Name;
  llvm::StringLiteral Markdown;
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

llvm::Expected<std::string> explain(StringRef Name) {
  const CatalogEntry *Entry = findRule(Name);
  if (!Entry)
    Entry = findRule(("libtorch-" + Name).str());
  if (Entry)
    return documentationOf(*Entry);
  StringRef Bare = Name;
  Bare.consume_front("libtorch-");
  const CatalogEntry *Guess = nullptr;
  unsigned Best = std::max<unsigned>(Bare.size() / 2, 3);
  for (const CatalogEntry &E : catalog()) {
    unsigned Distance = E.Name.drop_front(StringRef("libtorch-").size())
                            .edit_distance_insensitive(Bare, true, Best);
    if (Distance < Best) {
      Best = Distance;
      Guess = &E;
    }
  }
  return makeError("unknown check '" + Name +
                   (Guess ? "'; did you mean '" + Guess->Name + "'?"
                          : llvm::Twine("'; see --list-checks")));
}

std::string checkPage(StringRef Check) {
  StringRef Home = LIBTORCH_TIDY_HOMEPAGE;
  if (Home.empty())
    return {};
  return (Home + "/blob/main/docs/checks/" + Check + ".md").str();
}

/// As the tables of the pages have it.
static StringRef inWords(Effect Does) {
  switch (Does) {
  case Effect::Certain:
    return "0, certain";
  case Effect::Likely:
    return "1, likely";
  case Effect::Advice:
    return "2, advisory";
  case Effect::Silent:
    return "silent";
  case Effect::NoFix:
    return "no fix";
  }
  llvm_unreachable("no effect");
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
                         {"effect", inWords(R.Does).str()},
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

} // namespace libtorch_tidy::driver
