//===- DanglingStory.h - How memory comes to be used too late ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_LIFETIME_DANGLINGSTORY_H
#define LIBTORCH_TIDY_CHECKS_LIFETIME_DANGLINGSTORY_H

#include "checks/base/LibtorchCheck.h"

namespace libtorch_tidy {

/// A finding about \p D without its message, its reasons and its fix: who owned
/// the memory, how that ended, and who uses it then.
inline Finding findingAt(const flow::Dangling &D) {
  using flow::Dangling;
  const flow::Borrow &B = D.What;
  const std::string Owner = B.Owner ? quoted(B.Owner) : "";
  Finding F = Finding::from(B.Source);
  if (B.Owner)
    F.note(B.Owner,
           Owner + (B.Heap ? " points to the memory" : " owns the memory"));
  if (B.Lender)
    F.note(B.Lender, quoted(B.Lender) + " hands out memory of its argument");
  switch (D.Why) {
  case Dangling::Returned:
    F.note(D.KeptAt, "it is returned here");
    break;
  case Dangling::Scope:
    F.note(D.EndsAt, Owner + " goes out of scope here");
    break;
  case Dangling::Assigned:
    F.note(D.EndsAt, Owner + " is reassigned here, which frees the old tensor");
    break;
  case Dangling::Resized:
    F.note(D.EndsAt, Owner + " is resized here");
    break;
  case Dangling::Freed:
    F.note(D.EndsAt, "the memory is freed here");
    break;
  default:
    break;
  }
  if (D.UsedAt.isValid())
    F.note(D.UsedAt, quoted(D.Keeper) + " is used here");
  return F;
}

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LIFETIME_DANGLINGSTORY_H
