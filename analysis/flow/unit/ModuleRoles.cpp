//===- ModuleRoles.cpp - What a unit has its modules for ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/unit/ModuleRoles.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/flow/unit/ScriptCalls.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// How far a module that is put in evaluation mode is followed: into a field,
/// and back to the caller of a helper.
static constexpr unsigned Rounds = 2;

ModuleRoles::ModuleRoles(llvm::ArrayRef<const FunctionDecl *> Functions,
                         const ProgramFacts *Whole)
    : Whole(Whole) {
  for (const FunctionDecl *F : Functions)
    read(F);
  for (unsigned Round = 0; Round < Rounds; ++Round)
    for (const FunctionDecl *F : Functions)
      handOn(F);
}

std::string ModuleRoles::evalElsewhere(const ValueDecl *Module) const {
  const auto *Field = dyn_cast<FieldDecl>(Module);
  if (!Whole || !Field)
    return {};
  auto It = Whole->Evals.find(cpp::programFieldName(Field));
  return It == Whole->Evals.end() ? std::string() : It->second;
}

static bool needsGradients(const CallExpr *Call) {
  const std::optional<torch::Flag> Set = torch::setsRequiresGrad(Call);
  return torch::isBackward(Call) || torch::isModuleTrain(Call) ||
         torch::isOptimizerStep(Call) || torch::isZeroGrad(Call) ||
         (Set && *Set != torch::Flag::False) ||
         torch::isOptimizerType(Call->getType()) ||
         torch::factoryRequiresGrad(Call) == torch::Flag::True;
}

/// Does the function return a tensor that is a loss by its name, or by that of
/// what makes it?
static bool returnsLoss(cpp::Body &In) {
  return cpp::anyOf<ReturnStmt>(In.root(), [&](const ReturnStmt *Return) {
    const Expr *Value = Return->getRetValue();
    if (!Value || !torch::isTensor(Value->getType()))
      return false;
    const auto *Ref = dyn_cast<DeclRefExpr>(cpp::stripImplicit(Value));
    const auto *Call = dyn_cast_or_null<CallExpr>(In.originOf(Value));
    return (Ref && torch::namesLoss(Ref->getDecl()->getName())) ||
           (Call && torch::namesLoss(cpp::calleeName(Call)));
  });
}

void ModuleRoles::note(const ValueDecl *Module, const CallExpr *Eval) {
  if (Module)
    Evals.try_emplace(Module, Eval);
}

void ModuleRoles::read(const FunctionDecl *F) {
  cpp::Body &In = cpp::Body::of(F);
  cpp::forEachCall(F, [&](const CallExpr *Call) {
    Trains |= needsGradients(Call);
    if (torch::isModuleEval(Call))
      if (const Expr *Object = cpp::receiverOf(Call)) {
        note(torch::moduleNamed(Object), Call);
        note(torch::moduleNamed(In.originOf(Object)), Call);
      }
    if (!ScriptLoad && torch::loadsModule(Call) &&
        torch::isScriptModule(Call->getType()))
      ScriptLoad = Call;
  });
  ReturnsLoss = ReturnsLoss || returnsLoss(In);
  Trains |= namesDerivatives(In) ||
            cpp::anyOf<VarDecl>(In.root(), [](const VarDecl *Var) {
              return torch::isOptimizerType(Var->getType());
            });
}

/// The module in \p E, also where an owner is made of it:
/// std::make_shared<Module>(std::move(module)).
static const ValueDecl *moduleMoved(const Expr *E) {
  E = cpp::stripImplicit(E);
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (Call && !cpp::receiverOf(Call) && Call->getNumArgs() > 0)
    return torch::moduleNamed(Call->getArg(0));
  return torch::moduleNamed(E);
}

void ModuleRoles::handOn(const FunctionDecl *F) {
  cpp::forEachCall(F, [&](const CallExpr *Call) {
    // module_ = std::move(module);
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
    if (Op && Op->getOperator() == OO_Equal) {
      if (const CallExpr *Eval = evalOf(moduleMoved(Op->getArg(1))))
        note(torch::moduleNamed(Op->getArg(0)), Eval);
      return;
    }
    // open(path, module_);
    const FunctionDecl *Callee = Call->getDirectCallee();
    const FunctionDecl *Definition = nullptr;
    if (Op || !Callee || torch::isTorchDecl(Callee) ||
        !Callee->hasBody(Definition))
      return;
    for (const ParmVarDecl *Param : Definition->parameters())
      if (const CallExpr *Eval = evalOf(Param);
          Eval && Param->getFunctionScopeIndex() < Call->getNumArgs())
        note(torch::moduleNamed(Call->getArg(Param->getFunctionScopeIndex())),
             Eval);
  });
}

} // namespace libtorch_tidy::flow
