//===- ViewRetainsStorageCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/KeptViews.h"
#include "checks/torch/Spelling.h"
#include "fixits/FixIts.h"

using namespace clang;

namespace libtorch_tidy {

using flow::KeptView;

namespace {

/// docs/checks/libtorch-view-retains-storage.md says what it finds and why.
class ViewRetainsStorageCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
};

} // namespace

static std::string messageOf(const KeptView &K) {
  const std::string Keeper = "'" + K.Keeper + "'";
  switch (K.What) {
  case KeptView::Saved:
    return "a part of a tensor is saved with the whole memory of that tensor";
  case KeptView::Loss:
    return Keeper + " keeps the whole unreduced loss alive for a single number";
  case KeptView::Part:
    break;
  }
  return Keeper + " keeps a part of " +
         (K.Owner ? "'" + K.Owner->getNameAsString() + "'"
                  : std::string("a temporary tensor")) +
         " and with it the memory of the whole tensor";
}

void ViewRetainsStorageCheck::checkUnit(flow::UnitModel &Unit) {
  const ASTContext &Context = Unit.context();
  const SourceManager &SM = Context.getSourceManager();
  for (const FunctionDecl *Function : Unit.functions()) {
    if (Unit.errors().touch(Function))
      continue;
    for (const KeptView &K : flow::findKeptViews(Function, Context)) {
      Finding F;
      F.Loc = K.Kept->getBeginLoc();
      F.Highlight = K.Kept->getSourceRange();
      F.Message = messageOf(K);
      bool Sure = K.Grows || K.What == KeptView::Saved;
      Sure &= !K.MayBeWhole && !K.MayBeCopied && !K.MayCarryGraph;
      F.Strength = Sure ? Level::Likely : Level::Advisory;
      if (K.What == KeptView::Part && K.Owner)
        F.Steps.push_back(
            {K.Owner->getLocation(),
             "'" + K.Owner->getNameAsString() +
                 "' is gone at the end of its block, its memory is not"});
      if (SM.getFileLoc(K.Source->getExprLoc()) != SM.getFileLoc(F.Loc) &&
          K.Source->getBeginLoc() != F.Loc)
        F.Steps.push_back(
            {K.Source->getBeginLoc(), K.What == KeptView::Loss
                                          ? "the loss is computed here"
                                          : "the part is taken here"});
      F.Fix =
          fixits::appendMemberCall(K.Kept, torch::spelling::CloneCall, Context);
      report(F);
    }
  }
}

LIBTORCH_CHECK(ViewRetainsStorageCheck);

} // namespace libtorch_tidy
