//===- Arbiter.cpp - Who reports a missing guard --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/guards/Arbiter.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/UnitContext.h"
#include "clang/AST/ASTContext.h"
#include <utility>

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::Label;

Arbiter &Arbiter::of(ASTContext &Context) {
  return cpp::ofUnit<Arbiter>(Context);
}

const Arbiter &Arbiter::decided(flow::UnitModel &Unit, bool PassesAreReported) {
  Arbiter &Here = of(Unit.context());
  if (!std::exchange(Here.IsDecided, true) && PassesAreReported)
    Here.decide(Unit);
  return Here;
}

void Arbiter::guard(const CompoundStmt *Block, const Stmt *Statement) {
  assert(!IsDecided && "only matches bring candidates");
  Guards.try_emplace(Block, Statement);
}

void Arbiter::decide(flow::UnitModel &Unit) {
  Passes.emplace(Unit, [&](const Label &L, const FunctionFlow &Flow) {
    return isToBeGuarded(L.Site, Flow);
  });
  Unit.forEachFlow([&](const FunctionFlow &Flow) {
    for (Scope &S : Passes->scopesIn(Flow)) {
      for (const Label *L : S.Forwards)
        ScopeOf[L] = Scopes.size();
      Scopes.push_back(std::move(S));
    }
  });
}

flow::ReportedPasses Arbiter::reported(flow::UnitModel &Unit) {
  flow::ReportedPasses Reported;
  if (!Passes)
    return Reported;
  Unit.forEachFlow([&](const FunctionFlow &Flow) {
    if (Passes->reportsItsResults(Flow))
      Reported.Results.insert(Flow.function());
  });
  if (!UnguardedPasses::isClosed(Unit))
    return Reported;
  const SourceManager &SM = Unit.context().getSourceManager();
  for (const Scope &S : Scopes) {
    const Label &First = *S.Forwards.front();
    Reported.Forwards.insert({cpp::usrOf(S.Flow->function()),
                              cpp::lineOf(First.Site->getExprLoc(), SM),
                              UnguardedPasses::runs(First),
                              unsigned(S.strength())});
  }
  return Reported;
}

bool Arbiter::isToBeGuarded(const Stmt *Site, const FunctionFlow &Flow) const {
  if (Guards.empty())
    return false;
  const Stmt *Child = Site;
  while (const Stmt *Parent = Flow.parentOf(Child)) {
    const auto *Block = dyn_cast<CompoundStmt>(Parent);
    const Stmt *Guard = Block ? Guards.lookup(Block) : nullptr;
    if (Guard) {
      const auto At = llvm::find(Block->body(), Guard);
      if (std::find(At, Block->body_end(), Child) != Block->body_end())
        return true;
    }
    Child = Parent;
  }
  return false;
}

const Arbiter::Scope *Arbiter::findingOf(const Label &L, Level Weakest) const {
  auto It = ScopeOf.find(&L);
  return It == ScopeOf.end() || Scopes[It->second].strength() > Weakest
             ? nullptr
             : &Scopes[It->second];
}

} // namespace libtorch_tidy
