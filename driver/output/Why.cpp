//===- Why.cpp - Which reasons decided at a place -------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/Why.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using llvm::StringRef;

namespace libtorch_tidy::driver {

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

/// What decided on \p F, each as the rest of a line.
static std::vector<std::string> decisionsOn(const Finding &F) {
  const std::string Number = std::to_string(unsigned(F.Strength));
  std::vector<std::string> Result;
  const CatalogEntry *Entry = findInCatalog(F.Check);
  bool HasLevel = false;
  for (const FindingReason &Why : F.Reasons) {
    const Reason *Row = rowOf(Entry, Why.Name);
    if (!Row)
      continue;
    if (Row->Does == Effect::NoFix) {
      Result.push_back("no fix: " + named(Why));
    } else if (unsigned(Row->Does) == unsigned(F.Strength)) {
      const bool IsLower = Entry->StrongestLevel < F.Strength;
      Result.push_back((IsLower ? "lowered to " : "of level ") + Number +
                       " by " + named(Why));
      HasLevel = true;
    } else {
      Result.push_back("also " + named(Why));
    }
  }
  if (!HasLevel)
    Result.insert(Result.begin(), "a finding of level " + Number);
  return Result;
}

std::string answerWhy(const WhyQuery &Query, StringRef Path,
                      llvm::ArrayRef<Finding> Findings,
                      llvm::ArrayRef<Silence> Silences) {
  std::set<std::pair<unsigned, std::string>> Lines;
  auto Say = [&](const Place &Where, StringRef Check, const std::string &Text) {
    if (Where.Path == Path && (!Query.Line || Query.Line == Where.Line))
      Lines.insert({Where.Line, printable(Check.str() + ": " + Text)});
  };
  for (const Finding &F : Findings)
    if (F.Kind == FindingKind::Defect)
      for (const std::string &Decision : decisionsOn(F))
        Say(F.Where, F.Check, Decision);
  for (const Silence &S : Silences)
    Say(S.Where, S.Check, "not a finding: " + named(S.Why));
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
