//===- Callables.cpp - Who runs a function object -------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/ThreadStarts.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::cpp {

/// Does \p Call call \p Param: f(), or std::invoke(f)?
static bool callsParameter(const CallExpr *Call, const ParmVarDecl *Param) {
  const Expr *Callee = Call->getCallee();
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    Callee = Op->getOperator() == OO_Call ? Op->getArg(0) : nullptr;
  else if (does(Call, Std::Invoke) && Call->getNumArgs() > 0)
    Callee = Call->getArg(0);
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(stripImplicit(Callee));
  return Ref && Ref->getDecl() == Param;
}

bool runsArgument(const CallExpr *Call, unsigned Index) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || isa<CXXOperatorCallExpr>(Call))
    return false;
  if (isStdDecl(F)) {
    if (does(Call, Std::Async))
      return Index == 1 && isLaunchPolicy(Call->getArg(0), "deferred");
    return does(Call, Std::Run);
  }
  const FunctionDecl *Definition = nullptr;
  if (library::declares(F) || !F->hasBody(Definition) ||
      Index >= Definition->getNumParams())
    return false;
  const ParmVarDecl *Param = Definition->getParamDecl(Index);
  return anyOf<CallExpr>(
      Definition->getBody(),
      [&](const CallExpr *Inner) { return callsParameter(Inner, Param); },
      Lambdas::Skipped);
}

const CXXConstructorDecl *constructorRunBy(const Expr *E) {
  const QualType Made = pointeeOf(E->getType());
  unsigned Args = 0;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    const CXXConstructorDecl *Ctor = Construct->getConstructor();
    if (Ctor->isCopyOrMoveConstructor())
      return nullptr;
    if (Made.isNull() || !library::isObject(Made))
      return Ctor;
    for (const Expr *Arg : Construct->arguments())
      Args += !isa<CXXDefaultArgExpr>(Arg);
  } else if (isStdCall(E, Std::Make)) {
    Args = cast<CallExpr>(E->IgnoreParenImpCasts())->getNumArgs();
  } else {
    return nullptr;
  }
  const CXXRecordDecl *R = recordOf(Made);
  if (!R || !R->hasDefinition() || library::declares(R))
    return nullptr;
  for (const CXXConstructorDecl *Ctor : R->getDefinition()->ctors())
    if (!Ctor->isCopyOrMoveConstructor() && Ctor->isUserProvided() &&
        Ctor->getMinRequiredArguments() <= Args && Args <= Ctor->getNumParams())
      return Ctor;
  return nullptr;
}

} // namespace libtorch_tidy::cpp
