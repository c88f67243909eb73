//===- Protocol.cpp - Values of the Language Server Protocol --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/lsp/Protocol.h"
#include "driver/output/Reports.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

std::string toText(const Json &Value) {
  return Value.dump(-1, ' ', /*ensure_ascii=*/false,
                    Json::error_handler_t::replace);
}

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
  Result.DocumentChanges =
      isTrue(at(All, {"workspace", "workspaceEdit", "documentChanges"}));
  Result.Progress = isTrue(at(All, {"window", "workDoneProgress"}));
  Result.WatchesFiles = isTrue(
      at(All, {"workspace", "didChangeWatchedFiles", "dynamicRegistration"}));
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

static Json positionOf(const SourceText &Text, unsigned Offset,
                       PositionEncoding Encoding) {
  const SourceText::Position P = Encoding == PositionEncoding::Utf8
                                     ? Text.position(Offset)
                                     : Text.positionUtf16(Offset);
  return {{"line", P.Line - 1}, {"character", P.Column - 1}};
}

Json rangeOf(const SourceText &Text, unsigned Begin, unsigned End,
             PositionEncoding Encoding) {
  return {{"start", positionOf(Text, Begin, Encoding)},
          {"end", positionOf(Text, std::max(Begin, End), Encoding)}};
}

/// The bytes of \p Line that \p Units UTF-16 code units take, at most.
static size_t bytesOf(StringRef Line, int64_t Units) {
  const auto *Begin = reinterpret_cast<const llvm::UTF8 *>(Line.begin());
  const auto *End = reinterpret_cast<const llvm::UTF8 *>(Line.end());
  const auto *P = Begin;
  while (P != End && Units > 0) {
    const unsigned Bytes =
        llvm::isLegalUTF8Sequence(P, End) ? llvm::getNumBytesForUTF8(*P) : 1;
    const unsigned Needed = Bytes == 4 ? 2 : 1;
    if (Needed > Units)
      break; // In the middle of a character.
    P += Bytes;
    Units -= Needed;
  }
  return P - Begin;
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

bool isBefore(const Json &A, const Json &B) {
  auto Key = [](const Json &P) {
    return std::pair(numberOf(at(P, {"line"})).value_or(0),
                     numberOf(at(P, {"character"})).value_or(0));
  };
  return Key(A) < Key(B);
}

bool touch(const Json &A, const Json &B) {
  return !isBefore(at(A, {"end"}), at(B, {"start"})) &&
         !isBefore(at(B, {"end"}), at(A, {"start"}));
}

Json diagnosticOfFile(StringRef Message, Severity How) {
  const Json Start = {{"line", 0}, {"character", 0}};
  return {{"range", {{"start", Start}, {"end", Start}}},
          {"severity", static_cast<int>(How)},
          {"source", "libtorch-tidy"},
          {"message", Message.str()}};
}

} // namespace libtorch_tidy::driver::lsp
