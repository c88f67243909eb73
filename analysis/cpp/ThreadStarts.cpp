//===- ThreadStarts.cpp - Code that another thread runs -------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/ThreadStarts.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

static bool isThreadClass(const CXXRecordDecl *R) {
  return isStdClass(R, StdClass::Thread);
}

/// Fills in what \p Callable runs.
static bool resolve(const Expr *Callable, ThreadStart &Start) {
  Callable = stripPointers(Callable);
  if (isStdCall(Callable, Std::Refer))
    Callable = stripPointers(cast<CallExpr>(Callable)->getArg(0));
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Callable);
  if (Ref)
    if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
        Var && Var->getInit() && !isa<ParmVarDecl>(Var))
      Callable = stripImplicit(Var->getInit());
  if (const auto *Lambda = dyn_cast_or_null<LambdaExpr>(Callable)) {
    Start.Lambda = Lambda;
    Start.Body = Lambda->getCallOperator();
    if (const FunctionTemplateDecl *Generic =
            Lambda->getLambdaClass()->getDependentLambdaCallOperator())
      for (const FunctionDecl *Call : Generic->specializations())
        Start.Body = Call;
    return Start.Body && !Start.Body->isDependentContext();
  }
  const auto *Function = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
  const FunctionDecl *Definition = nullptr;
  if (!Function)
    return false;
  Start.Body = Function->hasBody(Definition) ? Definition : Function;
  return true;
}

bool isLaunchPolicy(const Expr *E, StringRef Name) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(stripImplicit(E));
  const auto *Constant =
      Ref ? dyn_cast<EnumConstantDecl>(Ref->getDecl()) : nullptr;
  return Constant && isStdDecl(Constant) && Constant->getName() == Name;
}

std::optional<ThreadStart> asThreadStart(const Expr *E) {
  ThreadStart Start{ThreadStart::Thread, E, nullptr, nullptr};
  const Expr *Callable = nullptr;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    if (isThreadClass(Construct->getConstructor()->getParent()) &&
        !Construct->getConstructor()->isCopyOrMoveConstructor() &&
        Construct->getNumArgs() > 0)
      Callable = Construct->getArg(0);
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (does(Call, Std::Async) && Callee->isInStdNamespace() &&
        Call->getNumArgs() > 1 && isLaunchPolicy(Call->getArg(0), "async")) {
      Start.How = ThreadStart::Async;
      Callable = Call->getArg(1);
    } else if (library::isParallelFor(Call)) {
      Start.How = ThreadStart::Parallel;
      Callable = Call->getArg(Call->getNumArgs() - 1);
    } else if (auto Added = asInsertion(Call); Added && Added->AtEnd) {
      // std::vector<std::thread>::emplace_back(callable, ...)
      const auto *Owner = dyn_cast<CXXRecordDecl>(Callee->getDeclContext());
      if (Owner && Owner->isInStdNamespace() && does(Call, Std::Emplace) &&
          isThreadClass(recordOf(firstArgument(Owner))))
        Callable = Added->Given.front();
    }
  }
  if (!Callable || !resolve(Callable, Start))
    return std::nullopt;
  return Start;
}

} // namespace libtorch_tidy::cpp
