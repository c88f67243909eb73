//===- Messages.cpp - Messages, and text of strangers in them -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string printable(StringRef Text) {
  std::string Result;
  for (size_t I = 0; I < Text.size(); ++I) {
    const unsigned char C = Text[I];
    // U+0080 to U+009F in UTF-8: the second half of the control characters.
    const bool IsC1 = C == 0xc2 && I + 1 < Text.size() &&
                      static_cast<unsigned char>(Text[I + 1]) >= 0x80 &&
                      static_cast<unsigned char>(Text[I + 1]) < 0xa0;
    if (C == '\n')
      Result += "\\n";
    else if (C == '\r')
      Result += "\\r";
    else if ((C < 0x20 && C != '\t') || C == 0x7f)
      Result += "\\x" + llvm::utohexstr(C, /*LowerCase=*/true, /*Width=*/2);
    else if (IsC1)
      Result +=
          "\\xc2\\x" + llvm::utohexstr(Text[++I] & 0xff, /*LowerCase=*/true);
    else
      Result += Text[I];
  }
  return Result;
}

std::string grouped(std::string Number) {
  const size_t First = Number.front() == '-' ? 1 : 0;
  for (size_t At = std::min(Number.find('.'), Number.size()); At > First + 3;)
    Number.insert(At -= 3, ",");
  return Number;
}

std::string counted(size_t Count, StringRef Noun) {
  return (llvm::Twine(Count) + " " + Noun + (Count == 1 ? "" : "s")).str();
}

std::string decimal(double Value, unsigned Digits) {
  std::string Result;
  llvm::raw_string_ostream(Result) << llvm::format("%.*f", Digits, Value);
  return Result;
}

std::string joinedWords(llvm::ArrayRef<StringRef> Words, StringRef Last) {
  if (Words.size() < 2)
    return llvm::join(Words, "");
  return (llvm::join(Words.drop_back(), ", ") + Last + Words.back()).str();
}

/// How many letters have to be changed to make \p B of \p A, at most \p Limit
/// and one; letters in another order are one change.
static unsigned differences(StringRef A, StringRef B, unsigned Limit) {
  std::string First = A.lower(), Second = B.lower();
  const unsigned Result =
      StringRef(First).edit_distance(Second, /*AllowReplacements=*/true, Limit);
  llvm::sort(First);
  llvm::sort(Second);
  return Result > 1 && First == Second ? 1 : Result;
}

StringRef meantBy(StringRef Word, llvm::ArrayRef<StringRef> Known) {
  StringRef Best;
  unsigned Limit = std::min<unsigned>((Word.size() + 1) / 3, 5);
  for (StringRef Candidate : Known) {
    const unsigned Number = differences(Word, Candidate, Limit);
    if (Number < Limit || (Number == Limit && Limit && Best.empty())) {
      Best = Candidate;
      Limit = Number;
    }
  }
  auto Contains = [&](StringRef Candidate) { return Candidate.contains(Word); };
  if (Best.empty() && Word.size() > 3 && llvm::count_if(Known, Contains) == 1)
    return *llvm::find_if(Known, Contains);
  return Best;
}

std::string didYouMean(StringRef Word, llvm::ArrayRef<StringRef> Known,
                       StringRef Before, const llvm::Twine &Otherwise) {
  const StringRef Meant = meantBy(Word, Known);
  return (Meant.empty() ? Otherwise
                        : "; did you mean '" + Before + Meant + "'?")
      .str();
}

std::string troubleWithOptionFile(llvm::Error E) {
  const std::string Said = llvm::toString(std::move(E));
  StringRef Rest = Said;
  if (Rest.consume_front("cannot not open file "))
    return "cannot read the response file " + printable(Rest);
  if (Rest.consume_front("recursive expansion of: "))
    return "the response file " + printable(Rest) + " reads itself";
  return printable(Said);
}

llvm::raw_ostream &tellError() {
  return llvm::WithColor::error(llvm::errs(), "libtorch-tidy");
}

llvm::raw_ostream &tellWarning() {
  return llvm::WithColor::warning(llvm::errs(), "libtorch-tidy");
}

unsigned outputColumns() {
  unsigned Result = 0;
  if (StringRef(llvm::sys::Process::GetEnv("COLUMNS").value_or(""))
          .getAsInteger(10, Result) ||
      !Result)
    Result = llvm::sys::Process::StandardOutColumns();
  return Result ? std::max(Result, 20U) : 80;
}

} // namespace libtorch_tidy::driver
