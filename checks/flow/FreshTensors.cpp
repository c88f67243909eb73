//===- FreshTensors.cpp - Tensors that nobody else holds ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/FreshTensors.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Concatenation.h"
#include "checks/torch/CustomFunctions.h"
#include "checks/torch/Modules.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/Sharing.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::flow {

bool FreshTensors::isFresh(const Expr *E, unsigned Depth) const {
  constexpr unsigned Enough = 8;
  E = torch::stripImplicit(E);
  if (!E || Depth > Enough)
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V && isFreshVariable(V, Depth + 1);
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return false;
  if (torch::asModuleCall(Call))
    return true;
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    switch (Op->getOperator()) {
    case OO_Plus:
    case OO_Minus:
    case OO_Star:
    case OO_Slash:
    case OO_EqualEqual:
    case OO_ExclaimEqual:
    case OO_Less:
    case OO_LessEqual:
    case OO_Greater:
    case OO_GreaterEqual:
      return torch::isTensor(Op->getType());
    default:
      return false;
    }
  // script.forward({x}).toTensor()
  if (torch::asToTensor(Call))
    return torch::asModuleCall(torch::objectOf(Call)).has_value();
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  if (!Facts || Facts->InPlace)
    return false;
  if (!Facts->mayShare())
    return true;
  if (!torch::showsWhole(Call))
    return false;
  const Expr *Of = torch::objectOf(Call);
  if (!Of && Call->getNumArgs() > 0)
    Of = Call->getArg(0);
  return isFresh(Of, Depth + 1);
}

namespace {

/// Finds other handles to a variable's tensor: copies of it and views.
class Handles : public RecursiveASTVisitor<Handles> {
public:
  Handles(const VarDecl *V, const Expr *Ignored) : V(V), Ignored(Ignored) {}
  bool Found = false;

  bool VisitVarDecl(VarDecl *Other) { return look(Other->getInit()); }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
    if (Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 && Op != Ignored)
      return look(Op->getArg(1));
    return true;
  }

private:
  bool look(const Expr *E) {
    for (E = torch::stripImplicit(E); E;) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
        Found |= Ref->getDecl() == V;
        return !Found;
      }
      const auto *Call = dyn_cast<CallExpr>(E);
      const torch::OpFacts *Facts =
          Call ? torch::opFacts(Call->getDirectCallee()) : nullptr;
      if (!Facts || !Facts->mayShare())
        return true;
      E = torch::objectOf(Call);
    }
    return true;
  }

  const VarDecl *V;
  const Expr *Ignored;
};

} // namespace

bool FreshTensors::isFreshVariable(const VarDecl *V, unsigned Depth) const {
  if (!V->isLocalVarDecl() || V->isStaticLocal() ||
      !torch::isTensor(V->getType()) || V->getType()->isReferenceType())
    return false;
  if (V->getInit() && !isEmptyValue(V->getInit()) &&
      !isFresh(V->getInit(), Depth))
    return false;
  for (const Write &W : writesTo(V, In->getBody())) {
    if (W.InLambda)
      return false;
    if (W.Kind == WriteKind::Released)
      continue;
    if (W.Kind != WriteKind::Assigned || !W.Value || !isFresh(W.Value, Depth))
      return false;
  }
  Handles Others(V, Ignored);
  Others.TraverseStmt(const_cast<Stmt *>(Loop));
  return !Others.Found;
}

} // namespace libtorch_tidy::flow
