//===- CodeOutline.cpp - Statements and functions of a file ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/findings/CodeOutline.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static bool isIdentifier(StringRef Token) {
  return !Token.empty() && (clang::isAsciiIdentifierStart(Token.front()) ||
                            static_cast<unsigned char>(Token.front()) >= 0x80);
}

static bool startsControl(StringRef Token) {
  return llvm::StringSwitch<bool>(Token)
      .Cases("if", "else", "for", "while", "do", "switch", "try", "catch", true)
      .Cases("return", "co_return", "co_await", "case", "default", true)
      .Default(false);
}

/// `template <...>` in front of a declaration says nothing about its kind.
static ArrayRef<StringRef> withoutTemplate(ArrayRef<StringRef> Tokens) {
  while (!Tokens.empty() && Tokens.front() == "template") {
    size_t I = 1;
    int Depth = 0;
    for (; I < Tokens.size(); ++I) {
      Depth += Tokens[I].count('<') - Tokens[I].count('>');
      if (Depth <= 0)
        break;
    }
    Tokens = Tokens.drop_front(std::min(I + 1, Tokens.size()));
  }
  return Tokens;
}

/// `class TORCH_API Name final : public Base` -> "Name", `namespace a::b` ->
/// "a::b". Empty for what has no name; absent for other declarations.
static std::optional<std::string> scopeName(ArrayRef<StringRef> Tokens) {
  while (!Tokens.empty() &&
         (Tokens.front() == "inline" || Tokens.front() == "typedef"))
    Tokens = Tokens.drop_front();
  if (Tokens.empty())
    return std::nullopt;
  if (Tokens.front() == "extern" && Tokens.size() == 2)
    return std::string();
  if (!llvm::is_contained({"namespace", "class", "struct", "union", "enum"},
                          Tokens.front()))
    return std::nullopt;
  std::string Name;
  for (StringRef Token : Tokens.drop_front()) {
    if (Token == ":" || Token == "<" || Token == "final")
      break;
    if (Token == "::" && !Name.empty())
      Name += "::";
    else if (isIdentifier(Token) && Token != "class" && Token != "struct")
      Name = StringRef(Name).ends_with("::") ? Name + Token.str() : Token.str();
  }
  return Name;
}

/// The name in the declarator of a function definition: what stands before
/// its first parenthesis. Absent when it is none.
static std::optional<std::string> functionName(ArrayRef<StringRef> Tokens) {
  for (size_t I = 0; I < Tokens.size(); ++I) {
    if (Tokens[I] == "operator") {
      std::string Name = "operator";
      if (I + 2 < Tokens.size() && Tokens[I + 1] == "(")
        return Name + "()";
      for (size_t J = I + 1; J < Tokens.size() && Tokens[J] != "("; ++J)
        Name +=
            isIdentifier(Tokens[J]) ? " " + Tokens[J].str() : Tokens[J].str();
      return Name;
    }
    if (Tokens[I] == "=")
      return std::nullopt;
    if (Tokens[I] != "(")
      continue;
    if (I == 0 || !isIdentifier(Tokens[I - 1]))
      return std::nullopt;
    // Not the name: what such words enclose ends before it.
    if (llvm::is_contained(
            {"decltype", "alignas", "__attribute__", "explicit", "noexcept"},
            Tokens[I - 1])) {
      int Depth = 0;
      for (; I < Tokens.size(); ++I) {
        Depth += Tokens[I] == "(" ? 1 : Tokens[I] == ")" ? -1 : 0;
        if (!Depth)
          break;
      }
      continue;
    }
    size_t First = I - 1;
    if (First && Tokens[First - 1] == "~")
      --First;
    while (First >= 2 && Tokens[First - 1] == "::" &&
           isIdentifier(Tokens[First - 2]))
      First -= 2;
    return llvm::join(Tokens.slice(First, I - First), "");
  }
  return std::nullopt;
}

CodeOutline::CodeOutline(StringRef Text) : Text(Text) {
  struct Scope {
    unsigned Function = 0;
    std::string Prefix; ///< Of names declared in it, outside functions.
    unsigned ParenDepth = 0;
  };
  Functions.emplace_back();
  std::vector<Scope> Scopes(1);
  std::vector<StringRef> Statement;
  unsigned StatementNumber = 0, ParenDepth = 0, LastFunction = 0;
  auto EndStatement = [&] {
    Statement.clear();
    ++StatementNumber;
  };

  clang::LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus14 =
      Language.CPlusPlus17 = Language.Bool = Language.LineComment = true;
  // The lexer wants a zero behind the text.
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
    const bool IsBrace = Spelling == "{" || Spelling == "}";
    if (Spelling == "}") {
      if (Scopes.size() > 1) {
        LastFunction = Scopes.back().Function;
        ParenDepth = Scopes.back().ParenDepth;
        Scopes.pop_back();
      }
      EndStatement();
    }
    Tokens.push_back(
        {Begin, Tok.getLength(), StatementNumber, Scopes.back().Function});
    if (Spelling == "{") {
      Scope Inner = Scopes.back();
      Inner.ParenDepth = ParenDepth;
      ArrayRef<StringRef> Head = withoutTemplate(Statement);
      if (!Inner.Function && !ParenDepth) {
        if (Head.empty() || Head.front() == ",") {
          // `Net() : Base{1}, Layer{2} {`: still the constructor.
          Inner.Function = LastFunction;
        } else if (startsControl(Head.front())) {
        } else if (std::optional<std::string> Name = scopeName(Head)) {
          if (!Name->empty())
            Inner.Prefix += *Name + "::";
        } else if (std::optional<std::string> Name = functionName(Head)) {
          Inner.Function = Functions.size();
          Functions.push_back(Inner.Prefix + *Name);
          // The head belongs to the function, too.
          for (Token &T : llvm::reverse(Tokens)) {
            if (T.Statement != StatementNumber)
              break;
            T.Function = Inner.Function;
          }
        }
      }
      Scopes.push_back(std::move(Inner));
      ParenDepth = 0;
    } else if (Spelling == "(" || Spelling == "[") {
      ++ParenDepth;
    } else if ((Spelling == ")" || Spelling == "]") && ParenDepth) {
      --ParenDepth;
    }
    if (IsBrace || (Spelling == ";" && !ParenDepth)) {
      if (Spelling == ";")
        LastFunction = 0;
      EndStatement();
    } else if (Spelling == ":" && Statement.size() == 1 &&
               llvm::is_contained({"public", "protected", "private", "default"},
                                  Statement.front())) {
      EndStatement();
    } else {
      Statement.push_back(Spelling);
    }
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

StringRef CodeOutline::functionAt(unsigned Offset) const {
  const Token *At = tokenAt(Offset);
  return At ? StringRef(Functions[At->Function]) : StringRef();
}

} // namespace libtorch_tidy::driver
