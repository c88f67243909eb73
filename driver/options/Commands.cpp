//===- Commands.cpp - What comes in place of the first file ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/options/OptionGroups.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace libtorch_tidy::driver {

/// That \p Word, which may be a file, is much like one of \p Known and not
/// there.
static Error checkWord(StringRef Word, ArrayRef<StringRef> Known) {
  const std::string Guess = didYouMean(Word, Known);
  if (Guess.empty() || sys::fs::exists(Word))
    return Error::success();
  return makeError("there is no file or command '" + printable(Word) + "'" +
                   Guess);
}

Error joinCommandWords(SmallVectorImpl<const char *> &Args) {
  if (Args.size() < 2 || Args[1] != StringRef("watch"))
    return Error::success();
  const StringRef Second = Args.size() > 2 ? Args[2] : "";
  const bool Joins = Second == "join";
  Args[1] = Joins ? "watch join" : "watch report";
  if (!Joins && Second != "report")
    return checkWord(Second, {"join", "report"});
  Args.erase(&Args[2]);
  return Error::success();
}

Error applyCommand(cl::list<std::string> &Files) {
  auto *const *Used = find_if(Commands, [](Command *C) { return bool(*C); });
  if (Used == std::end(Commands)) {
    SmallVector<StringRef, 8> Words;
    for (const Command *C : Commands)
      Words.push_back(C->getName().split(' ').first);
    return Files.empty() ? Error::success() : checkWord(Files.front(), Words);
  }
  const Command &Asked = **Used;
  // LLVM falls back to the options of the program without a command.
  for (auto &Entry : cl::getRegisteredOptions())
    if (Entry.second->getNumOccurrences())
      if (Error E = checkTaken(*Entry.second))
        return E;
  auto Give = [](StringRef Name, StringRef Value) {
    cl::getRegisteredOptions().lookup(Name)->addOccurrence(1, Name, Value);
  };
  if (&Asked == &DoctorCommand)
    return Error::success();
  if (Asked.First.empty()) {
    Give(Asked.Spelling, "true");
    return Error::success();
  }
  if (Files.empty() || Files.front().empty())
    return makeError(Asked.getName() + " needs an argument: libtorch-tidy " +
                     Asked.getName() + " " + Asked.First);
  Give(Asked.Spelling, Files.front());
  if (&Asked == &MergeCommand) {
    Expected<unsigned> Count = shardsIn(Files.front());
    if (!Count)
      return Count.takeError();
    Give("merge-shards", utostr(*Count));
  }
  Files.erase(Files.begin());
  if (Asked.Files.empty() && !Files.empty())
    return makeError(Asked.getName() + " takes one " + Asked.First);
  return Error::success();
}

} // namespace libtorch_tidy::driver
