//===- OptionGroups.h - Options that belong together ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// For the files that define options of the command line: those about models,
/// shards and runs are in OptionGroups.cpp, the others in CommandLine.cpp.

#ifndef LIBTORCH_TIDY_DRIVER_OPTIONS_OPTIONGROUPS_H
#define LIBTORCH_TIDY_DRIVER_OPTIONS_OPTIONGROUPS_H

#include "driver/budget/BudgetReport.h"
#include "driver/engine/Batch.h"
#include "driver/output/Reports.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace libtorch_tidy::driver {

/// What the program does when its first argument is this word, and not a file.
struct Command : llvm::cl::SubCommand {
  /// \p First is what its first argument has to be; empty: a file like all
  /// others. \p Files are the arguments after that.
  Command(llvm::StringRef Name, llvm::StringRef Spelling, llvm::StringRef First,
          llvm::StringRef Files, llvm::StringRef Summary)
      : SubCommand(Name, Summary), Spelling(Spelling), First(First),
        Files(Files) {}

  /// The option that asks for the same, with the first argument as its value.
  llvm::StringRef Spelling;
  llvm::StringRef First, Files;
};

inline constexpr char Sources[] = "[FILE...] [-- compiler flags]";
inline Command BudgetCommand("budget", "budget", "", Sources,
                             "Report how much memory models need"),
    ReportCommand("watch report", "watch-report", "", "REPORT",
                  "Report what grew in a run of a program, and where"),
    JoinCommand("watch join", "confirm", "REPORT", Sources,
                "Report findings, and which of them that run confirms"),
    ExplainCommand("explain", "explain", "CHECK", "",
                   "Print the documentation of a check"),
    WhyCommand("why", "why", "FILE[:LINE]", Sources,
               "Explain why a line has a finding, or none"),
    BaselineCommand("baseline", "write-baseline", "BASELINE", Sources,
                    "Write the present findings to BASELINE, for --baseline"),
    DoctorCommand("doctor", "doctor", "", Sources,
                  "Report how a file is compiled and analysed, and with what"),
    MergeCommand("merge", "shard-dir", "DIR", Sources,
                 "Report the results that the shards wrote to DIR"),
    LspCommand("lsp", "lsp", "", "",
               "Serve an editor by the Language Server Protocol");

/// All of them, in the order of the help.
inline Command *const Commands[] = {
    &BudgetCommand,   &ReportCommand, &JoinCommand,
    &ExplainCommand,  &WhyCommand,    &DoctorCommand,
    &BaselineCommand, &MergeCommand,  &LspCommand};

/// Options that the help shows together, and the commands that take them.
struct OptionGroup : llvm::cl::OptionCategory {
  /// \p Word is what --help= calls it. One without a title is not shown.
  OptionGroup(llvm::StringRef Word, llvm::StringRef Title,
              std::initializer_list<llvm::cl::SubCommand *> Commands)
      : OptionCategory(Word, Title), Commands(Commands) {}

  llvm::SmallVector<llvm::cl::SubCommand *, 8> Commands;
};

/// The program without a command.
inline llvm::cl::SubCommand *const Plain = &llvm::cl::SubCommand::getTopLevel();

inline OptionGroup CompileGroup("compile", "How files are compiled",
                                {Plain, &JoinCommand, &BudgetCommand,
                                 &WhyCommand, &DoctorCommand, &BaselineCommand,
                                 &MergeCommand, &LspCommand}),
    CheckGroup("checks", "What is looked for",
               {Plain, &JoinCommand, &WhyCommand, &DoctorCommand,
                &BaselineCommand, &MergeCommand, &LspCommand}),
    SelectGroup("select", "Which findings count",
                {Plain, &JoinCommand, &BaselineCommand, &MergeCommand}),
    FixGroup("fixes", "Fixes", {Plain, &JoinCommand, &MergeCommand}),
    OutputGroup("output", "Outputs", {Plain, &JoinCommand, &MergeCommand}),
    RunGroup("run", "How the work is done",
             {Plain, &JoinCommand, &BudgetCommand, &WhyCommand, &DoctorCommand,
              &BaselineCommand, &MergeCommand, &LspCommand}),
    InfoGroup("info", "Information", {Plain}),
    // Without a command for one more version.
    BudgetGroup("budget", "Models", {&BudgetCommand, Plain}),
    WatchGroup("watch", "Outputs", {&ReportCommand, Plain}),
    // Without a command, their options have other names or meanings.
    BudgetFormGroup("budget form", "Models", {&BudgetCommand}),
    ReportFormGroup("report form", "Outputs", {&ReportCommand}),
    PageFormGroup("page form", "Outputs", {&ExplainCommand}),
    // For tests, and what is a command now.
    HiddenGroup("hidden", "", {Plain});

inline OptionGroup *const OptionGroups[] = {
    &CompileGroup, &CheckGroup,      &SelectGroup,     &FixGroup,
    &OutputGroup,  &RunGroup,        &InfoGroup,       &BudgetGroup,
    &WatchGroup,   &BudgetFormGroup, &ReportFormGroup, &PageFormGroup,
    &HiddenGroup};

/// What --help shows without the name of a group.
inline llvm::cl::OptionCategory MostUsed("most used");

