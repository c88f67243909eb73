//===- StoredFunctions.cpp - Hooks and functions in fields ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/cycles/StoredFunctions.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Kept.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTLambda.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

/// The field of its object that a method puts parameter \p I into, as its last
/// word about it.
const FieldDecl *storedIn(const CXXMethodDecl *Method, unsigned I) {
  const FieldDecl *Field = nullptr;
  if (Method)
    for (const torch::StoredArgument &Stored : torch::storedArguments(Method))
      if (Stored.Index == I && Stored.Field &&
          cpp::holdsFunctions(Stored.Field->getType()))
        Field = Stored.Field;
  return Field;
}

/// Does any function of the program empty \p Field, move it away or give it
/// another function, perhaps through a setter?
bool isReleasedSomewhere(const FieldDecl *Field, const CallExpr *Except,
                         const flow::UnitModel &Unit) {
  bool Found = flow::fieldElsewhere(Field).IsReleased;
  for (const FunctionDecl *F : Unit.functions()) {
    flow::forEachReleased(
        F,
        [&](const FieldDecl *Released) {
          Found |= Released == Field->getCanonicalDecl();
        },
        Except);
    cpp::forEach<CXXMemberCallExpr>(F->getBody(), [&](const auto *Call) {
      for (unsigned I = 0; I < Call->getNumArgs(); ++I)
        Found |= cpp::isEmptyValue(Call->getArg(I)) &&
                 storedIn(Call->getMethodDecl(), I) == Field;
    });
  }
  return Found;
}

/// A cheap look: does \p Call assign, add or hand over a function object?
bool mayStoreFunction(const CallExpr *Call) {
  if (isa<CXXOperatorCallExpr>(Call))
    return cpp::isAssignment(Call) &&
           cpp::isFunctionObject(Call->getArg(0)->getType());
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const CXXMethodDecl *Callee = Method ? Method->getMethodDecl() : nullptr;
  if (!Callee || Call->getNumArgs() == 0 || torch::isTorchDecl(Callee))
    return false;
  if (cpp::isStdDecl(Callee))
    return cpp::holdsFunctions(Method->getObjectType());
  return llvm::any_of(Callee->parameters(), [](const ParmVarDecl *P) {
    return cpp::isFunctionObject(P->getType());
  });
}

/// Is what the call returns dropped, or kept in a variable that is never read?
bool dropsHandle(const CallExpr *Call, cpp::Body &Body) {
  const Stmt *User = Body.outerOf(Call);
  // What `?:` gives is what its branch does.
  for (const auto *Either = dyn_cast_or_null<ConditionalOperator>(User);
       Either && !Body.isWithin(Call, Either->getCond());
       Either = dyn_cast_or_null<ConditionalOperator>(User))
    User = Body.outerOf(Either);
  if (const VarDecl *Var = cpp::declaredBy(User))
    return Var->isLocalVarDecl() && !cpp::mentions(Body.root(), Var);
  if (const auto *Cast = dyn_cast_or_null<CStyleCastExpr>(User))
    return Cast->getCastKind() == CK_ToVoid;
  return !User || // The whole body of a function.
         isa<CompoundStmt, IfStmt, ForStmt, CXXForRangeStmt, WhileStmt, DoStmt,
             SwitchCase, LabelStmt>(User);
}

/// The call in \p Body that may remove a hook of \p Tensor; null for none.
const CallExpr *hookRemoval(const Expr *Tensor, const Stmt *Body) {
  auto Hooked = cpp::objectOf(Tensor, Body);
  return cpp::findFirst<CallExpr>(Body, [&](const CallExpr *Call) {
    const Expr *Other = torch::asHookRemoval(Call);
    if (!Other)
      return false;
    auto Object = cpp::objectOf(Other, Body);
    return !Object || !Hooked || *Object == *Hooked;
  });
}

bool isAfter(SourceLocation Loc, SourceLocation End, const ASTContext &In) {
  const SourceManager &SM = In.getSourceManager();
  return SM.isBeforeInTranslationUnit(SM.getFileLoc(End), SM.getFileLoc(Loc));
}

/// A call of backward() in the function, after the block of \p Var, which the
/// hooked tensor outlives: it is a parameter, a member or a variable from
/// before.
const CallExpr *backwardAfter(const VarDecl *Var, const StoredFunction &S) {
  const ASTContext &Context = S.In->getASTContext();
  const ValueDecl *Hooked = S.Place.Root;
  const Stmt *Scope =
      isa<ParmVarDecl>(Var) ? nullptr : cpp::Body::of(S.In).scopeOf(Var);
  if (!Scope || Scope == S.In->getBody() ||
      (Hooked && !isa<ParmVarDecl>(Hooked) &&
       !isAfter(Scope->getBeginLoc(), Hooked->getLocation(), Context)))
    return nullptr;
  return cpp::findFirst<CallExpr>(
      S.In->getBody(),
      [&](const CallExpr *C) {
        return torch::isBackward(C) &&
               isAfter(C->Stmt::getBeginLoc(), Scope->getEndLoc(), Context);
      },
      cpp::Lambdas::Skipped);
}

