//===- UnitScan.cpp - The functions of a translation unit -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/unit/UnitScan.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/unit/ModuleUse.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// Finds the functions of user code. Library code is cut off at its outermost
/// declaration, so that a unit with all of LibTorch in it costs little.
class UnitScan::Collector : public RecursiveASTVisitor<Collector> {
public:
  Collector(UnitScan &Into, const SourceManager &SM) : Into(Into), SM(SM) {}

  std::vector<const FunctionDecl *> Defined; ///< Templates, too.

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *D) {
    // A namespace may be re-opened by the user, so it is judged by each of its
    // declarations; anything else at file level by where it stands.
    if (D && !isa<TranslationUnitDecl, NamespaceDecl, LinkageSpecDecl>(D) &&
        D->getDeclContext() && D->getDeclContext()->isFileContext() &&
        !cpp::isUserCode(D->getLocation(), SM))
      return true;
    if (auto *NS = dyn_cast_or_null<NamespaceDecl>(D);
        NS && !cpp::isUserCode(NS->getLocation(), SM))
      return true;
    return RecursiveASTVisitor::TraverseDecl(D);
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody())
      Defined.push_back(F);
    add(F);
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) {
    Into.CallsEval |= torch::mayEndTraining(Call);
    return true;
  }
  /// In templates that are not instantiated, anything may hold a module; an
  /// object that is no pointer or holder is more likely an Eigen expression.
  bool VisitCXXDependentScopeMemberExpr(CXXDependentScopeMemberExpr *E) {
    const IdentifierInfo *Id = E->getMember().getAsIdentifierInfo();
    Into.CallsEval |= E->isArrow() && Id &&
                      (Id->getName() == "eval" || Id->getName() == "train");
    return true;
  }
  bool VisitVarDecl(VarDecl *Var) {
    if (Var->hasInit() && !Var->isLocalVarDeclOrParm() &&
        Var->hasGlobalStorage() && cpp::isUserCode(Var->getLocation(), SM))
      Into.Globals.push_back(Var);
    return true;
  }

  bool VisitLambdaExpr(LambdaExpr *E) {
    if (FunctionTemplateDecl *Generic =
            E->getLambdaClass()->getDependentLambdaCallOperator()) {
      for (FunctionDecl *Call : Generic->specializations())
        add(Call);
    } else if (CXXMethodDecl *Call = E->getCallOperator()) {
      add(Call);
    }
    return true;
  }

private:
  void add(const FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && !F->isDependentContext() &&
        !F->isDefaulted() && cpp::isUserCode(F->getLocation(), SM) &&
        Seen.insert(F).second)
      Into.Functions.push_back(F);
    if (F->isMain() && F->doesThisDeclarationHaveABody())
      Into.Main = F;
  }

  UnitScan &Into;
  const SourceManager &SM;
  llvm::SmallPtrSet<const FunctionDecl *, 32> Seen;
};

UnitScan::UnitScan(ASTContext &Context) {
  Collector Visitor(*this, Context.getSourceManager());
  for (Decl *D : Context.getTraversalScope()) {
    if (auto *TU = dyn_cast<TranslationUnitDecl>(D)) {
      for (Decl *Top : TU->decls())
        Visitor.TraverseDecl(Top);
    } else {
      Visitor.TraverseDecl(D);
    }
  }
  Broken.emplace(Context, Visitor.Defined);
}

/// How far a module that is put in evaluation mode is followed: into a field,
/// and back to the caller of a helper.
static constexpr unsigned Rounds = 2;

const UnitCalls &UnitScan::calls() {
  if (Said)
    return *Said;
  Said.emplace();
  for (const FunctionDecl *F : Functions)
    read(F);
  for (unsigned Round = 0; Round < Rounds; ++Round)
    for (const FunctionDecl *F : Functions)
      handOn(F);
  return *Said;
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

void UnitScan::noteEval(const ValueDecl *Module, const CallExpr *Eval) {
  if (Module)
    Said->Evals.try_emplace(Module, Eval);
}

void UnitScan::read(const FunctionDecl *F) {
  cpp::Body &In = cpp::Body::of(F);
  cpp::forEachCall(F, [&](const CallExpr *Call) {
    Said->Trains |= needsGradients(Call);
    if (auto Backward = torch::asBackward(Call))
      Said->CreatesGraphs |= Backward->CreateGraph != torch::Flag::False;
    if (torch::isModuleEval(Call))
      if (const Expr *Object = cpp::receiverOf(Call)) {
        noteEval(torch::moduleNamed(Object), Call);
        noteEval(torch::moduleNamed(In.originOf(Object)), Call);
      }
    if (!Said->ScriptLoad && torch::loadsModule(Call) &&
        torch::isScriptModule(Call->getType()))
      Said->ScriptLoad = Call;
  });
  Said->ReturnsLoss = Said->ReturnsLoss || returnsLoss(In);
  Said->Trains |= namesDerivatives(In) ||
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

void UnitScan::handOn(const FunctionDecl *F) {
  cpp::forEachCall(F, [&](const CallExpr *Call) {
    // module_ = std::move(module);
    if (cpp::isAssignment(Call)) {
      if (const CallExpr *Eval =
              Said->Evals.lookup(moduleMoved(Call->getArg(1))))
        noteEval(torch::moduleNamed(Call->getArg(0)), Eval);
      return;
    }
    // open(path, module_);
    const FunctionDecl *Callee = Call->getDirectCallee();
    const FunctionDecl *Definition = nullptr;
    if (isa<CXXOperatorCallExpr>(Call) || !Callee ||
        torch::isTorchDecl(Callee) || !Callee->hasBody(Definition))
      return;
    for (const ParmVarDecl *Param : Definition->parameters())
      if (const CallExpr *Eval = Said->Evals.lookup(Param);
          Eval && Param->getFunctionScopeIndex() < Call->getNumArgs())
        noteEval(
            torch::moduleNamed(Call->getArg(Param->getFunctionScopeIndex())),
            Eval);
  });
}

} // namespace libtorch_tidy::flow