/// A modifier of an option: it belongs to \p Group.
struct In {
  OptionGroup &Group;
  void apply(llvm::cl::Option &Option) const {
    Option.addCategory(Group);
    for (llvm::cl::SubCommand *Taker : Group.Commands)
      Option.addSubCommand(*Taker);
  }
};

// Misspelt.cpp

/// An error that \p Option cannot have the value \p Text. It takes one of
/// \p Known, or \p Expected.
llvm::Error invalidValue(const llvm::cl::Option &Option, llvm::StringRef Text,
                         llvm::ArrayRef<llvm::StringRef> Known,
                         llvm::StringRef Expected = "");

/// Prints that, or that the command in use does not take \p Option, and returns
/// true, as parsers of LLVM do.
bool tellInvalidValue(const llvm::cl::Option &Option, llvm::StringRef Text,
                      llvm::ArrayRef<llvm::StringRef> Known,
                      llvm::StringRef Expected = "");

/// An error when the command in use does not take \p Option, which was given.
llvm::Error checkTaken(const llvm::cl::Option &Option);

/// An error when \p Args, the command line before `--`, has an option that does
/// not exist, or lacks its value. (LLVM takes the first letters of some for
/// options of one letter.)
llvm::Error checkOptionNames(llvm::ArrayRef<const char *> Args);

/// Reads values as LLVM does, and refuses others in the words of this program.
template <typename T> struct ValueParser : llvm::cl::parser<T> {
  using llvm::cl::parser<T>::parser;

  bool parse(llvm::cl::Option &Option, llvm::StringRef Name,
             llvm::StringRef Text, T &Value) {
    if constexpr (std::is_same_v<T, bool>) {
      Value = Text.empty() || Text.equals_insensitive("true") || Text == "1";
      if (Value || Text.equals_insensitive("false") || Text == "0")
        return false;
      return tellInvalidValue(Option, Text, {"true", "false"});
    } else if constexpr (std::is_enum_v<T>) {
      llvm::SmallVector<llvm::StringRef, 8> Known;
      for (unsigned I = 0; I < this->getNumOptions(); ++I)
        Known.push_back(this->getOption(I));
      return llvm::is_contained(Known, Text)
                 ? llvm::cl::parser<T>::parse(Option, Name, Text, Value)
                 : tellInvalidValue(Option, Text, Known);
    } else {
      return Text.getAsInteger(0, Value) &&
             tellInvalidValue(Option, Text, {}, "a whole number");
    }
  }
};

template <typename T>
using ParserOf = std::conditional_t<std::is_same_v<T, std::string>,
                                    llvm::cl::parser<T>, ValueParser<T>>;

/// An option of this program; LLVM's libraries bring others.
/// \p Value is what the help calls its value; empty where that goes without
/// saying.
template <typename T> struct Opt : llvm::cl::opt<T, false, ParserOf<T>> {
  template <typename... Modifiers>
  Opt(OptionGroup &Group, llvm::StringRef Name, llvm::StringRef Value,
      llvm::StringRef Help, const Modifiers &...Given)
      : llvm::cl::opt<T, false, ParserOf<T>>(Name, llvm::cl::value_desc(Value),
                                             llvm::cl::desc(Help), In{Group},
                                             Given...) {}

  /// Its value, if it was given.
  std::optional<T> given() const {
    return this->getNumOccurrences() ? std::optional<T>(this->getValue())
                                     : std::nullopt;
  }
};

struct Flag : Opt<bool> {
  template <typename... Modifiers>
  Flag(OptionGroup &Group, llvm::StringRef Name, llvm::StringRef Help,
       const Modifiers &...Given)
      : Opt(Group, Name, "", Help, Given...) {}
};

inline bool isGivenEmpty(const llvm::cl::opt<std::string> &Option) {
  return Option.getNumOccurrences() && Option.empty();
}

/// An error about the first of the options \p Names, with spaces between them,
/// that was given: its name and \p Why.
llvm::Error refuse(llvm::StringRef Names, const llvm::Twine &Why);

/// The message of the first of \p Rules that is broken.
llvm::Error check(llvm::ArrayRef<std::pair<bool, llvm::StringRef>> Rules);

/// LLVM's libraries bring hundreds of options of their own. None of them is
/// ours to offer, and a mistyped option must not happen to be one.
void removeForeignOptions();

/// Reads --add-nolint, the reason in the comments.
llvm::Error readAddNolint(std::string &Reason);

/// Reads the options about shards.
llvm::Error readShards(ShardOptions &Result);

/// Reads the options about the bytes of models, with what --html says.
llvm::Error readBudget(llvm::StringRef Html, BudgetOptions &Result);

/// Reads the options about reports of a run: what --watch-report is asked for,
/// with what --html says and \p Files, and the report for --confirm.
llvm::Error readWatched(llvm::ArrayRef<std::string> Files, llvm::StringRef Html,
                        WatchReportOptions &Result, std::string &ToConfirm);

// Commands.cpp

/// Makes one argument of the two words of a command; "watch" alone reports.
llvm::Error joinCommandWords(llvm::SmallVectorImpl<const char *> &Args);

/// Gives the option that the command in use stands for, with the first of
/// \p Files where that is its value.
llvm::Error applyCommand(llvm::cl::list<std::string> &Files);

// Help.cpp

/// Prints the help of the command that was given, or of the group of options
/// \p Word.
llvm::Error printHelp(llvm::StringRef Word);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OPTIONS_OPTIONGROUPS_H
