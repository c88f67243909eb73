//===- ReusedBuffers.cpp - Buffers that each iteration writes -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/ReusedBuffers.h"
#include "analysis/cpp/Call.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/memory/MemoryState.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy::flow {

using namespace cpp;

/// Is \p E a pointer or an iterator into \p Var?
static bool pointsInto(const Expr *E, const VarDecl *Var) {
  E = cpp::peel(E);
  if (namedBy(E) == Var)
    return true;
  if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E))
    return Unary->getOpcode() == UO_AddrOf &&
           rootOf(Unary->getSubExpr()) == Var;
  const auto *Call =
      dyn_cast_or_null<CXXMemberCallExpr>(E ? cpp::stripImplicit(E) : nullptr);
  return Call && does(Call, Std::Begin | Std::Buffer) &&
         !does(Call, Std::Const) &&
         namedBy(Call->getImplicitObjectArgument()) == Var;
}

/// fill(buf.data(), n), in.read(buf, n), std::fill(v.begin(), ...)
static bool isFilledBy(const CallExpr *Call, const VarDecl *Var) {
  const cpp::Call C(Call);
  if (!C.Callee || C.Of == Whose::Library)
    return false;
  for (unsigned I = 0; I < C.Args.size() && I < C.Callee->getNumParams(); ++I) {
    QualType T = C.Callee->getParamDecl(I)->getType();
    if (((T->isPointerType() && !T->getPointeeType().isConstQualified()) ||
         isIterator(T)) &&
        pointsInto(C.Args[I], Var))
      return true;
  }
  return false;
}

/// for (float &x : Var)
static bool isElementWise(const CXXForRangeStmt *For, const VarDecl *Var) {
  const VarDecl *Element = For->getLoopVariable();
  return Element && namedBy(For->getRangeInit()) == Var &&
         Element->getType()->isLValueReferenceType() &&
         !Element->getType().getNonReferenceType().isConstQualified();
}

/// Does \p Loop write into buffer \p Var?
static bool isWrittenIn(const VarDecl *Var, const Stmt *Loop) {
  return !writesTo(Var, Loop).empty() || anyOf<Stmt>(Loop, [&](const Stmt *S) {
    if (const auto *For = dyn_cast<CXXForRangeStmt>(S))
      return isElementWise(For, Var);
    const auto *Call = dyn_cast<CallExpr>(S);
    return Call && isFilledBy(Call, Var);
  });
}

bool isReused(const Borrow &B, const ValueDecl *Into, const Stmt *Loop,
              const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  auto Within = [&](SourceLocation Loc) {
    Loc = SM.getFileLoc(Loc);
    return !SM.isBeforeInTranslationUnit(Loc,
                                         SM.getFileLoc(Loop->getBeginLoc())) &&
           !SM.isBeforeInTranslationUnit(SM.getFileLoc(Loop->getEndLoc()), Loc);
  };
  if (!Within(B.Source->getBeginLoc()) || Within(B.Owner->getLocation()) ||
      (isa<VarDecl>(Into) && Within(Into->getLocation())))
    return false;
  // Taken out again in each iteration: they are used while they are right.
  unsigned Mentions = 0;
  forEach<Expr>(Loop, [&](const Expr *E) { Mentions += isMention(E, Into); });
  return Mentions == 1 && isWrittenIn(B.Owner, Loop);
}

} // namespace libtorch_tidy::flow
