//===- FixTrials.cpp - What the verifier says, and how often it asks ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Judges the fixes of a text whose lines are "FUNCTION WORD". The words are:
///   bad    a finding, whose fix is what the argument says
///   next   another finding, whose fix is "good"
///   error  a problem of the compiler
///   twin   one where the word before it in the same function is "twin", too
///   good   nothing
///
///   fix-trials FUNCTION:WORD...
///
/// Prints what is said of the fixes, equal ones once and with their number,
/// which of them are taken together, and how often the text was analysed.

#include "fixits/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace libtorch_tidy::fixits;
using clang::tooling::Replacement;
using llvm::StringRef;

static const std::string File = "/text";

static FileEdits edit(unsigned Offset, unsigned Length, StringRef Text) {
  FileEdits Result;
  llvm::cantFail(
      Result[File].add(Replacement(File, Offset, Length, Text.str())));
  return Result;
}

/// What is said of \p Text; fixes of what is bad are \p Words, in order, where
/// the text is what it was at first.
static Reaction analyse(StringRef Text, llvm::ArrayRef<StringRef> Words = {}) {
  Reaction Result;
  std::map<StringRef, StringRef> Last;
  unsigned Offset = 0, Count = 0;
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    auto [Function, Word] = Line.split(' ');
    const unsigned At = Offset + Function.size() + 1;
    if (Word == "bad")
      Result.Found.push_back(
          {"check", File, At, "bad",
           Words.empty() ? FileEdits() : edit(At, Word.size(), Words[Count++]),
           Function.str()});
    if (Word == "next")
      Result.Found.push_back(
          {"other", File, At, "next", edit(At, 4, "good"), Function.str()});
    if (Word == "error" || (Word == "twin" && Last[Function] == "twin"))
      Result.Problems.push_back({"compiler", File, At, Word.str()});
    Last[Function] = Word;
    Offset += Line.size() + 1;
  }
  return Result;
}

int main(int Count, char **Arguments) {
  std::string Text;
  std::vector<StringRef> Words;
  for (int I = 1; I < Count; ++I) {
    auto [Function, Word] = StringRef(Arguments[I]).split(':');
    Text += (Function + " bad\n").str();
    Words.push_back(Word);
  }
  std::vector<Proposal> Proposals;
  const Reaction First = analyse(Text, Words);
  for (const Spot &S : First.Found)
    Proposals.push_back({S, S.Fix});

  unsigned Analyses = 0;
  const FileTexts Start = {{File, Text}};
  Verifier Trial(Start, First.Found, [&](const FileTexts &Texts) {
    ++Analyses;
    return analyse(Texts.at(File));
  });
  const std::vector<Judgement> Judged = Trial.judge(Proposals);
  std::map<std::string, unsigned> Said;
  for (size_t I = 0; I < Judged.size(); ++I) {
    std::string What = Words[I].str();
    What += Judged[I].What == Verdict::Verified ? ": verified"
                                                : ": " + Judged[I].Reason;
    // Alone.
    FileTexts Texts = Start;
    llvm::cantFail(applyEdits(Texts, Judged[I].Edits));
    llvm::SmallVector<StringRef, 8> Before, After;
    StringRef(Text).split(Before, '\n');
    StringRef(Texts.at(File)).split(After, '\n');
    for (size_t L = 0; L < Before.size(); ++L)
      if (Before[L] != After[L])
        What += ", " + (L == I ? "there" : After[L]).str() + " becomes " +
                After[L].split(' ').second.str();
    ++Said[What];
  }
  for (const auto &[What, Times] : Said)
    llvm::outs() << Times << " " << What << '\n';
  const Verifier::Selection All = Trial.select(Proposals, Judged);
  llvm::outs() << All.Taken.size() << " together\n"
               << Analyses << " analyses\n";
}
