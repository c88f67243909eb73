//===- Fingerprint.cpp - Names for findings that outlive edits ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/Fingerprint.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/SHA256.h"
#include <array>
#include <cstdint>

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

  // The lexer wants a zero after the text.
  const std::string Copy = Text.str();
  clang::Lexer Raw(clang::SourceLocation(), lexedLanguage(), Copy.data(),
                   Copy.data(), Copy.data() + Copy.size());
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

CodeOutline::Statement CodeOutline::statementAt(unsigned Offset) const {
  Statement Result;
  auto At = llvm::upper_bound(
      Tokens, Offset, [](unsigned O, const Token &T) { return O < T.Offset; });
  if (At == Tokens.begin())
    return Result;
  --At;
  const auto First = llvm::partition_point(
      Tokens, [&](const Token &T) { return T.Statement < At->Statement; });
  Result.Index = At - First;
  for (auto T = First; T != Tokens.end() && T->Statement == At->Statement; ++T)
    Result.Tokens +=
        ((T == First ? "" : " ") + Text.substr(T->Offset, T->Length)).str();
  return Result;
}

namespace {

/// A window of the last units, and of the line that each of them starts.
class LineHasher {
public:
  LineHasher() {
    LineAt.fill(0);
    Window.fill(0);
    for (size_t I = 0; I < WindowSize; ++I)
      First *= Base;
  }

  void add(uint16_t Unit) {
    if (Unit == ' ' || Unit == '\t' || (PreviousWasCR && Unit == '\n')) {
      PreviousWasCR = false;
      return;
    }
    PreviousWasCR = Unit == '\r';
    if (Unit == '\r')
      Unit = '\n';
    emit();
    if (AtLineStart) {
      AtLineStart = false;
      LineAt[Next] = ++Lines;
      Hashes.resize(Lines);
    }
    AtLineStart = Unit == '\n';
    shift(Unit);
  }

  std::vector<std::string> finish() {
    add(EndMarker);
    for (size_t I = 0; I < WindowSize; ++I) {
      emit();
      shift(0);
    }
    return std::move(Hashes);
  }

private:
  static constexpr size_t WindowSize = 100;
  static constexpr uint64_t Base = 37;
  static constexpr uint16_t EndMarker = 65535;

  /// Names the line whose first unit is about to leave the window.
  void emit() {
    if (!LineAt[Next])
      return;
    std::string Hex = llvm::utohexstr(Hash, /*LowerCase=*/true);
    unsigned Count = ++Seen[Hex];
    Hashes[LineAt[Next] - 1] = Hex + ":" + llvm::utostr(Count);
    LineAt[Next] = 0;
  }

  void shift(uint16_t Unit) {
    Hash = Hash * Base + Unit - First * Window[Next];
    Window[Next] = Unit;
    Next = (Next + 1) % WindowSize;
  }

  std::array<uint16_t, WindowSize> Window;
  std::array<unsigned, WindowSize> LineAt; ///< 0: starts no line.
  uint64_t Hash = 0, First = 1;            ///< Modulo 2^64.
  size_t Next = 0;
  unsigned Lines = 0;
  bool AtLineStart = true, PreviousWasCR = false;
  llvm::StringMap<unsigned> Seen;
  std::vector<std::string> Hashes;
};

} // namespace

std::vector<std::string> lineHashes(llvm::StringRef Text) {
  LineHasher Hasher;
  const auto *P = reinterpret_cast<const llvm::UTF8 *>(Text.begin());
  const auto *End = reinterpret_cast<const llvm::UTF8 *>(Text.end());
  while (P != End) {
    llvm::UTF32 Point = 0xFFFD; // What a decoder makes of a bad byte.
    if (llvm::convertUTF8Sequence(&P, End, &Point, llvm::strictConversion) !=
        llvm::conversionOK)
      ++P;
    if (Point >= 0x10000) {
      Hasher.add(0xD800 + ((Point - 0x10000) >> 10));
      Hasher.add(0xDC00 + ((Point - 0x10000) & 0x3FF));
    } else {
      Hasher.add(Point);
    }
  }
  return Hasher.finish();
}

const CodeOutline &SourceText::outline() const {
  if (!Outline)
    Outline = std::make_shared<CodeOutline>(Text);
  return *Outline;
}

/// Of several parts, none of which holds a zero.
static std::string hash(llvm::ArrayRef<llvm::StringRef> Parts) {
  const std::string All = llvm::join(Parts, llvm::StringRef("\0", 1));
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(All)),
                     /*LowerCase=*/true)
      .substr(0, 20);
}

static std::string fingerprint(StringRef Check, const Place &Where,
                               SourceTexts &Texts) {
  CodeOutline::Statement Statement;
  if (const SourceText *Text = Texts.get(Where.Path))
    Statement = Text->outline().statementAt(Where.Begin);
  return hash({Check, Statement.Tokens, llvm::utostr(Statement.Index)});
}

std::string fingerprint(const Finding &F, SourceTexts &Texts) {
  return fingerprint(F.Check, F.Where, Texts);
}

std::vector<std::string> memberFingerprints(const Finding &F,
                                            SourceTexts &Texts) {
  std::vector<std::string> Result;
  for (const FindingStep &Member : F.Members)
    Result.push_back(fingerprint(F.Check, Member.Where, Texts));
  return Result;
}

std::vector<std::string> uniqueFingerprints(llvm::ArrayRef<Finding> Findings,
                                            llvm::StringRef Root,
                                            SourceTexts &Texts) {
  std::vector<std::string> Result;
  llvm::StringMap<unsigned> Seen;
  for (const Finding &F : Findings) {
    llvm::StringRef File = F.Where.Path;
    File.consume_front(Root);
    Result.push_back(hash({File, fingerprint(F, Texts)}));
    Result.back() += ":" + llvm::utostr(++Seen[Result.back()]);
  }
  return Result;
}

} // namespace libtorch_tidy::driver
