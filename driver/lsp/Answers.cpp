//===- Answers.cpp - What is offered at a place of a document -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/lsp/Answers.h"
#include "driver/output/CheckDocs.h"
#include "fixits/Verifier.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

/// Kinds form a tree: "source" has "source.fixAll" in it.
static bool isWithin(StringRef Kind, StringRef Wanted) {
  return Kind.consume_front(Wanted) && (Kind.empty() || Kind.front() == '.');
}

bool namesKind(const Json &Params, StringRef Kind) {
  return llvm::any_of(
      listOf(at(Params, {"context", "only"})),
      [&](const Json &One) { return isWithin(Kind, textOf(One)); });
}

bool wantsKind(const Json &Params, StringRef Kind) {
  return !at(Params, {"context", "only"}).is_array() || namesKind(Params, Kind);
}

/// \p Edits, by path, as a WorkspaceEdit.
static Json workspaceEdit(const Json &Edits, const Documents &Open,
                          const ClientAbilities &Client) {
  Json Changes = Json::object(), Versioned = Json::array();
  for (const auto &[Path, OfFile] : Edits.items()) {
    auto It = Open.find(Path);
    const bool IsOpen = It != Open.end();
    const std::string Uri = IsOpen ? It->second.Uri : uriOf(Path);
    Changes[Uri] = OfFile;
    Json Version = nullptr;
    if (IsOpen)
      Version = It->second.Version;
    Versioned.push_back(
        {{"textDocument", {{"uri", Uri}, {"version", std::move(Version)}}},
         {"edits", OfFile}});
  }
  if (Client.DocumentChanges)
    return {{"documentChanges", std::move(Versioned)}};
  return {{"changes", std::move(Changes)}};
}

/// A comment on the line above a finding that keeps it from being reported.
/// Null where a line cannot be put.
static Json suppression(const Document &Doc, const SourceText &Text,
                        const Json &Diagnostic) {
  const std::optional<int64_t> Line =
      numberOf(at(Diagnostic, {"range", "start", "line"}));
  if (!Line)
    return nullptr;
  StringRef Before = *Line ? Text.line(*Line).rtrim() : StringRef();
  // It would continue a macro, or come between a comment and its line.
  if (Before.ends_with("\\") || Before.contains("NOLINTNEXTLINE"))
    return nullptr;
  StringRef Here = Text.line(*Line + 1);
  const std::string Comment =
      (Here.take_while([](char C) { return C == ' ' || C == '\t'; }) +
       "// NOLINTNEXTLINE(" + textOf(at(Diagnostic, {"code"})) + ")\n")
          .str();
  const Json Start = {{"line", *Line}, {"character", 0}};
  return {{Doc.Path,
           Json::array(
               {{{"range", {{"start", Start}, {"end", Start}}},
                 {"newText", fixits::withLineEndsOf(Text.text(), Comment)}}})}};
}

Json codeActions(const Document &Doc, const Json &Found, const Json &All,
                 const Json &Params, const Documents &Open,
                 const ClientAbilities &Client) {
  Json Fixes = Json::array(), Comments = Json::array();
  const SourceText Text(Doc.Text);
  for (const Json &One : listOf(Found)) {
    const Json &Diagnostic = at(One, {"diagnostic"});
    const std::string Check = textOf(at(Diagnostic, {"code"}));
    if (!wantsKind(Params, QuickFix) || !findRule(Check) ||
        !touch(at(Diagnostic, {"range"}), at(Params, {"range"})))
      continue;
    auto Add = [&](Json &List, const std::string &Title, const Json &Edits) {
      List.push_back({{"title", Title},
                      {"kind", QuickFix},
                      {"diagnostics", Json::array({Diagnostic})},
                      {"edit", workspaceEdit(Edits, Open, Client)}});
    };
    if (const Json &Fix = at(One, {"fix"}); Fix.is_object()) {
      Add(Fixes, textOf(at(Fix, {"title"})) + " [" + Check + "]",
          at(Fix, {"edits"}));
      Fixes.back()["isPreferred"] = true;
    }
    if (Json Edits = suppression(Doc, Text, Diagnostic); !Edits.is_null())
      Add(Comments, "Suppress " + Check + " on this line", Edits);
  }
  for (Json &Comment : Comments)
    Fixes.push_back(std::move(Comment));
  if (namesKind(Params, FixAll) && All.is_object() && !All.empty())
    Fixes.push_back({{"title", "Apply all fixes of libtorch-tidy"},
                     {"kind", FixAll},
                     {"edit", workspaceEdit(All, Open, Client)}});
  return Fixes;
}

Json hover(const Json &Found, const Json &Params,
           const ClientAbilities &Client) {
  const Json &Position = at(Params, {"position"});
  std::vector<std::string> Checks;
  std::string Pages;
  Json Range;
  for (const Json &One : listOf(Found)) {
    const Json &Diagnostic = at(One, {"diagnostic"});
    const CatalogEntry *Entry = findRule(textOf(at(Diagnostic, {"code"})));
    if (!Entry || llvm::is_contained(Checks, Entry->Name) ||
        !touch(at(Diagnostic, {"range"}),
               {{"start", Position}, {"end", Position}}))
      continue;
    Checks.push_back(Entry->Name.str());
    Pages += (Pages.empty() ? "" : "\n---\n\n") + documentationOf(*Entry);
    if (Range.is_null())
      Range = at(Diagnostic, {"range"});
  }
  if (Pages.empty())
    return nullptr;
  return {{"contents",
           {{"kind", Client.MarkdownHover ? "markdown" : "plaintext"},
            {"value", std::move(Pages)}}},
          {"range", std::move(Range)}};
}

} // namespace libtorch_tidy::driver::lsp
