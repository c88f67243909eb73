//===- NolintComments.cpp - NOLINT comments of a file ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "clang-tidy/GlobList.h"
#include "driver/findings/NolintAudit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using llvm::StringRef;

namespace libtorch_tidy::driver {

bool NolintItem::names(StringRef Check) const {
  return !isNegative() && clang::tidy::GlobList(Text).contains(Check);
}

/// What a comment of one line covers: the line, with the byte that ends it.
static void coverLine(NolintComment &C, StringRef Text, size_t Begin) {
  if (Begin == StringRef::npos || Begin >= Text.size())
    return;
  C.From = Begin;
  C.To = std::min(Text.find('\n', Begin), Text.size() - 1) + 1;
}

static void readList(NolintComment &C, StringRef Text, size_t Begin,
                     size_t End) {
  C.HasList = true;
  for (size_t At = Begin; At <= End;) {
    const size_t Comma = std::min(Text.find(',', At), End);
    StringRef Item = Text.slice(At, Comma).ltrim();
    const unsigned Offset = Comma - Item.size();
    C.Items.push_back({Item.rtrim(), Offset});
    At = Comma + 1;
  }
}

/// Whether a begin and an end have the same list, white space aside.
static bool haveEqualLists(const NolintComment &A, const NolintComment &B) {
  return A.HasList == B.HasList &&
         llvm::equal(A.Items, B.Items,
                     [](const NolintItem &X, const NolintItem &Y) {
                       return X.Text == Y.Text;
                     });
}

std::vector<NolintComment> nolintComments(StringRef Text) {
  constexpr StringRef Nolint = "NOLINT";
  std::vector<NolintComment> Result;
  std::vector<size_t> Open; // Begins without an end so far.
  size_t Next = 0;
  for (size_t At; (At = Text.find(Nolint, Next)) != StringRef::npos;) {
    Next = At + Nolint.size();
    while (Next < Text.size() && llvm::isAlpha(Text[Next]))
      ++Next;
    NolintComment C;
    C.Offset = At;
    C.Word = Text.slice(At, Next);
    auto Kind = llvm::StringSwitch<std::optional<NolintComment::Kind>>(C.Word)
                    .Case("NOLINT", NolintComment::Line)
                    .Case("NOLINTNEXTLINE", NolintComment::NextLine)
                    .Case("NOLINTBEGIN", NolintComment::Begin)
                    .Case("NOLINTEND", NolintComment::End)
                    .Default(std::nullopt);
    if (!Kind)
      continue;
    C.What = *Kind;
    if (Next < Text.size() && Text[Next] == '(') {
      // A list that is not closed on its line is not one.
      const size_t Close = Text.find_first_of("\n)", ++Next);
      if (Close != StringRef::npos && Text[Close] == ')') {
        readList(C, Text, Next, Close);
        Next = Close + 1;
      }
    }
    switch (C.What) {
    case NolintComment::Line:
      coverLine(C, Text, Text.rfind('\n', At) + 1);
      break;
    case NolintComment::NextLine:
      if (size_t LineEnd = Text.find('\n', At); LineEnd != StringRef::npos)
        coverLine(C, Text, LineEnd + 1);
      break;
    case NolintComment::Begin:
      Open.push_back(Result.size());
      break;
    case NolintComment::End:
      // The innermost block, or none.
      if (!Open.empty() && haveEqualLists(Result[Open.back()], C)) {
        NolintComment &Opening = Result[Open.back()];
        Opening.From = Opening.Offset + 1;
        Opening.To = C.Offset;
        Open.pop_back();
      }
      break;
    }
    Result.push_back(std::move(C));
  }
  return Result;
}

} // namespace libtorch_tidy::driver
