//===- InferenceWithoutNoGradCheck.cpp ------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/torch/Spelling.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/MapVector.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

/// docs/checks/libtorch-inference-without-no-grad.md says what it finds and
/// why.
class InferenceWithoutNoGradCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;
};

} // namespace

/// The outermost block around \p Site that a guard can own: nothing in it
/// trains, and nobody needs the history of what is computed in it. Null when
/// there is none.
static const CompoundStmt *guardableBlock(const Stmt *Site,
                                          const FunctionFlow &Flow,
                                          flow::UnitModel &Unit) {
  const CompoundStmt *Best = nullptr;
  for (const Stmt *S = Site; S; S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S)) {
      if (flow::needsHistory(Block, Flow, Unit))
        break;
      Best = Block;
    }
  return Best;
}

/// The block that a finding is reported for: one report covers all forwards
/// that the same guard would cover.
static const Stmt *scopeOf(const Stmt *Site, const CompoundStmt *Guardable,
                           const FunctionFlow &Flow) {
  if (Guardable)
    return Guardable;
  const Stmt *S = Site;
  while (S && !isa<CompoundStmt>(S))
    S = Flow.parentOf(S);
  return S;
}

void InferenceWithoutNoGradCheck::checkFunction(const FunctionFlow &Flow,
                                                flow::UnitModel &Unit) {
  bool IsLayer = false;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Flow.function());
      Method &&
      torch::isModule(Unit.context().getRecordType(Method->getParent()))) {
    // A layer leaves the choice to whoever runs it.
    if (Method->isOverloadedOperator() ||
        (Method->getIdentifier() && Method->getName() == "forward"))
      return;
    IsLayer = true;
  }

  struct Scope {
    const CompoundStmt *Guardable;
    Level Strength = Level::Likely;
    bool IsKept = false; ///< In what a parameter names.
    llvm::SmallVector<const Label *, 4> Forwards;
  };
  llvm::MapVector<const Stmt *, Scope> Scopes;
  for (const Label &L : Flow.labels()) {
    if (!L.bringsGraph())
      continue;
    const unsigned Consumers = Unit.consumersOf(L, Flow);
    if (IsLayer && (Consumers & Label::Returned))
      return; // So does a method that hands history on.
    if (L.Mode != GradMode::On)
      continue;
    // Kept for somebody whom this unit does not show.
    const bool IsKept = Consumers & ~Label::Computed;
    if (IsKept && (Unit.consumersHere(L, Flow) & ~Label::Computed))
      continue;
    const CompoundStmt *Guardable = guardableBlock(L.Site, Flow, Unit);
    Scope &S = Scopes[scopeOf(L.Site, Guardable, Flow)];
    S.Guardable = Guardable;
    S.Forwards.push_back(&L);
    S.IsKept |= IsKept;
    if (IsLayer || Consumers)
      S.Strength = Level::Advisory;
  }
  if (Scopes.empty() || Unit.isCalledOnlyGuarded(Flow.function()))
    return;

  ASTContext &Context = Unit.context();
  for (auto &[Block, S] : Scopes) {
    llvm::sort(S.Forwards, [&](const Label *A, const Label *B) {
      return Context.getSourceManager().isBeforeInTranslationUnit(
          A->Site->getExprLoc(), B->Site->getExprLoc());
    });
    const Label &First = *S.Forwards.front();
    Finding F;
    F.Loc = First.Site->getExprLoc();
    F.Highlight = First.Site->getSourceRange();
    F.Strength = S.Strength;
    F.Message = "forward pass with gradient mode on, but nothing " +
                std::string(S.IsKept ? "in this file " : "") +
                "back-propagates its result; its activations are kept as long "
                "as the result lives";
    for (const Label *L : S.Forwards)
      F.Steps.push_back(originStep(*L));
    if (S.Guardable) {
      std::string Name =
          fixits::freeName("no_grad", Flow.function()->getBody());
      F.Fix = fixits::insertAtBlockHead(
          S.Guardable, (torch::spelling::NoGradGuard + " " + Name + ";").str(),
          Context);
    }
    tell(F);
  }
}

LIBTORCH_CHECK(InferenceWithoutNoGradCheck);

} // namespace libtorch_tidy
