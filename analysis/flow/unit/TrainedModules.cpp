//===- TrainedModules.cpp - Whose parameters may be trained ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/unit/TrainedModules.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// Is \p E, which a variable of a module gets, a module that nothing else
/// names: none, one that is made there or a clone?
static bool isNewModule(const Expr *E) {
  E = cpp::stripPointers(E);
  if (!E || cpp::isEmptyValue(E) || isa<CXXNewExpr, InitListExpr>(E))
    return true;
  const std::optional<cpp::Call> C = cpp::Call::of(E);
  if (!C)
    return false;
  if (C->expr() && torch::callsTorch(C->expr(), "clone"))
    return true;
  if (C->doesStd(cpp::Std::PointerCast))
    return C->Args.size() == 1 && isNewModule(C->Args.front());
  const bool Makes = isa<CXXConstructExpr>(C->E) || C->doesStd(cpp::Std::Make);
  return Makes && llvm::all_of(C->written(), [](const Expr *Arg) {
           return !torch::isModule(Arg->getType()) || isNewModule(Arg);
         });
}

/// Does \p Call lead to parameters of the module it is called on: all of them,
/// or those of its layers?
static bool listsParameters(const CallExpr *Call) {
  return torch::isParametersCall(Call) || torch::listsLayers(Call);
}

bool TrainedModules::mayTrain(const ValueDecl *Module) {
  if (!Module || !torch::isModule(Module->getType().getNonReferenceType()))
    return true;
  const Decl *Key = Module->getCanonicalDecl();
  if (auto [It, New] = Known.try_emplace(Key, true); !New)
    return It->second;
  const auto *Field = dyn_cast<FieldDecl>(Module);
  const auto *Var = dyn_cast<VarDecl>(Module);
  return Known[Key] = Field ? isTrained(Field) : !Var || isTrained(Var);
}

bool TrainedModules::isTrained(const VarDecl *Var) {
  const auto *F = dyn_cast<FunctionDecl>(Var->getDeclContext());
  if (!F || !F->hasBody() || Var->isStaticLocal())
    return true;
  cpp::Body &In = cpp::Body::of(F);
  if (anyUseTrains(Var, In))
    return true;
  const auto *Param = dyn_cast<ParmVarDecl>(Var);
  if (!Param)
    return !llvm::all_of(In.valuesOf(Var).Given, isNewModule);
  const auto Calls = callsOf(F, Unit);
  return Calls.empty() || llvm::any_of(Calls, [&](const WrittenCall &C) {
           const cpp::Call Made(C.Call);
           const unsigned Index = Param->getFunctionScopeIndex();
           return Index >= Made.Args.size() ||
                  mayTrain(torch::moduleNamed(Made.Args[Index]));
         });
}

bool TrainedModules::isTrained(const FieldDecl *Field) {
  auto IsNamed = [&](const Expr *E) {
    return E && cpp::anyOf<MemberExpr>(E, [&](const MemberExpr *M) {
             return M->getMemberDecl() == Field;
           });
  };
  if (!Unit.seesAllUses(Field, /*Alone=*/true) ||
      !llvm::all_of(Unit.valuesOf(Field).Given, isNewModule))
    return true;
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Classes;
  return llvm::any_of(Unit.functions(), [&](const FunctionDecl *F) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    if (Method && Classes.insert(Method->getParent()).second &&
        llvm::any_of(Method->getParent()->fields(),
                     [&](const FieldDecl *Other) {
                       return IsNamed(Other->getInClassInitializer());
                     }))
      return true;
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (IsNamed(Init->getInit()))
          return true;
    const cpp::Body &In = cpp::Body::of(F);
    return cpp::anyOf<MemberExpr>(In.root(), [&](const MemberExpr *M) {
      return M->getMemberDecl() == Field && isTrainedAt(M, In);
    });
  });
}

bool TrainedModules::anyUseTrains(const VarDecl *Var, const cpp::Body &In) {
  if (auto [It, New] = ByUses.try_emplace(Var, false); !New)
    return It->second;
  return ByUses[Var] =
             cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
               return cpp::wholeOf(Ref->getDecl()) == Var &&
                      isTrainedAt(Ref, In);
             });
}

