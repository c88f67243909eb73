//===- OptionGroups.cpp - What the options of all groups need -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/options/OptionGroups.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace libtorch_tidy::driver {

Error refuse(StringRef Names, const Twine &Why) {
  SmallVector<StringRef, 0> All;
  SplitString(Names, All);
  for (StringRef Name : All)
    if (cl::getRegisteredOptions().lookup(Name)->getNumOccurrences())
      return makeError("--" + Name + Why);
  return Error::success();
}

void removeForeignOptions() {
  SmallVector<cl::Option *, 0> Foreign;
  for (auto &Entry : cl::getRegisteredOptions()) {
    cl::Option *O = Entry.second;
    if (O->ArgStr.starts_with("help") || O->ArgStr == "version")
      continue;
    if (!is_contained(O->Categories, &Category))
      Foreign.push_back(O);
  }
  for (cl::Option *O : Foreign)
    O->removeArgument();
}

void nameFiles(MutableArrayRef<const char *> Args, StringSaver &Names) {
  for (const char *&Arg : Args) {
    StringRef Name = Arg;
    if (Name == "--")
      break;
    // To pre-commit, a sketch for Arduino is C++, too.
    if ((Name.starts_with("-") || Name.starts_with("@")) &&
        (isCxxFile(Name) || Name.ends_with(".ino")) &&
        sys::fs::is_regular_file(Name))
      Arg = Names.save("./" + Name).data();
  }
}

} // namespace libtorch_tidy::driver
