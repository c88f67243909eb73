//===- ReleasedFields.cpp - Members that somebody empties -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/ReleasedFields.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/program/Program.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

static const FieldDecl *fieldIn(const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(cpp::stripImplicit(E));
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  return Field ? Field->getCanonicalDecl() : nullptr;
}

bool isFunctionGiven(const Expr *Value) {
  return isa_and_nonnull<LambdaExpr>(cpp::stripImplicit(Value)) ||
         isa_and_nonnull<ParmVarDecl>(cpp::variableOf(Value));
}

void forEachReleased(const FunctionDecl *F,
                     llvm::function_ref<void(const FieldDecl *)> Visit) {
  auto Note = [&](const Expr *E) {
    if (const FieldDecl *Field = fieldIn(E))
      Visit(Field);
  };
  cpp::forEach<CallExpr>(F->getBody(), [&](const CallExpr *Call) {
    if (cpp::isAssignment(Call) &&
        (cpp::isEmptyValue(Call->getArg(1)) ||
         (cpp::holdsFunctions(Call->getArg(0)->getType()) &&
          !isFunctionGiven(Call->getArg(1)))))
      Note(Call->getArg(0));
    if (!cpp::does(Call, cpp::Std::Empty))
      return;
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call))
      Note(Method->getImplicitObjectArgument());
    for (const Expr *Arg : Call->arguments())
      Note(Arg);
  });
}

bool isReleasedElsewhere(const FieldDecl *Field) {
  const ProgramFacts *Whole = ProgramFacts::of(Field->getASTContext());
  return Whole && Whole->ReleasedFields.count(cpp::programFieldName(Field));
}

} // namespace libtorch_tidy::flow
