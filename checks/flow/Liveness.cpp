//===- Liveness.cpp - Is a value needed later? ----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/Liveness.h"
#include "checks/flow/Writes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace libtorch_tidy::flow {

bool contains(const Stmt *Outer, const Stmt *Inner) {
  if (Outer == Inner)
    return true;
  return llvm::any_of(Outer->children(), [&](const Stmt *Child) {
    return Child && contains(Child, Inner);
  });
}

const Stmt *scopeOf(const VarDecl *Var, ASTContext &Context) {
  auto Parents = Context.getParents(*Var);
  const auto *Statement =
      Parents.empty() ? nullptr : Parents[0].get<DeclStmt>();
  if (!Statement)
    return nullptr;
  auto Scopes = Context.getParents(*Statement);
  return Scopes.empty() ? nullptr : Scopes[0].get<Stmt>();
}

namespace {

/// Mentions of a variable or field of `*this` in lambdas, handlers excepted.
bool isMentionedInLambda(const ValueDecl *D, const Stmt *Body) {
  struct Finder : RecursiveASTVisitor<Finder> {
    const ValueDecl *D;
    unsigned Depth = 0;
    bool Found = false;
    bool TraverseLambdaExpr(LambdaExpr *L) {
      ++Depth;
      bool Continue = RecursiveASTVisitor::TraverseLambdaExpr(L);
      --Depth;
      return Continue;
    }
    bool VisitDeclRefExpr(DeclRefExpr *E) {
      Found |= Depth && E->getDecl() == D;
      return !Found;
    }
    bool VisitMemberExpr(MemberExpr *E) {
      Found |= Depth && E->getMemberDecl() == D;
      return !Found;
    }
  } F;
  F.D = D;
  F.TraverseStmt(const_cast<Stmt *>(Body));
  return F.Found;
}

bool outlives(const ValueDecl *D, const FunctionDecl *In) {
  const auto *Var = dyn_cast<VarDecl>(D);
  return !Var || Var->getType()->isReferenceType() ||
         !Var->isLocalVarDeclOrParm() || Var->isStaticLocal() ||
         Var->getParentFunctionOrMethod() != In;
}

} // namespace

bool isReadFrom(const ValueDecl *D, const Stmt *From, const FunctionDecl *In,
                ASTContext &Context) {
  const Stmt *Body = In->getBody();
  if (!Body || isMentionedInLambda(D, Body))
    return true;

  CFG::BuildOptions Options;
  Options.setAllAlwaysAdd();
  std::unique_ptr<CFG> Graph =
      CFG::buildCFG(In, const_cast<Stmt *>(Body), &Context, Options);
  if (!Graph)
    return true;

  llvm::SmallPtrSet<const Stmt *, 8> Ends, NotReads;
  for (const Write &W : writesTo(D, Body)) {
    if (W.Kind == WriteKind::Escaped && !isa<CallExpr>(W.Where))
      return true; // An alias that may be read under another name.
    if (W.Overwritten && !W.InLambda) {
      Ends.insert(W.Where);
      NotReads.insert(W.Overwritten);
    }
  }

  // Blocks are numbered against the flow of control: within one statement, the
  // one that runs first has the highest number.
  const CFGBlock *First = nullptr;
  unsigned Index = 0;
  for (const CFGBlock *Block : *Graph)
    for (unsigned I = 0; I < Block->size(); ++I) {
      auto Element = (*Block)[I].getAs<CFGStmt>();
      if (!Element || !contains(From, Element->getStmt()))
        continue;
      if (!First || Block->getBlockID() > First->getBlockID()) {
        First = Block;
        Index = I;
      }
      break;
    }
  if (!First)
    return true;

  const bool Outlives = outlives(D, In);
  enum class Outcome { GoesOn, Read, Over };
  auto Scan = [&](const CFGBlock *Block, unsigned From) {
    for (unsigned I = From; I < Block->size(); ++I) {
      auto Element = (*Block)[I].getAs<CFGStmt>();
      if (!Element)
        continue;
      const Stmt *S = Element->getStmt();
      if (Ends.count(S))
        return Outcome::Over;
      if (const auto *Call = dyn_cast<CallExpr>(S);
          Call && Outlives && Call->getDirectCallee() &&
          Call->getDirectCallee()->getCanonicalDecl() == In->getCanonicalDecl())
        return Outcome::Over;
      if (const auto *Declaration = dyn_cast<DeclStmt>(S))
        if (llvm::is_contained(Declaration->decls(), D))
          return Outcome::Over;
      const ValueDecl *Mentioned = nullptr;
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
        Mentioned = Ref->getDecl();
      else if (const auto *Member = dyn_cast<MemberExpr>(S))
        Mentioned = Member->getMemberDecl();
      if (Mentioned == D && !NotReads.count(S))
        return Outcome::Read;
    }
    return Outcome::GoesOn;
  };

  llvm::SmallPtrSet<const CFGBlock *, 16> Seen;
  llvm::SmallVector<const CFGBlock *, 16> Work;
  Outcome Result = Scan(First, Index);
  if (Result != Outcome::GoesOn)
    return Result == Outcome::Read;
  auto Follow = [&](const CFGBlock *Block) {
    for (const CFGBlock *Next : Block->succs())
      if (Next && Seen.insert(Next).second)
        Work.push_back(Next);
  };
  Follow(First);
  while (!Work.empty()) {
    const CFGBlock *Block = Work.pop_back_val();
    if (Block == &Graph->getExit() && Outlives)
      return true;
    Result = Scan(Block, 0);
    if (Result == Outcome::Read)
      return true;
    if (Result == Outcome::GoesOn)
      Follow(Block);
  }
  return false;
}

} // namespace libtorch_tidy::flow
