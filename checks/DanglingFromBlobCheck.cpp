//===- DanglingFromBlobCheck.cpp ------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/DanglingStory.h"
#include "checks/torch/Spelling.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/FixIts.h"

using namespace clang;

namespace libtorch_tidy {

using flow::Borrow;
using flow::Dangling;

namespace {

/// docs/checks/libtorch-dangling-from-blob.md says what it finds and why.
class DanglingFromBlobCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
};

} // namespace

static std::string messageOf(const Dangling &D) {
  const VarDecl *Owner = D.What.Owner;
  const std::string Memory =
      Owner ? "the memory of '" + Owner->getNameAsString() + "'"
            : "the memory of a temporary";
  const std::string Keeper =
      D.Keeper == "the module" ? D.Keeper : "'" + D.Keeper + "'";
  switch (D.Why) {
  case Dangling::Returned:
    return "the returned tensor uses " + Memory +
           ", which is gone when the function returns";
  case Dangling::Stored:
    return Keeper + " keeps a tensor over " + Memory +
           ", which is gone when the function returns";
  case Dangling::Scope:
    return Keeper + " uses " + Memory + ", which is gone when its block ends";
  case Dangling::Freed:
    return Keeper + " uses " + Memory + ", which is freed before the last use";
  case Dangling::Reused:
    return "every tensor that " + Keeper + " keeps uses " + Memory +
           ", which each iteration writes again";
  default:
    return Keeper + " uses " + Memory +
           ", which is gone at the end of this statement";
  }
}

void DanglingFromBlobCheck::checkUnit(flow::UnitModel &Unit) {
  for (const Dangling &D : Unit.dangling()) {
    const Borrow &B = D.What;
    if (B.What != Borrow::Blob)
      continue;
    Finding F = findingAt(D);
    F.Message = messageOf(D);
    if (B.Sure == torch::Fresh::Perhaps && !B.Through.empty())
      F.Message += ", unless '" + B.Through + "' copies";
    // What a helper stores, or puts into a sample, is its to copy.
    if (B.Sure == torch::Fresh::Yes && torch::isTensor(B.Top->getType()))
      F.Fix = fixits::appendMemberCall(B.Top, torch::spelling::CloneCall,
                                       Unit.context());
    tell(F);
  }
}

LIBTORCH_CHECK(DanglingFromBlobCheck);

} // namespace libtorch_tidy
