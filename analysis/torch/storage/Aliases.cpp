//===- Aliases.cpp - What else leads to a variable's memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/Aliases.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"

using namespace clang;

namespace libtorch_tidy::torch {

bool refersTo(const Expr *E, const ValueDecl *D) {
  E = cpp::valueOf(E);
  if (!E || E->getType()->isArithmeticType())
    return false;
  if (cpp::isMention(E, D))
    return true;
  const auto *Call = dyn_cast<CallExpr>(E);
  if (Call && isTensorOptions(E->getType()))
    return false;
  if (Call && E->isPRValue() && ownsTensors(E->getType()) &&
      !wrapsMemory(Call) && !cpp::isStdDecl(Call->getDirectCallee())) {
    const Expr *Of = viewedBy(Call);
    return refersTo(Of ? Of : containerOf(Call), D);
  }
  return llvm::any_of(E->children(), [&](const Stmt *Part) {
    return refersTo(dyn_cast_or_null<Expr>(Part), D);
  });
}

/// The object of \p Call, a method of the user that is given a pointer to the
/// memory of \p D; null for others.
static const Expr *keepsPointer(const CallExpr *Call, const ValueDecl *D) {
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (!Method || cpp::isOfLibrary(Call->getDirectCallee()) ||
      llvm::none_of(Call->arguments(), [&](const Expr *Arg) {
        return Arg->getType()->isPointerType() && refersTo(Arg, D);
      }))
    return nullptr;
  return Method->getImplicitObjectArgument();
}

Aliases aliasesOf(const ValueDecl *D, const Stmt *Body) {
  Aliases Found;
  cpp::Way All;
  All.Implicit = true;
  cpp::forEach<VarDecl>(
      Body,
      [&](const VarDecl *Var) {
        if (Var == D || !refersTo(Var->getInit(), D))
          return;
        Found.Names.insert(Var);
        if (const auto *Parts = dyn_cast<DecompositionDecl>(Var))
          Found.Names.insert(Parts->bindings().begin(),
                             Parts->bindings().end());
      },
      All);
  auto Give = [&](const Expr *To) {
    const ValueDecl *Root = cpp::rootOf(To);
    if (!Root)
      Found.Unknown = true; // It cannot be followed.
    else if (Root != D)
      Found.Names.insert(Root);
  };
  cpp::forEachStore(Body,
                    [&](const CallExpr *, const Expr *To, const Expr *Value) {
                      if (refersTo(Value, D))
                        Give(To);
                    });
  cpp::forEachCall(Body, [&](const CallExpr *Call) {
    if (const Expr *Object = keepsPointer(Call, D))
      Give(Object);
  });
  return Found;
}

} // namespace libtorch_tidy::torch
