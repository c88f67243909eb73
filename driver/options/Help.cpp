//===- Help.cpp - What --help prints --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/options/OptionGroups.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace libtorch_tidy::driver {

static constexpr unsigned TextColumn = 26;

/// Prints \p Text, and begins at column \p Indent in each further line.
static void printWrapped(StringRef Text, unsigned Indent, unsigned Column) {
  const unsigned Width = std::max(outputColumns(), 2 * TextColumn);
  bool IsFirst = true;
  for (StringRef Word : split(Text, ' ')) {
    if (!IsFirst && Column + 1 + Word.size() > Width) {
      outs() << '\n';
      outs().indent(Indent);
      Column = Indent;
    } else if (!IsFirst) {
      outs() << ' ';
      ++Column;
    }
    outs() << Word;
    Column += Word.size();
    IsFirst = false;
  }
  outs() << '\n';
}

static void printParagraph(StringRef Text) { printWrapped(Text, 0, 0); }

/// Prints \p Text next to \p Label, or below a long one.
static void printRow(StringRef Label, StringRef Text) {
  outs() << "  " << Label;
  if (Label.size() + 4 > TextColumn)
    (outs() << '\n').indent(TextColumn);
  else
    outs().indent(TextColumn - 2 - Label.size());
  printWrapped(Text, TextColumn, TextColumn);
}

static void printOption(const cl::Option &Option) {
  const bool IsShort = Option.ArgStr.size() == 1;
  std::string Label = (IsShort ? "-" : "--") + Option.ArgStr.str();
  if (!Option.ValueStr.empty()) {
    const bool CanLack = Option.getValueExpectedFlag() == cl::ValueOptional;
    Label += CanLack ? "[=" : IsShort ? " " : "=";
    Label += Option.ValueStr;
    Label += CanLack ? "]" : "";
  }
  printRow(Label, Option.HelpStr);
}

static void sortByName(std::vector<const cl::Option *> &Options) {
  sort(Options, [](const cl::Option *A, const cl::Option *B) {
    return A->ArgStr < B->ArgStr;
  });
}

/// The options of \p Category that are not hidden, by name, and of \p Taken.
static std::vector<const cl::Option *> optionsOf(cl::OptionCategory &Category,
                                                 cl::SubCommand &Taken) {
  std::vector<const cl::Option *> Result;
  for (auto &Entry : cl::getRegisteredOptions(Taken))
    if (is_contained(Entry.second->Categories, &Category) &&
        Entry.second->getOptionHiddenFlag() == cl::NotHidden)
      Result.push_back(Entry.second);
  sortByName(Result);
  return Result;
}

static void printOptions(StringRef Title,
                         ArrayRef<const cl::Option *> Options) {
  outs() << '\n' << Title << ":\n";
  for (const cl::Option *Option : Options)
    printOption(*Option);
}

/// Is \p Group one of the program without a command, and not hidden?
static bool isShown(const OptionGroup *Group) {
  return Group->Commands.front() == Plain && !Group->getDescription().empty();
}

static void printMostUsed() {
  outs() << "Usage: libtorch-tidy [options] " << Sources
         << "\n       libtorch-tidy COMMAND ...\n\n";
  printParagraph("Finds memory antipatterns in LibTorch (PyTorch C++) code. "
                 "FILE is a source, a header or a folder. Default: all "
                 "sources of the compile database.");
  printOptions("Most used options", optionsOf(MostUsed, *Plain));
  outs() << "\nCommands (libtorch-tidy COMMAND --help; a FILE of that name is "
            "./NAME):\n";
  for (const Command *C : Commands)
    printRow(C->getName(), C->getDescription());
  SmallVector<StringRef, 8> Words;
  for (const OptionGroup *Group : make_filter_range(OptionGroups, isShown))
    Words.push_back(Group->getName());
  outs() << '\n';
  printParagraph("All options: --help=GROUP, of the groups " +
                 joinedWords(Words) + ", or all.");
  printParagraph("Exit codes: 0 nothing found, 1 findings, 2 wrong usage or "
                 "configuration, 3 a file could not be analysed.");
}

static void printCommand(Command &C) {
  outs() << "Usage: libtorch-tidy " << C.getName() << " [options]"
         << (C.First.empty() ? "" : " ") << C.First
         << (C.Files.empty() ? "" : " ") << C.Files << "\n\n";
  printParagraph((C.getDescription() + ".").str());
  std::vector<StringRef> Whole;
  std::vector<const cl::Option *> Own;
  for (OptionGroup *Group : OptionGroups) {
    std::vector<const cl::Option *> Some = optionsOf(*Group, C);
    if (is_contained(Group->Commands, &C) && isShown(Group))
      Whole.push_back(Group->getName());
    else if (Group != &InfoGroup)
      append_range(Own, Some);
  }
  sortByName(Own);
  if (!Own.empty())
    printOptions("Options", Own);
  if (Whole.empty())
    return;
  outs() << '\n';
  printParagraph("It takes the options of the groups " + joinedWords(Whole) +
                 (Own.empty() ? "" : " as well") +
                 ": libtorch-tidy --help=GROUP prints them.");
}

Error printHelp(StringRef Word) {
  for (Command *C : Commands)
    if (*C) {
      printCommand(*C);
      return Error::success();
    }
  if (Word.empty()) {
    printMostUsed();
    return Error::success();
  }
  SmallVector<StringRef, 8> Words;
  bool IsKnown = false;
  for (OptionGroup *Group : make_filter_range(OptionGroups, isShown)) {
    Words.push_back(Group->getName());
    if (Word != "all" && Word != Group->getName())
      continue;
    IsKnown = true;
    printOptions(Group->getDescription(), optionsOf(*Group, *Plain));
  }
  if (IsKnown)
    return Error::success();
  Words.push_back("all");
  return invalidValue(*cl::getRegisteredOptions().lookup("help"), Word, Words);
}

} // namespace libtorch_tidy::driver
