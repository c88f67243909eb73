//===- ReusedBuffers.cpp - Buffers that each iteration writes -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/ReusedBuffers.h"
#include "checks/code/Object.h"
#include "checks/code/Std.h"
#include "checks/code/Walk.h"
#include "checks/code/Writes.h"
#include "checks/flow/MemoryState.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using namespace code;

/// Does \p Loop write into buffer \p Var?
static bool isWrittenIn(const VarDecl *Var, const Stmt *Loop) {
  if (!writesTo(Var, Loop).empty())
    return true;
  struct Finder : RecursiveASTVisitor<Finder> {
    const VarDecl *Var;
    bool Found = false;
    bool VisitCXXForRangeStmt(CXXForRangeStmt *For) {
      const VarDecl *Element = For->getLoopVariable();
      Found |= Element && namedBy(For->getRangeInit()) == Var &&
               Element->getType()->isLValueReferenceType() &&
               !Element->getType().getNonReferenceType().isConstQualified();
      return !Found;
    }
    // fill(buf.data(), n), in.read(buf, n), std::fill(v.begin(), ...)
    bool VisitCallExpr(CallExpr *Call) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (!Callee || torch::isTorchDecl(Callee))
        return true;
      unsigned Shift =
          isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(Callee);
      for (unsigned I = Shift; I < Call->getNumArgs(); ++I) {
        if (I - Shift >= Callee->getNumParams())
          break;
        QualType T = Callee->getParamDecl(I - Shift)->getType();
        bool Writes =
            (T->isPointerType() && !T->getPointeeType().isConstQualified()) ||
            isIterator(T);
        Found |= Writes && pointsInto(Call->getArg(I));
      }
      return !Found;
    }
    static bool isIterator(QualType T) {
      const CXXRecordDecl *R = torch::recordOf(T);
      return R && R->getIdentifier() && R->getName() == "__normal_iterator";
    }
    bool pointsInto(const Expr *E) const {
      E = torch::peel(E);
      if (namedBy(E) == Var)
        return true;
      if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E))
        return Unary->getOpcode() == UO_AddrOf &&
               rootOf(Unary->getSubExpr()) == Var;
      const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(
          E ? torch::stripImplicit(E) : nullptr);
      StringRef Name = torch::calleeName(Call);
      return Call && (Name == "data" || Name == "begin" || Name == "get") &&
             namedBy(Call->getImplicitObjectArgument()) == Var;
    }
  } F;
  F.Var = Var;
  F.TraverseStmt(const_cast<Stmt *>(Loop));
  return F.Found;
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
  struct Mentions : RecursiveASTVisitor<Mentions> {
    const ValueDecl *Of;
    unsigned Count = 0;
    bool VisitDeclRefExpr(DeclRefExpr *Ref) {
      Count += Ref->getDecl() == Of;
      return true;
    }
    bool VisitMemberExpr(MemberExpr *Member) {
      Count += Member->getMemberDecl() == Of;
      return true;
    }
  } M;
  M.Of = Into;
  M.TraverseStmt(const_cast<Stmt *>(Loop));
  return M.Count == 1 && isWrittenIn(B.Owner, Loop);
}

} // namespace libtorch_tidy::flow
