//===- FrozenModules.cpp - Whose parameters do not train ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/FrozenModules.h"
#include "checks/flow/FunctionFlow.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"

using namespace clang;

namespace libtorch_tidy::flow {

namespace {

/// The variable or field that names a module: `net` in net->parameters(),
/// `critic_` in this->critic_->parameters().
const ValueDecl *moduleName(const Expr *E) {
  while (E) {
    E = torch::stripImplicit(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (isa<FieldDecl>(Member->getMemberDecl()))
        return Member->getMemberDecl();
      E = Member->getBase();
    } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E)) {
      if (Op->getNumArgs() == 0)
        return nullptr;
      E = Op->getArg(0);
    } else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
      E = Call->getImplicitObjectArgument();
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      E = Unary->getSubExpr();
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

/// Calls parameters() or named_parameters() somewhere down its objects.
const CallExpr *parametersCallIn(const Expr *E) {
  while (E) {
    E = torch::stripImplicit(E);
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call)
      return nullptr;
    if (torch::isParametersCall(Call))
      return Call;
    E = torch::objectOf(Call);
  }
  return nullptr;
}

} // namespace

llvm::SmallPtrSet<const ValueDecl *, 4>
findFrozenModules(llvm::ArrayRef<const CallExpr *> Switches,
                  llvm::ArrayRef<const CXXForRangeStmt *> RangeLoops,
                  const FunctionFlow &In) {
  llvm::SmallPtrSet<const ValueDecl *, 4> Frozen, Thawed;
  for (const CallExpr *Call : Switches) {
    if (torch::isFreezeCall(Call)) {
      // The result is frozen; the module that was given is not.
      for (const Stmt *S = Call; S && !isa<CompoundStmt>(S);
           S = In.parentOf(S)) {
        if (const auto *Declared = dyn_cast<DeclStmt>(S)) {
          for (const Decl *D : Declared->decls())
            if (const auto *V = dyn_cast<VarDecl>(D);
                V && V->getInit() && In.isWithin(Call, V->getInit()))
              Frozen.insert(V);
          break;
        }
        const auto *Assign = dyn_cast<CXXOperatorCallExpr>(S);
        if (Assign && Assign->getOperator() == OO_Equal) {
          if (const ValueDecl *Name = moduleName(Assign->getArg(0)))
            Frozen.insert(Name);
          break;
        }
      }
      continue;
    }
    for (const CXXForRangeStmt *Loop : RangeLoops) {
      if (!In.isWithin(Call, Loop->getBody()))
        continue;
      const CallExpr *Params = parametersCallIn(Loop->getRangeInit());
      const ValueDecl *Name =
          Params ? moduleName(torch::objectOf(Params)) : nullptr;
      if (!Name)
        continue;
      bool All = torch::setsRequiresGrad(Call) == torch::Flag::False;
      for (const Stmt *S = Call; S != Loop; S = In.parentOf(S))
        All &= !isa<IfStmt, SwitchStmt, AbstractConditionalOperator>(S);
      if (All)
        Frozen.insert(Name);
      else
        Thawed.insert(Name);
    }
  }
  for (const ValueDecl *Name : Thawed)
    Frozen.erase(Name);
  return Frozen;
}

} // namespace libtorch_tidy::flow