/// Does \p Lambda capture variable \p Var by that name? What its body does with
/// it is seen there.
static bool capturesPlainly(const LambdaExpr *Lambda, const Expr *Var) {
  const VarDecl *V = cpp::variableOf(Var);
  return Lambda && V &&
         llvm::any_of(Lambda->captures(), [&](const LambdaCapture &C) {
           return C.capturesVariable() && C.getCapturedVar() == V;
         });
}

bool TrainedModules::isTrainedAt(const Expr *E, const cpp::Body &In) {
  if (const CallExpr *Call = In.callOn(E))
    return isTrainedByCall(Call, E, In);
  const Stmt *User = In.userOf(E);
  if (const VarDecl *Var = In.initializedBy(User, E)) {
    // What a loop runs over.
    if (const auto *Loop = In.around<CXXForRangeStmt>(E);
        Loop && Var->isImplicit())
      Var = Loop->getLoopVariable();
    return anyUseTrains(Var, In);
  }
  if (const auto *Operator = dyn_cast_or_null<UnaryOperator>(User))
    return isTrainedAt(Operator, In);
  if (const auto *Operator = dyn_cast_or_null<BinaryOperator>(User))
    return !Operator->isComparisonOp() && !Operator->isLogicalOp();
  return !isa_and_nonnull<CompoundStmt, IfStmt, ForStmt, WhileStmt>(User) &&
         !capturesPlainly(dyn_cast_or_null<LambdaExpr>(User), E);
}

bool TrainedModules::isTrainedByCall(const CallExpr *Call, const Expr *E,
                                     const cpp::Body &In) {
  const cpp::Call C(Call);
  if (C.Object && In.isWithin(E, C.Object))
    return isTrainedByMethod(C, E, In);
  if (cpp::isAssignment(Call)) // That is what moves on.
    return true;
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator && Operator->isComparisonOp())
    return false;
  // data() and the like, of an element or a pair.
  if (C.doesStd(cpp::Std::Part | cpp::Std::Same | cpp::Std::Advance))
    return isTrainedAt(Call, In);
  if (C.Of == cpp::Whose::Library) {
    const bool IsTensor = torch::isTensor(E->getType().getNonReferenceType());
    return !IsTensor && !torch::loadsModule(Call) &&
           !torch::callsTorch(Call, "save") && C.op() != OO_LessLess &&
           !torch::asModuleCall(Call);
  }
  const FunctionDecl *Callee = cpp::userDefinition(C.Callee);
  for (unsigned I = 0; Callee && I < C.Args.size(); ++I)
    if (In.isWithin(E, C.Args[I]) && I < Callee->getNumParams())
      return anyUseTrains(Callee->getParamDecl(I), cpp::Body::of(Callee));
  return true;
}

bool TrainedModules::isTrainedByMethod(const cpp::Call &C, const Expr *E,
                                       const cpp::Body &In) {
  const CallExpr *Call = C.expr();
  if (cpp::isAssignment(Call))
    return torch::isModule(E->getType().getNonReferenceType()) &&
           !isNewModule(C.Args.front());
  if (torch::gradOf(Call)) // By hand.
    return true;
  const bool IsTensor = torch::isTensor(E->getType().getNonReferenceType());
  if (torch::asModuleCall(Call) || IsTensor ||
      torch::asModuleState(Call) == torch::ModuleState::Buffers)
    return false;
  const QualType T = Call->getType();
  if (C.op() == OO_Arrow || C.op() == OO_Star ||
      (C.Of != cpp::Whose::User &&
       (torch::mayHoldTensor(T) || torch::isModule(T) || T->isPointerType())))
    return isTrainedAt(Call, In);
  return C.Of == cpp::Whose::User &&
         (torch::mayHoldTensor(T) || methodTrains(C.Callee));
}

bool TrainedModules::methodTrains(const FunctionDecl *Method) {
  const FunctionDecl *Body = cpp::userDefinition(Method);
  if (!Body)
    return true;
  if (auto [It, New] = Known.try_emplace(Body, true); !New)
    return It->second;
  const cpp::Body &In = cpp::Body::of(Body);
  return Known[Body] = cpp::anyOf<Expr>(In.root(), [&](const Expr *E) {
           if (torch::isOptimizerType(E->getType()))
             return true;
           const auto *Call = dyn_cast<CallExpr>(E);
           return Call && listsParameters(Call) && cpp::Call(Call).OnThis &&
                  isTrainedAt(Call, In);
         });
}

} // namespace libtorch_tidy::flow
