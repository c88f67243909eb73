//===- Misspelt.cpp - Options and values that do not exist ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/options/OptionGroups.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace libtorch_tidy::driver {

/// The command in use, or the program without one.
static cl::SubCommand &commandInUse() {
  auto *const *Used = find_if(Commands, [](Command *C) { return bool(*C); });
  return Used == std::end(Commands) ? *Plain : **Used;
}

static std::string spelled(const cl::Option &Option) {
  return (Option.ArgStr.size() == 1 ? "-" : "--") + Option.ArgStr.str();
}

Error invalidValue(const cl::Option &Option, StringRef Text,
                   ArrayRef<StringRef> Known, StringRef Expected) {
  const std::string All =
      "; expected " +
      (Known.empty() ? Expected.str() : joinedWords(Known, " or "));
  return makeError("invalid value '" + printable(Text) + "' for " +
                   spelled(Option) + didYouMean(Text, Known, "", All));
}

bool tellInvalidValue(const cl::Option &Option, StringRef Text,
                      ArrayRef<StringRef> Known, StringRef Expected) {
  Error E = checkTaken(Option);
  if (!E)
    E = invalidValue(Option, Text, Known, Expected);
  tellError() << toString(std::move(E)) << '\n';
  return true;
}

Error checkTaken(const cl::Option &Option) {
  cl::SubCommand &Used = commandInUse();
  if (cl::getRegisteredOptions(Used).lookup(Option.ArgStr))
    return Error::success();
  return makeError(spelled(Option) + " cannot be combined with the command " +
                   Used.getName());
}

/// An option is a word with one dash or two, and perhaps "=" and a value.
static StringRef nameIn(StringRef Argument) {
  return Argument.starts_with("-") ? Argument.ltrim('-').split('=').first : "";
}

static Error unknownOption(StringRef Argument, cl::SubCommand &Used) {
  std::vector<StringRef> Names;
  for (const auto &Entry : cl::getRegisteredOptions(Used))
    if (Entry.second->ArgStr.size() > 1 &&
        Entry.second->getOptionHiddenFlag() == cl::NotHidden)
      Names.push_back(Entry.second->ArgStr);
  llvm::sort(Names);
  const StringRef Name = nameIn(Argument), Meant = meantBy(Name, Names);
  const StringRef Rest = Argument.ltrim('-').drop_front(Name.size());
  return makeError(
      "unknown option '" + printable(Argument) + "'; " +
      (Meant.empty()
           ? "see --help"
           : "did you mean '--" + printable((Meant + Rest).str()) + "'?"));
}

Error checkOptionNames(ArrayRef<const char *> Args) {
  // The command is not in use yet.
  auto *const *Named = find_if(Commands, [&](Command *C) {
    return Args.size() > 1 && C->getName() == Args[1];
  });
  cl::SubCommand &Used = Named == std::end(Commands) ? *Plain : **Named;
  auto Find = [&](StringRef Name) {
    cl::Option *Own = cl::getRegisteredOptions(Used).lookup(Name);
    return Own ? Own : cl::getRegisteredOptions().lookup(Name);
  };
  for (size_t I = 1; I < Args.size(); ++I) {
    const StringRef Argument = Args[I], Name = nameIn(Argument);
    const cl::Option *Option = Find(Name);
    if (Name.empty() ||
        (!Option && Name.front() == 'j' && all_of(Name.drop_front(), isDigit)))
      continue;
    if (!Option)
      return unknownOption(Argument, Used);
    if (Option->getValueExpectedFlag() == cl::ValueDisallowed &&
        Argument.contains('='))
      return makeError(spelled(*Option) + " takes no value");
    if (Option->getValueExpectedFlag() == cl::ValueRequired &&
        !Argument.contains('=') && ++I == Args.size())
      return makeError(spelled(*Option) + " needs a value");
  }
  return Error::success();
}

} // namespace libtorch_tidy::driver
