//===- FieldUses.cpp - What methods do with fields ------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/unit/FieldUses.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using llvm::StringRef;

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

/// A field of `*this`.
static const FieldDecl *fieldOf(const Expr *E) {
  const auto *Member = dyn_cast<MemberExpr>(E->IgnoreParenImpCasts());
  return Member && isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts())
             ? dyn_cast<FieldDecl>(Member->getMemberDecl())
             : nullptr;
}

/// Does \p E depend on a parameter, such as the index that get() is given, or
/// on the variable of a range-based for, such as one index of a batch?
static bool isExample(const Expr *E) {
  return cpp::anyOf<DeclRefExpr>(E, [](const DeclRefExpr *Ref) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    return Var && (isa<ParmVarDecl>(Var) || Var->isCXXForRangeDecl());
  });
}

static bool multiplies(const Expr *E) {
  const auto *Op = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
  return Op && (Op->getOpcode() == BO_Mul || multiplies(Op->getLHS()) ||
                multiplies(Op->getRHS()));
}

void CopyUses::add(const FunctionDecl *F) {
  const FunctionDecl *Definition = F->getDefinition();
  if (!Definition || !Definition->hasBody())
    return addElsewhere(F);
  if (cpp::isUserCode(Definition->getLocation(), SM) &&
      Seen.insert(Definition).second)
    cpp::forEach<Expr>(Definition->getBody(), [&](const Expr *E) { look(E); });
}

/// Adds what is known of \p F from other units.
void CopyUses::addElsewhere(const FunctionDecl *F) {
  const FunctionFacts *Said = factsElsewhere(F);
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Said || !Method || !Seen.insert(F->getCanonicalDecl()).second)
    return;
  for (const auto &[Name, There] : Said->CopyUses)
    if (const FieldDecl *Field = cpp::fieldNamed(Method->getParent(), Name))
      mergeFacts<FunctionFacts::CopyUse>(Of[Field], There);
}

void CopyUses::look(const Expr *E) {
  if (isa<MemberExpr>(E))
    if (const FieldDecl *Field = fieldOf(E))
      Of[Field].First = Of[Field].First ? Of[Field].First : E;
  if (const auto *Sum = dyn_cast<BinaryOperator>(E);
      Sum && Sum->getOpcode() == BO_Add && Sum->getType()->isPointerType())
    strided(Sum->getLHS(), Sum->getRHS());
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return;
  if (const FunctionDecl *Callee = Call->getDirectCallee())
    add(Callee);
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    lookAtMethod(Member);
  else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    lookAtOperator(Op);
}

void CopyUses::lookAtMethod(const CXXMemberCallExpr *Call) {
  const FieldDecl *Field = fieldOf(Call->getImplicitObjectArgument());
  if (!Field)
    return;
  StringRef Name = cpp::calleeName(Call);
  if (cpp::asInsertion(Call))
    Of[Field].Filled = Call;
  if (cpp::does(Call, cpp::Std::Remove | cpp::Std::Clear))
    Of[Field].Emptied = true;
  if (Name == "seed")
    Of[Field].Seeded = true;
  if (Name == "at" && Call->getNumArgs() == 1 && isExample(Call->getArg(0)))
    Of[Field].Indexed = true;
}

void CopyUses::lookAtOperator(const CXXOperatorCallExpr *Op) {
  if (Op->getNumArgs() != 2)
    return;
  const FieldDecl *Field = fieldOf(Op->getArg(0));
  if (Field && Op->getOperator() == OO_Equal)
    Of[Field].Seeded = true;
  // cache[index] = x
  const auto *Slot =
      dyn_cast<CXXOperatorCallExpr>(Op->getArg(0)->IgnoreParenImpCasts());
  if (Slot && Slot->getOperator() == OO_Subscript &&
      Op->getOperator() == OO_Equal)
    if (const FieldDecl *Into = fieldOf(Slot->getArg(0));
        Into && cpp::isStdClass(cpp::recordOf(Into->getType()),
                                {"map", "unordered_map"}))
      Of[Into].Filled = Op;
  if (Field && Op->getOperator() == OO_Subscript && isExample(Op->getArg(1)))
    (multiplies(Op->getArg(1)) ? Of[Field].Strided : Of[Field].Indexed) = true;
  // begin() + i * n
  if (Op->getOperator() == OO_Plus)
    strided(Op->getArg(0), Op->getArg(1));
}

void CopyUses::strided(const Expr *Start, const Expr *Offset) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(Start->IgnoreParenImpCasts());
  if (!Call || !multiplies(Offset) || !isExample(Offset))
    return;
  if (const FieldDecl *Field = fieldOf(Call->getImplicitObjectArgument()))
    Of[Field].Strided = true;
}

} // namespace libtorch_tidy::flow
