//===- Conditions.cpp - Conditions that keep their value ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Conditions.h"
#include "analysis/cpp/Body.h"
#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace libtorch_tidy::cpp {

/// Has \p Var one value in all of \p In?
static bool isSteady(const VarDecl *Var, Body &In) {
  const QualType T = Var->getType();
  if (Var->hasGlobalStorage())
    return T.isConstQualified();
  const bool IsOwn =
      In.isOwn(Var) || (isa<ParmVarDecl>(Var) && T->isReferenceType() &&
                        T->getPointeeType().isConstQualified());
  const Stmt *Declared = In.declarationOf(Var);
  return IsOwn && In.writesTo(Var).empty() &&
         (isa<ParmVarDecl>(Var) || (Declared && !In.loopAround(Declared)));
}

static bool isSteady(const Expr *E, Body &In) {
  E = E->IgnoreParenImpCasts();
  if (isa<IntegerLiteral, CXXBoolLiteralExpr, CharacterLiteral,
          CXXNullPtrLiteralExpr>(E))
    return true;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    return isa<EnumConstantDecl>(Ref->getDecl()) || (Var && isSteady(Var, In));
  }
  // Nothing writes what a pointer to const leads to.
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return isa<FieldDecl>(Member->getMemberDecl()) &&
           !isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts()) &&
           (!Member->isArrow() || Member->getBase()
                                      ->getType()
                                      ->getPointeeType()
                                      .isConstQualified()) &&
           isSteady(Member->getBase(), In);
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E))
    return (Element->getType().isConstQualified() || Element->getBase()
                                                         ->IgnoreParenImpCasts()
                                                         ->getType()
                                                         ->isArrayType()) &&
           isSteady(Element->getBase(), In) && isSteady(Element->getIdx(), In);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return (Unary->getOpcode() == UO_Deref ? Unary->getType().isConstQualified()
                                           : Unary->isArithmeticOp()) &&
           isSteady(Unary->getSubExpr(), In);
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  return Binary && !Binary->isAssignmentOp() && !Binary->isCommaOp() &&
         isSteady(Binary->getLHS(), In) && isSteady(Binary->getRHS(), In);
}

std::optional<Condition> conditionOf(const Expr *E, Body &In) {
  bool Holds = true;
  E = E->IgnoreParenImpCasts();
  for (const auto *Not = dyn_cast<UnaryOperator>(E);
       Not && Not->getOpcode() == UO_LNot; Not = dyn_cast<UnaryOperator>(E)) {
    Holds = !Holds;
    E = Not->getSubExpr()->IgnoreParenImpCasts();
  }
  if (!isSteady(E, In))
    return std::nullopt;
  Condition Says;
  Says.Holds = Holds;
  E->Profile(Says.Of, In.context(), /*Canonical=*/true);
  return Says;
}

std::optional<Condition> decidedBy(const CFGBlock &Block,
                                   const CFGBlock &Successor, Body &In) {
  const Expr *Last =
      Block.succ_size() == 2 ? Block.getLastCondition() : nullptr;
  if (!Last || isa<SwitchStmt>(Block.getTerminatorStmt()))
    return std::nullopt;
  const CFGBlock *True = *Block.succ_begin(),
                 *False = *(Block.succ_begin() + 1);
  if (True == False)
    return std::nullopt;
  const std::optional<Condition> Says = conditionOf(Last, In);
  return Says && &Successor == False ? Says->opposite() : Says;
}

Conditions eitherOf(Conditions A, const Conditions &B) {
  for (const Condition &C : B)
    if (llvm::find(A, C) == A.end())
      A.push_back(C);
  return A;
}

Conditions bothOf(const Conditions &A, const Conditions &B) {
  Conditions Both;
  for (const Condition &C : A)
    if (llvm::find(B, C) != B.end())
      Both.push_back(C);
  return Both;
}

} // namespace libtorch_tidy::cpp