/// Does the hooked tensor surely live on when the function has returned?
bool outlivesFunction(const StoredFunction &S) {
  if (!S.Place.Root)
    return llvm::all_of(S.Place.Fields, [](const FieldDecl *Field) {
      return cpp::isOwningType(Field->getType());
    });
  const Stmt *Body = S.In->getBody();
  auto IsTensor = [&](const Expr *E) {
    auto Object = cpp::objectOf(E, Body);
    return Object && !Object->Element && *Object == S.Place;
  };
  return isa<ParmVarDecl>(S.Place.Root) ||
         cpp::anyOf<ReturnStmt>(
             Body,
             [&](const ReturnStmt *Return) {
               const Expr *Value = Return->getRetValue();
               return Value &&
                      llvm::any_of(torch::keptBy(Value, Body), IsTensor);
             },
             cpp::Lambdas::Skipped);
}

/// A backward pass within the function, for which the hook may be meant, or a
/// call that may take it away. Null for none.
const CallExpr *usedBefore(const StoredFunction &S) {
  return cpp::findFirst<CallExpr>(S.In->getBody(), [&](const CallExpr *C) {
    return torch::isBackward(C) ||
           (isAfter(C->Stmt::getBeginLoc(), S.Call->Stmt::getEndLoc(),
                    S.In->getASTContext()) &&
            !cpp::isOfLibrary(C->getDirectCallee()));
  });
}

} // namespace

std::optional<LostCapture> lostCapture(const StoredFunction &S) {
  if (!S.Lambda || S.In->isMain() || isLambdaCallOperator(S.In))
    return std::nullopt;
  std::optional<LostCapture> First;
  for (const LambdaCapture &C : S.Lambda->captures()) {
    if (!C.capturesVariable() || C.getCaptureKind() != LCK_ByRef)
      continue;
    const auto *Var = dyn_cast<VarDecl>(C.getCapturedVar());
    if (Var && Var->isInitCapture())
      Var = cpp::variableOf(Var->getInit());
    if (!cpp::Body::of(S.In).isOwn(Var) || Var == S.Place.Root)
      continue;
    LostCapture Found{Var, C.getLocation(), backwardAfter(Var, S)};
    if (Found.Backward)
      return Found;
    if (!First)
      First = Found;
  }
  if (!First || !outlivesFunction(S))
    return std::nullopt;
  First->UsedBy = usedBefore(S);
  return First;
}

/// \p Function, which \p Call stores in \p To or, with \p Field, in a field of
/// that.
static std::optional<StoredFunction>
storedTo(const Expr *To, const CallExpr *Call, const Expr *Function,
         const FunctionDecl *In, const FieldDecl *Field = nullptr) {
  auto Place = cpp::objectOf(To, In->getBody());
  auto Named = cpp::namedObject(To);
  if (!Place || !Named)
    return std::nullopt;
  if (Field)
    for (cpp::Object *Path : {&*Place, &*Named})
      Path->Fields.push_back(Field->getCanonicalDecl());
  const Expr *Origin = cpp::Body::of(In).originOf(Function);
  return StoredFunction{Call,   Function, In,
                        *Place, *Named,   dyn_cast_or_null<LambdaExpr>(Origin)};
}

static std::optional<StoredFunction> storedInField(const CallExpr *Call,
                                                   const FunctionDecl *In) {
  if (cpp::isAssignment(Call))
    return storedTo(Call->getArg(0), Call, Call->getArg(1), In);
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (!Method || Call->getNumArgs() == 0)
    return std::nullopt;
  const Expr *Object = Method->getImplicitObjectArgument();
  const CXXMethodDecl *Callee = Method->getMethodDecl();
  if (auto Added = cpp::asInsertion(Call);
      Added && cpp::holdsFunctions(Object->getType()))
    return storedTo(Object, Call, Added->value(), In);
  if (Callee && cpp::isUserCode(Callee->getLocation(),
                                In->getASTContext().getSourceManager()))
    for (unsigned I = 0; I < Call->getNumArgs(); ++I)
      if (I < Callee->getNumParams() &&
          cpp::isFunctionObject(Callee->getParamDecl(I)->getType()))
        if (const FieldDecl *Field = storedIn(Callee, I))
          return storedTo(Object, Call, Call->getArg(I), In, Field);
  return std::nullopt;
}

std::optional<StoredFunction> asStoredFunction(const CallExpr *Call,
                                               ASTContext &Context) {
  auto Hook = torch::asHookRegistration(Call);
  const cpp::Body *In = Hook || mayStoreFunction(Call)
                            ? cpp::Body::around(Call, Context)
                            : nullptr;
  if (!In)
    return std::nullopt;
  auto S = Hook ? storedTo(Hook->Tensor, Call, Hook->Hook, In->function())
                : storedInField(Call, In->function());
  if (!S || (!Hook && (S->Place.Fields.empty() || S->Named.Fields.empty())))
    return std::nullopt;
  S->Hook = Hook;
  return S;
}

std::optional<Because> removalOf(const StoredFunction &S,
                                 const flow::UnitModel &Unit) {
  if (const FieldDecl *Field = S.field()) {
    if (isReleasedSomewhere(Field, S.Call, Unit))
      return Because{&HookCaptureCycle.Released, quoted(Field),
                     Field->getLocation()};
  } else if (!S.Hook->OnNode) {
    if (!dropsHandle(S.Call, cpp::Body::of(S.In)))
      return Because{&HookCaptureCycle.HandleUsed};
    if (const CallExpr *Call = hookRemoval(S.Hook->Tensor, S.In->getBody()))
      return Because{&HookCaptureCycle.Removed, "call", Call->getExprLoc()};
  }
  return std::nullopt;
}

} // namespace libtorch_tidy
