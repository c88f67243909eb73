//===- Activity.cpp - What the analysis is doing --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Activity.h"
#include "analysis/cpp/UnitContext.h"
#include <algorithm>

using namespace clang;

namespace libtorch_tidy::cpp {

static char *Shared = nullptr;
static size_t SharedSize = 0;

/// The innermost activity of a unit.
struct Innermost {
  const Activity *Doing = nullptr;
};

void Activity::writeTo(char *Memory, size_t Size) {
  Shared = Memory;
  SharedSize = Size;
}

Activity::Activity(const FunctionDecl *F)
    : F(F), Current(ofUnit<Innermost>(F->getASTContext()).Doing),
      Around(Current) {
  Current = this;
  write();
}

Activity::Activity(llvm::StringRef Check, ASTContext &Unit)
    : Check(Check), Current(ofUnit<Innermost>(Unit).Doing), Around(Current) {
  Current = this;
  write();
}

Activity::~Activity() {
  Current = Around;
  if (Current)
    Current->write();
}

void Activity::say(llvm::StringRef Text) {
  if (!Shared)
    return;
  const size_t Length = std::min(Text.size(), SharedSize - 1);
  std::copy_n(Text.data(), Length, Shared);
  Shared[Length] = 0;
}

void Activity::write() const {
  if (!Shared)
    return;
  say(F ? "function '" + F->getQualifiedNameAsString() + "'"
        : ("check '" + Check + "'").str());
}

} // namespace libtorch_tidy::cpp
