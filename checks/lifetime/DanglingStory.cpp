//===- DanglingStory.cpp - How memory comes to be used too late -----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/lifetime/DanglingStory.h"

using namespace clang;

namespace libtorch_tidy {

using flow::Dangling;
using torch::Fresh;

static Level levelOf(Fresh Sure) {
  return Sure == Fresh::Yes      ? Level::Certain
         : Sure == Fresh::Likely ? Level::Likely
                                 : Level::Advisory;
}

/// Who owned the memory, how that ended, and who uses it then.
static void addPath(const Dangling &D, Finding &F) {
  const std::string Owner =
      D.What.Owner ? "'" + D.What.Owner->getNameAsString() + "'" : "";
  if (D.What.Owner)
    F.Steps.push_back(
        {D.What.Owner->getLocation(),
         Owner + (D.What.Heap ? " points to the memory" : " owns the memory")});
  if (D.What.Lender)
    F.Steps.push_back({D.What.Lender->getLocation(),
                       "'" + D.What.Lender->getNameAsString() +
                           "' hands out memory of its argument"});
  switch (D.Why) {
  case Dangling::Returned:
    F.Steps.push_back({D.KeptAt, "it is returned here"});
    break;
  case Dangling::Scope:
    F.Steps.push_back({D.EndsAt, Owner + " goes out of scope here"});
    break;
  case Dangling::Assigned:
    F.Steps.push_back({D.EndsAt, Owner + " is reassigned here, which frees the "
                                         "old tensor"});
    break;
  case Dangling::Resized:
    F.Steps.push_back({D.EndsAt, Owner + " is resized here"});
    break;
  case Dangling::Freed:
    F.Steps.push_back({D.EndsAt, "the memory is freed here"});
    break;
  default:
    break;
  }
  if (D.UsedAt.isValid())
    F.Steps.push_back({D.UsedAt, "'" + D.Keeper + "' is used here"});
}

Finding findingAt(const Dangling &D) {
  Finding F;
  F.Loc = D.What.Source->getBeginLoc();
  F.Highlight = D.What.Source->getSourceRange();
  F.Strength = levelOf(D.What.Sure);
  addPath(D, F);
  return F;
}

} // namespace libtorch_tidy
