//===- Commands.cpp - What comes in place of the first file ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/options/OptionGroups.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace libtorch_tidy::driver {

void joinCommandWords(SmallVectorImpl<const char *> &Args) {
  if (Args.size() < 2 || Args[1] != StringRef("watch"))
    return;
  const StringRef Second = Args.size() > 2 ? Args[2] : "";
  const bool Joins = Second == "join";
  if (Joins || Second == "report")
    Args.erase(&Args[2]);
  Args[1] = Joins ? "watch join" : "watch report";
}

/// That \p Word, which was given as the first file, is much like a command and
/// not there.
static Error checkFirstWord(StringRef Word) {
  if (sys::fs::exists(Word))
    return Error::success();
  for (const Command *C : Commands) {
    const StringRef Name = C->getName().split(' ').first;
    if (Name.edit_distance(Word, true, 3) <= (Name.size() + 1) / 3)
      return makeError("there is no file or command '" + Word +
                       "'; did you mean '" + Name + "'?");
  }
  return Error::success();
}

Error applyCommand(cl::list<std::string> &Files) {
  auto *const *Used = find_if(Commands, [](Command *C) { return bool(*C); });
  if (Used == std::end(Commands))
    return Files.empty() ? Error::success() : checkFirstWord(Files.front());
  const Command &Asked = **Used;
  // LLVM falls back to the options of the program without a command.
  for (auto &Entry : cl::getRegisteredOptions())
    if (Entry.second->getNumOccurrences() &&
        !cl::getRegisteredOptions(**Used).lookup(Entry.second->ArgStr))
      return makeError("--" + Entry.second->ArgStr +
                       " cannot be combined with the command " +
                       Asked.getName());
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
