//===- Callers.cpp - Who calls a function ---------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/unit/Callers.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Lines.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy::flow {

llvm::SmallVector<WrittenCall, 4> callsOf(const FunctionDecl *Callee,
                                          const UnitModel &Unit) {
  llvm::SmallVector<WrittenCall, 4> Found;
  for (const FunctionDecl *In : Unit.functions())
    cpp::forEach<CallExpr>(In->getBody(), [&](const CallExpr *Call) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (F && F->getCanonicalDecl() == Callee->getCanonicalDecl())
        Found.push_back({Call, In});
    });
  return Found;
}

std::vector<CallSite> callsIn(const FunctionDecl *F, UnitModel &Unit) {
  std::vector<CallSite> Found;
  const FunctionFlow *Flow = Unit.flowOf(F);
  if (Flow && Flow->available() && Unit.concernsTensors(F)) {
    llvm::append_range(Found, Flow->calls());
    llvm::append_range(Found, Flow->unseenCalls());
    llvm::erase_if(Found, [](const CallSite &Site) { return !Site.Callee; });
    return Found;
  }
  cpp::forEach<Expr>(F->getBody(), [&](const Expr *E) {
    const auto *Call = dyn_cast<CallExpr>(E);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    for (const FunctionDecl *Runs :
         {Callee, static_cast<const FunctionDecl *>(cpp::constructorRunBy(E))})
      if (Runs)
        Found.push_back({E, Runs, GradMode::On});
  });
  return Found;
}

bool anyCallOf(
    const FunctionDecl *F, UnitModel &Unit,
    llvm::function_ref<bool(const Label &, const FunctionFlow &Caller)> IsIt) {
  return llvm::any_of(Unit.callersOf(F), [&](const auto &C) {
    return llvm::any_of(C.Caller->labels(), [&](const Label &L) {
      const auto *Call = dyn_cast_or_null<CallExpr>(L.Site);
      const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
      return L.K == Label::Helper && Callee &&
             Callee->getCanonicalDecl() == F->getCanonicalDecl() &&
             IsIt(L, *C.Caller);
    });
  });
}

bool anyCallerTrains(const FunctionDecl *F, UnitModel &Unit) {
  return anyCallOf(F, Unit, [](const Label &Result, const FunctionFlow &) {
    return (Result.Consumers & Label::Backward) != 0;
  });
}

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
