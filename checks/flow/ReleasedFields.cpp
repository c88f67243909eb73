//===- ReleasedFields.cpp - Members that somebody empties -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/ReleasedFields.h"
#include "checks/code/Object.h"
#include "checks/code/Std.h"
#include "checks/code/Types.h"
#include "checks/code/Walk.h"
#include "checks/flow/Program.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

static const FieldDecl *fieldIn(const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(torch::stripImplicit(E));
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  return Field ? Field->getCanonicalDecl() : nullptr;
}

bool isFunctionGiven(const Expr *Value) {
  return isa_and_nonnull<LambdaExpr>(torch::stripImplicit(Value)) ||
         isa_and_nonnull<ParmVarDecl>(code::variableOf(Value));
}

void forEachReleased(const FunctionDecl *F,
                     llvm::function_ref<void(const FieldDecl *)> Visit) {
  auto Note = [&](const Expr *E) {
    if (const FieldDecl *Field = fieldIn(E))
      Visit(Field);
  };
  code::forEach<CallExpr>(F->getBody(), [&](const CallExpr *Call) {
    if (code::isAssignment(Call) &&
        (code::isEmptyValue(Call->getArg(1)) ||
         (code::holdsFunctions(Call->getArg(0)->getType()) &&
          !isFunctionGiven(Call->getArg(1)))))
      Note(Call->getArg(0));
    if (!code::isEmptying(torch::calleeName(Call)))
      return;
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call))
      Note(Method->getImplicitObjectArgument());
    for (const Expr *Arg : Call->arguments())
      Note(Arg);
  });
}

bool isReleasedElsewhere(const FieldDecl *Field) {
  const ProgramFacts *Whole = ProgramFacts::current();
  return Whole && Whole->ReleasedFields.count(programFieldName(Field));
}

} // namespace libtorch_tidy::flow
