//===- ViewRetainsStorageCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/Amounts.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/lifetime/KeptViews.h"
#include "fixits/FixIts.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-view-retains-storage.md says what it finds and why.
class ViewRetainsStorageCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
  void measure(const KeptView &K, Finding &F, std::string &Part,
               std::string &Whole);
};

} // namespace

/// \p Part and \p Whole: how much that is, where it is known: ", 40.0 KB".
static std::string messageOf(const KeptView &K, const std::string &Part,
                             const std::string &Whole) {
  const std::string Keeper = "'" + K.Keeper + "'";
  switch (K.What) {
  case KeptView::Saved:
    return "a part of a tensor" + Part +
           " is saved with the whole memory of that tensor" + Whole;
  case KeptView::Loss:
    return Keeper + " keeps the whole unreduced loss alive for a single number";
  case KeptView::Part:
    break;
  }
  return Keeper + " keeps a part of " +
         (K.Owner ? "'" + K.Owner->getNameAsString() + "'"
                  : std::string("a temporary tensor")) +
         Part + " and with it the memory of the whole tensor" + Whole;
}

/// What is kept, and how much of it is asked for, where both are known.
void ViewRetainsStorageCheck::measure(const KeptView &K, Finding &F,
                                      std::string &Part, std::string &Whole) {
  const Expr *Owner = K.Owner ? K.Owner->getInit() : K.Temporary;
  if (K.What == KeptView::Loss || !Owner)
    return;
  // What is saved may itself be a part of something larger.
  const auto *Made = dyn_cast<CallExpr>(cpp::peel(Owner));
  if (K.What == KeptView::Saved &&
      torch::storageUse(Made, {}, context()).How != torch::Sharing::None)
    return;
  const std::optional<uint64_t> All = bytesOf(Owner), Asked = bytesOf(K.Kept);
  if (!All || !Asked || *Asked >= *All)
    return;
  F.Bytes = All;
  Part = ", " + readableBytes(*Asked) + ",";
  Whole = ", " + readableBytes(*All);
}

void ViewRetainsStorageCheck::checkUnit(flow::UnitModel &Unit) {
  const ASTContext &Context = Unit.context();
  const SourceManager &SM = Context.getSourceManager();
  for (const FunctionDecl *Function : Unit.functions()) {
    if (Unit.errors().touch(Function))
      continue;
    for (const KeptView &K : findKeptViews(Function, Context)) {
      Finding F;
      F.Loc = K.Kept->getBeginLoc();
      F.Highlight = K.Kept->getSourceRange();
      bool Sure = K.Grows || K.What == KeptView::Saved;
      Sure &= !K.MayBeWhole && !K.MayBeCopied && !K.MayCarryGraph;
      F.Strength = Sure ? Level::Likely : Level::Advisory;
      if (K.What == KeptView::Part && K.Owner)
        F.Steps.push_back(
            {K.Owner->getLocation(),
             "'" + K.Owner->getNameAsString() +
                 "' is gone at the end of its block, its memory is not"});
      if (SM.getFileLoc(K.Source->getExprLoc()) != SM.getFileLoc(F.Loc) &&
          K.Source->Stmt::getBeginLoc() != F.Loc)
        F.Steps.push_back(
            {K.Source->Stmt::getBeginLoc(), K.What == KeptView::Loss
                                                ? "the loss is computed here"
                                                : "the part is taken here"});
      if (!K.ChangesLater && !torch::isStableTensor(K.Kept->getType()))
        F.Fix = fixits::appendMemberCall(K.Kept, torch::spelling::CloneCall,
                                         Context);
      std::string Part, Whole;
      if (reports(F.Strength))
        measure(K, F, Part, Whole);
      F.Message = messageOf(K, Part, Whole);
      report(F);
    }
  }
}

LIBTORCH_CHECK(ViewRetainsStorageCheck, NoReasons);

} // namespace libtorch_tidy
