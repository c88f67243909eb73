//===- CodeOutline.cpp - Statements of a file -----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/findings/CodeOutline.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

CodeOutline::CodeOutline(StringRef Text) : Text(Text) {
  std::vector<unsigned> OuterDepths; // Of parentheses, around each block.
  unsigned StatementNumber = 0, StatementLength = 0, ParenDepth = 0;
  StringRef First; // Of the statement.
  auto EndStatement = [&] {
    ++StatementNumber;
    StatementLength = 0;
  };

  clang::LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus14 =
      Language.CPlusPlus17 = Language.Bool = Language.LineComment = true;
  // The lexer wants a zero after the text.
  const std::string Copy = Text.str();
  clang::Lexer Raw(clang::SourceLocation(), Language, Copy.data(), Copy.data(),
                   Copy.data() + Copy.size());
  bool InDirective = false;
  clang::Token Tok;
  while (true) {
    const bool Last = Raw.LexFromRawLexer(Tok);
    if (Tok.is(clang::tok::eof))
      break;
    if (Tok.isAtStartOfLine())
      InDirective = Tok.is(clang::tok::hash);
    const unsigned End = Raw.getCurrentBufferOffset();
    const unsigned Begin = End - Tok.getLength();
    const StringRef Spelling = Text.substr(Begin, Tok.getLength());
    if (InDirective) {
      if (Last)
        break;
      continue;
    }
    if (Spelling == "}") {
      if (!OuterDepths.empty()) {
        ParenDepth = OuterDepths.back();
        OuterDepths.pop_back();
      }
      EndStatement();
    }
    Tokens.push_back({Begin, Tok.getLength(), StatementNumber});
    if (Spelling == "{") {
      OuterDepths.push_back(ParenDepth);
      ParenDepth = 0;
    } else if (Spelling == "(" || Spelling == "[") {
      ++ParenDepth;
    } else if ((Spelling == ")" || Spelling == "]") && ParenDepth) {
      --ParenDepth;
    }
    if (Spelling == "{" || Spelling == "}" ||
        (Spelling == ";" && !ParenDepth) ||
        // A label of access, or `default:`.
        (Spelling == ":" && StatementLength == 1 &&
         llvm::is_contained({"public", "protected", "private", "default"},
                            First)))
      EndStatement();
    else if (!StatementLength++)
      First = Spelling;
    if (Last)
      break;
  }
}

const CodeOutline::Token *CodeOutline::tokenAt(unsigned Offset) const {
  auto It = llvm::upper_bound(
      Tokens, Offset, [](unsigned O, const Token &T) { return O < T.Offset; });
  return It == Tokens.begin() ? nullptr : &*std::prev(It);
}

CodeOutline::Statement CodeOutline::statementAt(unsigned Offset) const {
  Statement Result;
  const Token *At = tokenAt(Offset);
  if (!At)
    return Result;
  const Token *First = At;
  while (First != Tokens.data() && First[-1].Statement == At->Statement)
    --First;
  Result.Index = At - First;
  for (const Token *T = First;
       T != Tokens.data() + Tokens.size() && T->Statement == At->Statement;
       ++T) {
    if (!Result.Tokens.empty())
      Result.Tokens += ' ';
    Result.Tokens += Text.substr(T->Offset, T->Length);
  }
  return Result;
}

} // namespace libtorch_tidy::driver
