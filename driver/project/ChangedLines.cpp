//===- ChangedLines.cpp - Lines that a change touched ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/ChangedLines.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>
#include <optional>

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// git writes names with unusual characters as C strings.
static std::string unquote(StringRef Name) {
  if (!Name.consume_front("\""))
    return Name.str();
  Name.consume_back("\"");
  std::string Result;
  while (!Name.empty()) {
    char C = Name.front();
    Name = Name.drop_front();
    if (C != '\\' || Name.empty()) {
      Result += C;
      continue;
    }
    unsigned Octal;
    if (Name.size() >= 3 && !Name.take_front(3).getAsInteger(8, Octal)) {
      Result += static_cast<char>(Octal);
      Name = Name.drop_front(3);
      continue;
    }
    static constexpr StringRef Letters = "abtnvfr", Meanings = "\a\b\t\n\v\f\r";
    size_t Index = Letters.find(Name.front());
    Result += Index == StringRef::npos ? Name.front() : Meanings[Index];
    Name = Name.drop_front();
  }
  return Result;
}

/// "12,3" or "12".
static bool parseRange(StringRef Text, unsigned &Line, unsigned &Count) {
  auto [First, Second] = Text.split(',');
  Count = 1;
  return !First.getAsInteger(10, Line) &&
         (Second.empty() || !Second.getAsInteger(10, Count));
}

/// The name in "Binary files a/NAME and b/NAME differ"; empty when the file is
/// deleted.
static std::string binaryName(StringRef Names) {
  StringRef New;
  if (Names.consume_front("/dev/null and "))
    New = Names;
  else if (!Names.ends_with(" and /dev/null"))
    // Both are the same: a renamed file has other lines that name it.
    New = Names.take_back((Names.size() - StringRef(" and ").size()) / 2);
  std::string Name = unquote(New);
  StringRef Bare = Name;
  return Bare.consume_front("b/") ? Bare.str() : std::string();
}

/// ":100644 160000 OLD NEW M<tab>NAME": the modes and contents before and
/// after.
static std::optional<Diff::Submodule> submoduleOf(StringRef Line) {
  auto [Facts, Names] = Line.split('\t');
  llvm::SmallVector<StringRef, 5> Words;
  Facts.split(Words, ' ');
  if (Words.size() != 5 || Words[1] != "160000")
    return std::nullopt;
  return Diff::Submodule{
      unquote(Names.rsplit('\t').second.empty() ? Names
                                                : Names.rsplit('\t').second),
      Words[0] == "160000" ? Words[2].str() : "", Words[3].str()};
}

Diff parseDiff(StringRef Text) {
  Diff Result;
  std::vector<Hunk> *File = nullptr;
  std::string Renamed;
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    if (Line.consume_front(":")) {
      if (std::optional<Diff::Submodule> Found = submoduleOf(Line))
        Result.Submodules.push_back(std::move(*Found));
      continue;
    }
    if (Line.starts_with("diff --git ")) {
      Renamed.clear();
      continue;
    }
    if (Line.consume_front("+++ ")) {
      // A tab ends a name with spaces.
      std::string Name = unquote(Line.rtrim('\t'));
      StringRef Bare = Name;
      File = Bare.consume_front("b/") ? &Result.Files[Bare] : nullptr;
      continue;
    }
    if (Line.consume_front("rename to ")) {
      Renamed = unquote(Line);
      (void)Result.Files[Renamed];
      continue;
    }
    if (Line.consume_front("Binary files ") && Line.consume_back(" differ")) {
      std::string Name = Renamed.empty() ? binaryName(Line) : Renamed;
      if (!Name.empty())
        Result.Binary.push_back(std::move(Name));
      continue;
    }
    if (!Line.consume_front("@@ -"))
      continue;
    Hunk H;
    auto [Old, Rest] = Line.split(" +");
    StringRef New = Rest.split(" @@").first;
    if (!parseRange(Old, H.OldLine, H.OldCount) ||
        !parseRange(New, H.NewLine, H.NewCount))
      continue;
    // The lines themselves: they can look like anything.
    for (unsigned I = 0; I < H.OldCount + H.NewCount && !Text.empty();) {
      if (!Text.starts_with("\\"))
        ++I;
      Text = Text.split('\n').second;
    }
    if (File)
      File->push_back(H);
  }
  // One line, "Subproject commit ...", is all that a diff has of them.
  for (const Diff::Submodule &S : Result.Submodules)
    Result.Files.erase(S.Name);
  return Result;
}

ChangedLines::Range ChangedLines::changedBy(const Hunk &H) {
  return {H.NewLine, H.NewLine + (H.NewCount ? H.NewCount - 1 : 1)};
}

void ChangedLines::add(StringRef Path, llvm::ArrayRef<Hunk> Hunks) {
  llvm::transform(Hunks, std::back_inserter(Files[Path]), changedBy);
}

void ChangedLines::addWholeFile(StringRef Path) {
  Files[Path].push_back({1, std::numeric_limits<unsigned>::max()});
}

void ChangedLines::moveOver(StringRef Path, llvm::ArrayRef<Hunk> Later) {
  auto It = Files.find(Path);
  if (It == Files.end())
    return;
  std::vector<Range> Moved;
  for (const Range &R : It->second) {
    // Pieces of the range between the hunks, and the hunks it meets.
    unsigned Next = R.First;
    long Shift = 0;
    auto Keep = [&](unsigned First, unsigned Last) {
      if (First <= Last)
        Moved.push_back({static_cast<unsigned>(First + Shift),
                         static_cast<unsigned>(Last + Shift)});
    };
    for (const Hunk &H : Later) {
      // The first old line after the hunk, and the first of it.
      const unsigned Begin = H.OldCount ? H.OldLine : H.OldLine + 1;
      const unsigned End = Begin + H.OldCount;
      if (Begin > R.Last)
        break;
      if (Begin > Next) {
        Keep(Next, Begin - 1);
        Next = Begin;
      }
      if (H.OldCount && End > R.First) {
        Moved.push_back(changedBy(H));
        Next = std::max(Next, End);
      }
      Shift += static_cast<long>(H.NewCount) - static_cast<long>(H.OldCount);
    }
    if (R.Last == std::numeric_limits<unsigned>::max())
      Moved.push_back({static_cast<unsigned>(Next + Shift), R.Last});
    else
      Keep(Next, R.Last);
  }
  It->second = std::move(Moved);
}

std::vector<std::string> ChangedLines::files() const {
  std::vector<std::string> Result(Files.keys().begin(), Files.keys().end());
  llvm::sort(Result);
  return Result;
}

bool ChangedLines::isInSubmodule(StringRef Path) const {
  return llvm::any_of(Submodules,
                      [&](StringRef Top) { return isBelow(Path, Top); });
}

bool ChangedLines::touch(StringRef Path, unsigned First, unsigned Last) const {
  auto It = Files.find(Path);
  return It != Files.end() && llvm::any_of(It->second, [&](const Range &R) {
           return R.First <= Last && First <= R.Last;
         });
}

} // namespace libtorch_tidy::driver
