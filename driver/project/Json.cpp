//===- Json.cpp - Reads JSON that anybody may have written ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include <tuple>

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// Of brackets, and of `- - - x` in one line.
static constexpr unsigned DeepestNesting = 500;
/// YAML also nests by indentation, and each level is at least one column more.
static constexpr size_t WidestIndentation = 1000;

bool isNestedTooDeep(StringRef Text) {
  // Quotes and comments count, too: they do not hold that many.
  unsigned Brackets = 0;
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    if (Line.find_first_not_of(' ') != StringRef::npos &&
        Line.find_first_not_of(' ') > WidestIndentation)
      return true;
    unsigned Marks = 0;
    char Before = ' ';
    for (char C : Line) {
      if (C == '[' || C == '{')
        ++Brackets;
      else if ((C == ']' || C == '}') && Brackets)
        --Brackets;
      else if ((C == '-' || C == '?') && (Before == ' ' || Before == '\t'))
        ++Marks;
      if (Brackets > DeepestNesting || Marks > DeepestNesting)
        return true;
      Before = C;
    }
  }
  return false;
}

bool isJsonNestedTooDeep(StringRef Text) {
  unsigned Brackets = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    if (C == '"')
      InString = !InString;
    else if (InString)
      I += C == '\\'; // What it escapes is no end.
    else if (C == '[' || C == '{')
      ++Brackets;
    else if ((C == ']' || C == '}') && Brackets)
      --Brackets;
    if (Brackets > DeepestNesting)
      return true;
  }
  return false;
}

llvm::Expected<Json> readJson(StringRef File, llvm::vfs::FileSystem &FS) {
  auto Text = FS.getBufferForFile(File);
  if (!Text)
    return makeError("cannot read '" + File +
                     "': " + Text.getError().message());
  auto Malformed = [&](StringRef Why) {
    return makeError("malformed report '" + File + "': " + Why);
  };
  if (isJsonNestedTooDeep((*Text)->getBuffer()))
    return Malformed("it is nested too deeply");
  Json Result = parseJson((*Text)->getBuffer());
  if (Result.is_discarded())
    return Malformed("it is not JSON");
  return Result;
}

} // namespace libtorch_tidy::driver
