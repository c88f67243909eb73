//===- Report.cpp - What all writers know of a run ------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string percentEncode(StringRef Path) {
  std::string Result;
  for (unsigned char C : Path) {
    if (llvm::isAlnum(C) || StringRef("/-._~").contains(C))
      Result += C;
    else
      Result += {'%', llvm::hexdigit(C >> 4), llvm::hexdigit(C & 15)};
  }
  return Result;
}

std::string asSentence(StringRef Text) {
  Text = Text.rtrim();
  return Text.str() +
         (Text.ends_with(".") || Text.ends_with("!") || Text.ends_with("?")
              ? ""
              : ".");
}

std::string capitalized(std::string Sentence) {
  StringRef FirstWord = StringRef(Sentence).split(' ').first;
  if (llvm::all_of(FirstWord, llvm::isAlpha))
    Sentence.front() = llvm::toUpper(Sentence.front());
  return Sentence;
}

std::string inWords(const clang::tooling::Replacement &E, SourceTexts &Texts) {
  auto Quote = [](StringRef Text) {
    Text = Text.trim();
    auto [Line, More] = Text.split('\n');
    std::string Short = Line.rtrim().substr(0, 60).str();
    if (Short.size() < Text.size())
      Short += " ...";
    return "'" + Short + "'";
  };
  const SourceText *Text = Texts.get(E.getFilePath());
  StringRef Old = Text ? Text->text().substr(E.getOffset(), E.getLength()) : "";
  if (E.getReplacementText().empty())
    return "remove " + Quote(Old);
  if (!E.getLength())
    return "insert " + Quote(E.getReplacementText());
  return "replace " + Quote(Old) + " with " + Quote(E.getReplacementText());
}

const char *severityWord(Level L) {
  switch (L) {
  case Level::Certain:
    return "error";
  case Level::Likely:
    return "warning";
  case Level::Advisory:
    return "note";
  }
  llvm_unreachable("all levels are covered");
}

} // namespace libtorch_tidy::driver
