//===- FlowCheck.cpp - Checks that ask the flow model ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/FlowCheck.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

void FlowCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(functionDecl(isDefinition()).bind("any"), this);
}

void FlowCheck::check(const MatchFinder::MatchResult &Result) {
  // Half an AST says little about where values go.
  if (Unit || Result.Context->getDiagnostics().hasUncompilableErrorOccurred())
    return;
  Unit = flow::UnitModel::of(*Result.Context);
  for (const FunctionDecl *F : Unit->functions())
    if (const flow::FunctionFlow *Flow = Unit->flowOf(F);
        Flow && Flow->available())
      checkFunction(*Flow, *Unit);
}

/// The name of what a module call runs: `net` in net->forward(x).
static std::string calledModule(const Expr *Call) {
  std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  if (!M || !M->Module)
    return {};
  const Expr *Module = torch::stripImplicit(M->Module);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Module))
    return Ref->getDecl()->getNameAsString();
  if (const auto *Member = dyn_cast<MemberExpr>(Module))
    return Member->getMemberDecl()->getNameAsString();
  return {};
}

Step FlowCheck::originStep(const flow::Label &L) {
  switch (L.K) {
  case flow::Label::Forward: {
    std::string Name = calledModule(L.Site);
    return {L.Site->getExprLoc(),
            (Name.empty() ? "this module" : "'" + Name + "'") +
                " runs with gradient mode on here, so its result carries "
                "autograd history"};
  }
  case flow::Label::Leaf:
    return {L.Site->getExprLoc(), "this tensor requires gradients"};
  default:
    return {L.Site->getExprLoc(),
            "the result of this call carries autograd history"};
  }
}

} // namespace libtorch_tidy
