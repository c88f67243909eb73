//===- Protocol.cpp - Values of the Language Server Protocol --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/lsp/Protocol.h"
#include "driver/output/Reports.h"
#include "driver/project/CompileCommands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

static bool contains(const Json &List, StringRef Text) {
  return llvm::any_of(listOf(List),
                      [&](const Json &One) { return textOf(One) == Text; });
}

ClientAbilities ClientAbilities::of(const Json &Params) {
  const Json &All = at(Params, {"capabilities"});
  const Json &Diagnostics = at(All, {"textDocument", "publishDiagnostics"});
  ClientAbilities Result;
  if (contains(at(All, {"general", "positionEncodings"}), "utf-8"))
    Result.Encoding = PositionEncoding::Utf8;
  Result.RelatedInformation = isTrue(at(Diagnostics, {"relatedInformation"}));
  Result.CodeDescription = isTrue(at(Diagnostics, {"codeDescriptionSupport"}));
  Result.MarkdownHover =
      contains(at(All, {"textDocument", "hover", "contentFormat"}), "markdown");
  Result.CodeActionLiterals =
      at(All, {"textDocument", "codeAction", "codeActionLiteralSupport"})
          .is_object();
  const Json &Actions = at(All, {"textDocument", "codeAction"});
  Result.ResolvesEdits =
      isTrue(at(Actions, {"dataSupport"})) &&
      contains(at(Actions, {"resolveSupport", "properties"}), "edit");
  Result.DocumentChanges =
      isTrue(at(All, {"workspace", "workspaceEdit", "documentChanges"}));
  Result.Progress = isTrue(at(All, {"window", "workDoneProgress"}));
  Result.WatchesFiles = isTrue(
      at(All, {"workspace", "didChangeWatchedFiles", "dynamicRegistration"}));
  Result.PullsDiagnostics = at(All, {"textDocument", "diagnostic"}).is_object();
  Result.RefreshesDiagnostics =
      isTrue(at(All, {"workspace", "diagnostics", "refreshSupport"}));
  return Result;
}

std::string pathOf(StringRef Uri) {
  if (!Uri.consume_front_insensitive("file://"))
    return {};
  // The machine, which is this one.
  Uri = Uri.drop_until([](char C) { return C == '/'; });
  std::string Result;
  for (size_t I = 0; I < Uri.size(); ++I) {
    uint8_t Byte;
    if (Uri[I] == '%' && I + 2 < Uri.size() &&
        llvm::tryGetHexFromNibbles(Uri[I + 1], Uri[I + 2], Byte)) {
      Result += static_cast<char>(Byte);
      I += 2;
    } else {
      Result += Uri[I];
    }
  }
  // No file has such a name.
  return StringRef(Result).contains('\0') ? std::string() : Result;
}

std::string uriOf(StringRef Path) { return "file://" + percentEncode(Path); }

/// The bytes of \p Line that \p Units UTF-16 code units take, at most.
static size_t bytesOf(StringRef Line, int64_t Units) {
  StringRef Rest = Line;
  for (StringRef Next = Rest; !Next.empty(); Rest = Next) {
    Units -= takeCharacter(Next);
    if (Units < 0)
      break; // Past them, or in the middle of a character.
  }
  return Line.size() - Rest.size();
}

std::optional<unsigned> offsetOf(const SourceText &Text, const Json &Position,
                                 PositionEncoding Encoding) {
  const std::optional<int64_t> Line = numberOf(at(Position, {"line"})),
                               Character =
                                   numberOf(at(Position, {"character"}));
  if (!Line || !Character || *Line < 0 || *Character < 0)
    return std::nullopt;
  if (*Line >= Text.lineCount())
    return Text.text().size();
  const StringRef Here = Text.line(*Line + 1);
  const size_t Column = Encoding == PositionEncoding::Utf8
                            ? std::min<uint64_t>(*Character, Here.size())
                            : bytesOf(Here, *Character);
  return Here.data() - Text.text().data() + Column;
}

Json diagnosticOfFile(StringRef Message, Severity How) {
  const Json Start = {{"line", 0}, {"character", 0}};
  return {{"range", {{"start", Start}, {"end", Start}}},
          {"severity", static_cast<int>(How)},
          {"source", "libtorch-tidy"},
          {"message", Message.str()}};
}

bool Document::isCxx() const {
  // What the protocol and editors call them.
  return isCxxFile(Path) ||
         llvm::is_contained({"cpp", "c++", "cuda-cpp"}, Language);
}

bool Document::change(const Json &Changes, PositionEncoding Encoding) {
  std::string Now = Text;
  for (const Json &Change : listOf(Changes)) {
    const Json &NewText = at(Change, {"text"});
    if (!NewText.is_string())
      return false;
    const Json &Range = at(Change, {"range"});
    if (Range.is_null()) {
      Now = textOf(NewText);
      continue;
    }
    const SourceText Before(Now);
    const auto Begin = offsetOf(Before, at(Range, {"start"}), Encoding),
               End = offsetOf(Before, at(Range, {"end"}), Encoding);
    if (!Begin || !End || *Begin > *End)
      return false;
    Now.replace(*Begin, *End - *Begin, textOf(NewText));
  }
  Text = std::move(Now);
  return true;
}

static bool isListOfTexts(const Json &Value) {
  return Value.is_array() &&
         llvm::all_of(Value, [](const Json &One) { return One.is_string(); });
}

Settings Settings::of(const Json &Value, std::vector<std::string> &Problems) {
  Settings Result;
  const Json &Own = at(Value, {"libtorch-tidy"});
  const Json &All = Own.is_null() ? Value : Own;
  if (!All.is_object())
    return Result; // Clients without settings send null, or an empty list.
  for (const auto &[Name, Given] : All.items()) {
    const char *Wanted = nullptr;
    if (Given.is_null())
      continue;
    if (Name == "level") {
      if (const int64_t Number = numberOf(Given).value_or(-1);
          Number >= 0 && Number <= 2)
        Result.WeakestLevel = static_cast<Level>(Number);
      else
        Wanted = "0, 1 or 2";
    } else if (Name == "checks" || Name == "buildPath") {
      if (Given.is_string())
        (Name == "checks" ? Result.Checks : Result.BuildPath) = textOf(Given);
      else
        Wanted = "a string";
    } else if (Name == "extraArgs" || Name == "extraArgsBefore") {
      if (isListOfTexts(Given))
        Given.get_to(Name == "extraArgs" ? Result.After : Result.Before);
      else
        Wanted = "a list of strings";
    } else if (&All == &Own) {
      Problems.push_back("there is no setting '" + Name + "'");
    }
    if (Wanted)
      Problems.push_back("the setting '" + Name + "' must be " + Wanted);
  }
  return Result;
}

void Settings::applyTo(CommandLine &Options) const {
  if (WeakestLevel)
    Options.Configuration.WeakestLevel = WeakestLevel;
  if (Checks)
    Options.Configuration.Checks = Checks;
  if (BuildPath && !Options.Commands.Fixed)
    Options.Commands.BuildPath = *BuildPath;
  llvm::append_range(Options.Analysis.Extra.Before, Before);
  llvm::append_range(Options.Analysis.Extra.After, After);
}

} // namespace libtorch_tidy::driver::lsp
