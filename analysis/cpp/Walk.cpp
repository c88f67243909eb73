//===- Walk.cpp - Everything in a statement -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Walk.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::cpp {

namespace {

class Walker : public RecursiveASTVisitor<Walker> {
public:
  Walker(Way How, llvm::function_ref<bool(const Stmt *)> OnStmt,
         llvm::function_ref<bool(const Decl *)> OnDecl)
      : How(How), OnStmt(OnStmt), OnDecl(OnDecl) {}

  bool shouldVisitImplicitCode() const { return How.Implicit; }
  bool dataTraverseStmtPre(Stmt *S) {
    return !(How.In == Lambdas::Skipped && isa<LambdaExpr>(S)) &&
           !(How.OutsideTry && isa<CXXTryStmt>(S));
  }
  bool TraverseLambdaExpr(LambdaExpr *L) {
    if (How.In == Lambdas::Made)
      return llvm::all_of(L->capture_inits(), [this](Expr *Init) {
        return !Init || TraverseStmt(Init);
      });
    const CXXRecordDecl *Class = L->getLambdaClass();
    if (How.Implicit || Class->isGenericLambda())
      return RecursiveASTVisitor::TraverseLambdaExpr(L);
    // As there, but for the way to the call operator: Clang looks it up by its
    // name, and goes through all functions around for that.
    const auto IsCall = [](const Decl *D) {
      const auto *Method = dyn_cast<CXXMethodDecl>(D);
      return Method && Method->getOverloadedOperator() == OO_Call;
    };
    const auto Call = llvm::find_if(Class->decls(), IsCall);
    if (Call == Class->decls_end())
      return RecursiveASTVisitor::TraverseLambdaExpr(L);
    if (!WalkUpFromLambdaExpr(L))
      return false;
    for (unsigned I = 0; I < L->capture_size(); ++I)
      if (const LambdaCapture *C = L->capture_begin() + I;
          C->isExplicit() &&
          !TraverseLambdaCapture(L, C, L->capture_init_begin()[I]))
        return false;
    const auto Proto = cast<CXXMethodDecl>(*Call)
                           ->getTypeSourceInfo()
                           ->getTypeLoc()
                           .getAsAdjusted<FunctionProtoTypeLoc>();
    if (L->hasExplicitParameters())
      for (ParmVarDecl *Param : Proto.getParams())
        if (!TraverseDecl(Param))
          return false;
    if (Expr *NoExcept = Proto.getTypePtr()->getNoexceptExpr();
        NoExcept && !TraverseStmt(NoExcept))
      return false;
    if (L->hasExplicitResultType() && !TraverseTypeLoc(Proto.getReturnLoc()))
      return false;
    return TraverseStmt(L->getBody());
  }
  bool TraverseDecl(Decl *D) {
    return How.In == Lambdas::Made && isa_and_nonnull<TagDecl>(D)
               ? true
               : RecursiveASTVisitor::TraverseDecl(D);
  }
  bool VisitStmt(Stmt *S) { return OnStmt(S); }
  bool VisitDecl(Decl *D) { return OnDecl(D); }

private:
  Way How;
  llvm::function_ref<bool(const Stmt *)> OnStmt;
  llvm::function_ref<bool(const Decl *)> OnDecl;
};

} // namespace

bool walk(const Stmt *S, Way How, llvm::function_ref<bool(const Stmt *)> OnStmt,
          llvm::function_ref<bool(const Decl *)> OnDecl) {
  return !S || Walker(How, OnStmt, OnDecl).TraverseStmt(const_cast<Stmt *>(S));
}

void forEachCall(const Stmt *S,
                 llvm::function_ref<void(const CallExpr *)> Visit) {
  forEach<CallExpr>(S, Visit, Lambdas::Made);
}

void forEachCall(const FunctionDecl *F,
                 llvm::function_ref<void(const CallExpr *)> Visit) {
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Ctor->inits())
      forEachCall(Init->getInit(), Visit);
  forEachCall(F->getBody(), Visit);
}

bool isMention(const Stmt *S, const ValueDecl *D) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    return Ref->getDecl() == D;
  const auto *Member = dyn_cast<MemberExpr>(S);
  return Member && Member->getMemberDecl() == D;
}

bool mentions(const Stmt *S, const ValueDecl *D, Way How) {
  return anyOf<Expr>(S, [&](const Expr *E) { return isMention(E, D); }, How);
}

bool contains(const Stmt *Outer, const Stmt *Inner) {
  if (Outer == Inner)
    return true;
  return llvm::any_of(Outer->children(), [&](const Stmt *Child) {
    return Child && contains(Child, Inner);
  });
}

} // namespace libtorch_tidy::cpp
