//===- Syntax.cpp - Colours of C++ ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/output/Syntax.h"
#include "driver/findings/SourceText.h"
#include "driver/output/Markup.h"
#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// What \p Tok, which is spelled \p Word, is coloured as; 0 for nothing.
static char classOf(const clang::Token &Tok, StringRef Word, bool InDirective) {
  static clang::IdentifierTable Keywords(lexedLanguage());
  if (Tok.is(clang::tok::comment))
    return 'c';
  if (clang::tok::isStringLiteral(Tok.getKind()) ||
      Tok.isOneOf(clang::tok::char_constant, clang::tok::wide_char_constant))
    return 's';
  if (InDirective)
    return Tok.isOneOf(clang::tok::hash, clang::tok::raw_identifier) ? 'p' : 0;
  if (Tok.is(clang::tok::numeric_constant))
    return 'n';
  // Looked up only: the table keeps what it is asked for.
  auto It = Keywords.find(Word);
  return Tok.is(clang::tok::raw_identifier) && It != Keywords.end() &&
                 It->second->isKeyword(lexedLanguage())
             ? 'k'
             : 0;
}

Syntax::Syntax(StringRef Text) : Text(Text) {
  // The lexer wants a zero after the text.
  const std::string Copy = Text.str();
  clang::Lexer Raw(clang::SourceLocation(), lexedLanguage(), Copy.data(),
                   Copy.data(), Copy.data() + Copy.size());
  Raw.SetCommentRetentionState(true);
  bool InDirective = false;
  clang::Token Tok;
  for (bool IsLast = false; !IsLast;) {
    IsLast = Raw.LexFromRawLexer(Tok);
    if (Tok.is(clang::tok::eof))
      break;
    if (Tok.isAtStartOfLine())
      InDirective = Tok.is(clang::tok::hash);
    const size_t End = Raw.getCurrentBufferOffset();
    const size_t Begin = End - Tok.getLength();
    if (const char Class = classOf(Tok, Text.slice(Begin, End), InDirective))
      Words.push_back({Begin, End, Class});
  }
}

std::string Syntax::html(size_t Begin, size_t End) const {
  std::string Result;
  auto It = llvm::partition_point(
      Words, [&](const Word &W) { return W.End <= Begin; });
  for (; It != Words.end() && It->Begin < End; ++It) {
    const size_t First = std::max(It->Begin, Begin),
                 Last = std::min(It->End, End);
    Result += escapeHtml(Text.slice(Begin, First));
    Result += std::string("<span class=\"") + It->Class + "\">" +
              escapeHtml(Text.slice(First, Last)) + "</span>";
    Begin = Last;
  }
  return Result + escapeHtml(Text.slice(Begin, End));
}

} // namespace libtorch_tidy::driver
