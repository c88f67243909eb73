//===- Client.cpp - What the client has open, and sets --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/lsp/Client.h"
#include "driver/project/CompileCommands.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

bool Document::isCxx() const {
  // What the protocol and editors call them.
  return isCxxFile(Path) ||
         llvm::is_contained({"cpp", "c++", "cuda-cpp"}, Language);
}

bool Document::change(const Json &Changes, PositionEncoding Encoding) {
  std::string Now = Text;
  for (const Json &Change : listOf(Changes)) {
    const Json &NewText = at(Change, {"text"});
    if (!NewText.is_string())
      return false;
    const Json &Range = at(Change, {"range"});
    if (Range.is_null()) {
      Now = textOf(NewText);
      continue;
    }
    const SourceText Before(Now);
    const auto Begin = offsetOf(Before, at(Range, {"start"}), Encoding),
               End = offsetOf(Before, at(Range, {"end"}), Encoding);
    if (!Begin || !End || *Begin > *End)
      return false;
    Now.replace(*Begin, *End - *Begin, textOf(NewText));
  }
  Text = std::move(Now);
  return true;
}

static bool readTexts(const Json &Value, std::vector<std::string> &Result) {
  if (!Value.is_array() ||
      !llvm::all_of(Value, [](const Json &One) { return One.is_string(); }))
    return false;
  for (const Json &One : Value)
    Result.push_back(textOf(One));
  return true;
}

static bool readText(const Json &Value, std::optional<std::string> &Result) {
  if (!Value.is_string())
    return false;
  Result = textOf(Value);
  return true;
}

static bool readLevel(const Json &Value, std::optional<Level> &Result) {
  const std::optional<int64_t> Number = numberOf(Value);
  if (!Number || *Number < 0 || *Number > 2)
    return false;
  Result = static_cast<Level>(*Number);
  return true;
}

Settings Settings::of(const Json &Value, std::vector<std::string> &Problems) {
  Settings Result;
  const Json &Own = at(Value, {"libtorch-tidy"});
  const Json &All = Own.is_null() ? Value : Own;
  if (!All.is_object())
    return Result; // Clients without settings send null, or an empty list.
  for (const auto &[Name, Given] : All.items()) {
    const char *Wanted = nullptr;
    if (Given.is_null())
      continue;
    if (Name == "level") {
      if (!readLevel(Given, Result.WeakestLevel))
        Wanted = "0, 1 or 2";
    } else if (Name == "checks" || Name == "buildPath") {
      if (!readText(Given, Name == "checks" ? Result.Checks : Result.BuildPath))
        Wanted = "a string";
    } else if (Name == "extraArgs" || Name == "extraArgsBefore") {
      if (!readTexts(Given, Name == "extraArgs" ? Result.After : Result.Before))
        Wanted = "a list of strings";
    } else if (&All == &Own) {
      Problems.push_back("there is no setting '" + Name + "'");
    }
    if (Wanted)
      Problems.push_back("the setting '" + Name + "' must be " + Wanted);
  }
  return Result;
}

void Settings::applyTo(CommandLine &Options) const {
  if (WeakestLevel)
    Options.Configuration.WeakestLevel = WeakestLevel;
  if (Checks)
    Options.Configuration.Checks = Checks;
  if (BuildPath && !Options.Commands.Fixed)
    Options.Commands.BuildPath = *BuildPath;
  llvm::append_range(Options.Analysis.Extra.Before, Before);
  llvm::append_range(Options.Analysis.Extra.After, After);
}

} // namespace libtorch_tidy::driver::lsp
