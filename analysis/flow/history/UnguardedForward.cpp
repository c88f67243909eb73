//===- UnguardedForward.cpp - A forward pass with gradient mode on --------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/history/UnguardedForward.h"
#include "analysis/cpp/Lines.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy::flow {

std::optional<UnguardedForward>
unguardedForward(const FunctionFlow &Flow, UnitModel &Unit, unsigned Depth) {
  if (Flow.isAbroad()) {
    const FunctionFacts *Said = factsElsewhere(Flow.function());
    if (!Said || Said->Forward.empty())
      return std::nullopt;
    return UnguardedForward{nullptr, Said->Forward};
  }
  const SourceManager &SM = Unit.context().getSourceManager();
  const Expr *First = nullptr;
  for (const Label &L : Flow.labels())
    if (L.Site && L.bringsGraph() && L.Mode == GradMode::On &&
        (!First || SM.isBeforeInTranslationUnit(L.Site->getExprLoc(),
                                                First->getExprLoc())))
      First = L.Site;
  if (First)
    return UnguardedForward{First, cpp::lineOf(First->getExprLoc(), SM)};
  if (Depth > 0)
    for (const CallSite &Call : Flow.calls()) {
      const FunctionFlow *Callee =
          Call.Mode == GradMode::On ? Unit.flowOf(Call.Callee) : nullptr;
      if (!Callee || !Callee->available())
        continue;
      if (auto Found = unguardedForward(*Callee, Unit, Depth - 1))
        return Found;
    }
  return std::nullopt;
}

} // namespace libtorch_tidy::flow
