//===- Conventions.cpp - What names suggest -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/Conventions.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/CharInfo.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool namesLoss(StringRef Name) {
  return Name.contains_insensitive("loss") || Name.contains("cross_entropy");
}

bool namesEpoch(StringRef Name) { return Name.contains_insensitive("epoch"); }

bool namesCache(StringRef Name) {
  return Name.contains_insensitive("cache") ||
         Name.starts_with_insensitive("past");
}

bool namesSmallText(StringRef Name) {
  for (StringRef Word : {"path", "file", "name", "dir", "folder", "label",
                         "class", "categor", "ext", "key"})
    if (Name.contains_insensitive(Word) && !Name.contains_insensitive("text"))
      return true;
  return false;
}

bool namesGradientReset(StringRef Name) {
  return Name.contains_insensitive("grad") &&
         (Name.contains_insensitive("zero") ||
          Name.contains_insensitive("reset") ||
          Name.contains_insensitive("clear") ||
          Name.contains_insensitive("detach"));
}

bool namesOutOfMemory(StringRef Name) {
  // "oom" as a word of its own: not inside a longer run of letters of the same
  // spelling.
  for (StringRef Word : {"oom", "OOM", "Oom"}) {
    for (size_t At = Name.find(Word); At != StringRef::npos;
         At = Name.find(Word, At + 1)) {
      char Before = At ? Name[At - 1] : '_';
      char After = At + 3 < Name.size() ? Name[At + 3] : '_';
      bool Starts = !llvm::isAlpha(Before) ||
                    (clang::isUppercase(Word[0]) && clang::isLowercase(Before));
      bool Ends = !llvm::isAlpha(After) ||
                  (clang::isLowercase(Word[2]) && clang::isUppercase(After));
      if (Starts && Ends)
        return true;
    }
  }
  std::string Plain = Name.lower();
  Plain.erase(std::remove(Plain.begin(), Plain.end(), '_'), Plain.end());
  return StringRef(Plain).contains("outofmemory");
}

bool mentionsOutOfMemory(StringRef Text) {
  return Text.contains_insensitive("out of memory") || namesOutOfMemory(Text);
}

bool namesVocabulary(StringRef Name) {
  return Name.contains_insensitive("vocab");
}

bool namesScriptAccessor(StringRef Name) {
  return Name.starts_with("get_") || Name.starts_with("set_") ||
         Name.starts_with("update_");
}

bool namesDerivative(StringRef Name) {
  if (Name == "forward_lower") // The interface of DeePMD-kit's models.
    return true;
  // The last word of an identifier, in any spelling: atomForces_, D_VIRIAL.
  Name = Name.rtrim("_0123456789");
  for (StringRef Word : {"force", "forces", "virial", "virials", "stress",
                         "stresses", "gradient", "gradients"}) {
    if (!Name.ends_with_insensitive(Word))
      continue;
    StringRef Before = Name.drop_back(Word.size());
    const bool IsWord = Before.empty() || !llvm::isAlpha(Before.back()) ||
                        (clang::isLowercase(Before.back()) &&
                         clang::isUppercase(Name[Before.size()]));
    const StringRef Of = Before.rtrim("_");
    if (Of.ends_with_insensitive("brute") || Of.ends_with_insensitive("no"))
      return false;
    return IsWord || Before == "d";
  }
  return false;
}

bool namesAccessor(StringRef Name) {
  return Name.starts_with("register_") || Name.starts_with("named_") ||
         Name.starts_with("get_") || Name.starts_with("set_") ||
         Name.starts_with("load") || Name.starts_with("save") ||
         Name.starts_with("reset") || Name.starts_with("init") ||
         cpp::isOneOf(Name, {"clone", "to", "parameters", "buffers", "children",
                             "modules", "apply", "train", "eval", "zero_grad"});
}

bool drawsSample(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  return cpp::nameOf(Method).equals_insensitive("sample") &&
         !isModule(compat::recordType(Method->getParent()));
}

bool namesLayoutCheck(StringRef Name) {
  return Name.contains_insensitive("contiguous");
}

bool namesStride(StringRef Name) {
  return Name.contains_insensitive("stride") ||
         Name.contains_insensitive("step") ||
         Name.contains_insensitive("pitch") || Name.starts_with("ld");
}

} // namespace libtorch_tidy::torch
