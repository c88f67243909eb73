//===- FlagFates.cpp - What the driver does with Clang's options ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One line for each option of the Clang that is linked: its spelling, how it
/// takes a value, where it can stand (driver, cc1, cl), and its fate.

#include "driver/llvm/Compat.h"
#include "driver/project/HarmlessFlags.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/raw_ostream.h"

using llvm::opt::Option;
using namespace libtorch_tidy;
using namespace libtorch_tidy::driver;
namespace options = compat::options;

static const char *kindOf(const Option &O) {
  switch (O.getKind()) {
  case Option::FlagClass:
    return "flag";
  case Option::JoinedClass:
    return "joined";
  case Option::CommaJoinedClass:
    return "commas";
  case Option::SeparateClass:
    return "separate";
  case Option::MultiArgClass:
    return "several";
  case Option::JoinedOrSeparateClass:
    return "joined-or-separate";
  case Option::JoinedAndSeparateClass:
    return "joined-and-separate";
  case Option::RemainingArgsClass:
  case Option::RemainingArgsJoinedClass:
    return "rest";
  default:
    return "other";
  }
}

int main() {
  const llvm::opt::OptTable &Table = compat::optionTable();
  for (unsigned I = 1; I <= Table.getNumOptions(); ++I) {
    const Option O = Table.getOption(I);
    if (O.getKind() == Option::GroupClass ||
        O.getKind() == Option::InputClass ||
        O.getKind() == Option::UnknownClass || O.getAlias().isValid())
      continue;
    std::string Where;
    if (O.hasVisibilityFlag(options::ClangOption))
      Where += "driver,";
    if (O.hasVisibilityFlag(options::CC1Option))
      Where += "cc1,";
    if (O.hasVisibilityFlag(options::CLOption))
      Where += "cl,";
    if (Where.empty())
      continue;
    Where.pop_back();
    const FlagFate Fate = fateOf(O);
    llvm::outs() << O.getPrefixedName() << ' ' << kindOf(O) << ' ' << Where
                 << ' '
                 << (Fate == FlagFate::Kept      ? "kept"
                     : Fate == FlagFate::Refused ? "refused"
                                                 : "useless")
                 << '\n';
  }
}
