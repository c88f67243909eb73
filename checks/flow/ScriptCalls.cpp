//===- ScriptCalls.cpp - What a TorchScript call is for -------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/ScriptCalls.h"
#include "checks/torch/Conventions.h"
#include "checks/torch/TorchTypes.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// Is the value of \p E, as far as anything is done with it, read as something
/// that holds no tensor?
static bool isReadPlain(const Expr *E, const code::Body &In) {
  if (const CallExpr *Call = In.callOn(E))
    return torch::readsNoTensor(Call);
  const Stmt *User = In.userOf(E);
  if (const auto *Declared = dyn_cast_or_null<DeclStmt>(User)) {
    const auto *Var = Declared->isSingleDecl()
                          ? dyn_cast<VarDecl>(Declared->getSingleDecl())
                          : nullptr;
    return Var &&
           !code::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
             return Ref->getDecl() == Var &&
                    (isa_and_nonnull<DeclStmt>(In.userOf(Ref)) ||
                     !isReadPlain(Ref, In));
           });
  }
  // A statement of its own. What returns or prints it may want anything.
  return isa_and_nonnull<CompoundStmt, IfStmt, ForStmt, WhileStmt>(User);
}

bool isQuery(const torch::ModuleCall &M, const code::Body &In) {
  return M.Script &&
         llvm::none_of(M.Inputs,
                       [](const Expr *Input) {
                         return torch::mayHoldTensor(Input->getType());
                       }) &&
         isReadPlain(M.Call, In);
}

bool namesDerivatives(const code::Body &In) {
  return code::anyOf<Expr>(In.root(), [](const Expr *E) {
    if (const auto *Literal = dyn_cast<StringLiteral>(E))
      return Literal->isOrdinary() &&
             torch::namesDerivative(Literal->getString());
    const ValueDecl *Named = nullptr;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      Named = dyn_cast<VarDecl>(Ref->getDecl());
    else if (const auto *Member = dyn_cast<MemberExpr>(E))
      Named = dyn_cast<FieldDecl>(Member->getMemberDecl());
    return Named && Named->getIdentifier() &&
           torch::namesDerivative(Named->getName());
  });
}

} // namespace libtorch_tidy::flow
