//===- SourceText.cpp - Positions in the text of a file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/SourceText.h"
#include "clang/Basic/LangOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

using llvm::StringRef;

namespace libtorch_tidy::driver {

const clang::LangOptions &lexedLanguage() {
  static const clang::LangOptions Language = [] {
    clang::LangOptions L;
    L.CPlusPlus = L.CPlusPlus11 = L.CPlusPlus14 = L.CPlusPlus17 = L.Bool =
        L.LineComment = true;
    return L;
  }();
  return Language;
}

SourceText::SourceText(std::string T) : Text(std::move(T)) {
  LineStarts.push_back(0);
  for (size_t I = 0; I < Text.size(); ++I)
    if (Text[I] == '\n' ||
        (Text[I] == '\r' && (I + 1 == Text.size() || Text[I + 1] != '\n')))
      LineStarts.push_back(I + 1);
}

SourceText::Position SourceText::position(unsigned Offset) const {
  Offset = std::min<size_t>(Offset, Text.size());
  auto It = llvm::upper_bound(LineStarts, Offset);
  unsigned Line = It - LineStarts.begin();
  return {Line, Offset - LineStarts[Line - 1] + 1};
}

SourceText::Position SourceText::positionUtf16(unsigned Offset) const {
  Position P = position(Offset);
  StringRef Before =
      StringRef(Text).substr(LineStarts[P.Line - 1], P.Column - 1);
  for (P.Column = 1; !Before.empty();)
    P.Column += takeCharacter(Before);
  return P;
}

StringRef SourceText::line(unsigned Line) const {
  return lines(Line, Line).rtrim("\r\n");
}

StringRef SourceText::lines(unsigned First, unsigned Last) const {
  First = std::max(First, 1U);
  if (First > LineStarts.size() || Last < First)
    return {};
  size_t Begin = LineStarts[First - 1];
  size_t End = Last < LineStarts.size() ? LineStarts[Last] : Text.size();
  return StringRef(Text).slice(Begin, End);
}

unsigned takeCharacter(StringRef &Rest) {
  const auto *Begin = reinterpret_cast<const llvm::UTF8 *>(Rest.begin());
  const auto *End = reinterpret_cast<const llvm::UTF8 *>(Rest.end());
  const unsigned Bytes = llvm::isLegalUTF8Sequence(Begin, End)
                             ? llvm::getNumBytesForUTF8(*Begin)
                             : 1;
  Rest = Rest.drop_front(Bytes);
  return Bytes == 4 ? 2 : 1;
}

const SourceText *SourceTexts::get(StringRef Path) {
  auto [It, New] = Files.try_emplace(Path);
  if (New)
    if (auto Buffer = FS->getBufferForFile(Path))
      It->second = std::make_unique<SourceText>((*Buffer)->getBuffer().str());
  return It->second.get();
}

} // namespace libtorch_tidy::driver
