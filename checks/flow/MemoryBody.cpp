//===- MemoryBody.cpp - What the memory domain asks of a body -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/MemoryBody.h"
#include "checks/code/Std.h"
#include "checks/flow/FunctionFlow.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Sharing.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::flow {

class BodyWalk : public RecursiveASTVisitor<BodyWalk> {
  using Base = RecursiveASTVisitor<BodyWalk>;

public:
  BodyWalk(MemoryBody &Body, const FunctionDecl *F, MemorySummaries Callees)
      : Body(Body), F(F), Callees(Callees) {}

  /// The variables that a range-for declares for itself count, too.
  bool shouldVisitImplicitCode() const { return true; }

  // Functions of their own, and what is not evaluated.
  bool TraverseLambdaExpr(LambdaExpr *Lambda) {
    for (Expr *Init : Lambda->capture_inits())
      silenceAll(Init);
    return true;
  }
  bool TraverseCXXNoexceptExpr(CXXNoexceptExpr *E) {
    silenceAll(E->getOperand());
    return true;
  }
  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *) {
    return true;
  }

  // Scopes.
  bool TraverseCompoundStmt(CompoundStmt *S) {
    for (const Stmt *Child : S->children())
      if (isa_and_nonnull<DeclStmt, CXXForRangeStmt>(Child) && S != SwitchBody)
        Body.InBlock.insert(Child);
    return scoped(S, [&] { return Base::TraverseCompoundStmt(S); });
  }
  bool TraverseIfStmt(IfStmt *S) {
    return scoped(S, [&] { return Base::TraverseIfStmt(S); });
  }
  bool TraverseSwitchStmt(SwitchStmt *S) {
    // A variable between its labels would be jumped over.
    SwitchBody = S->getBody();
    return scoped(S, [&] { return Base::TraverseSwitchStmt(S); });
  }
  bool TraverseForStmt(ForStmt *S) {
    return scoped(S, [&] { return Base::TraverseForStmt(S); });
  }
  bool TraverseWhileStmt(WhileStmt *S) {
    return scoped(S, [&] { return Base::TraverseWhileStmt(S); });
  }
  bool TraverseCXXForRangeStmt(CXXForRangeStmt *S) {
    for (const Decl *D : S->getRangeStmt()->decls())
      if (const auto *Range = dyn_cast<VarDecl>(D)) {
        Body.Ranges[Range] = S;
        noteType(Range->getType().getNonReferenceType());
      }
    return scoped(S, [&] { return Base::TraverseCXXForRangeStmt(S); });
  }
  bool TraverseCXXCatchStmt(CXXCatchStmt *S) {
    return scoped(S, [&] { return Base::TraverseCXXCatchStmt(S); });
  }
  bool TraverseCXXTryStmt(CXXTryStmt *Try) {
    Tries.push_back(Try);
    TraverseStmt(Try->getTryBlock());
    Tries.pop_back();
    for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
      TraverseStmt(Try->getHandler(I));
    return true;
  }
  bool VisitVarDecl(VarDecl *Var) {
    if (!Scopes.empty())
      Body.ScopeEnds[Var] = Scopes.back()->getEndLoc();
    for (const CXXTryStmt *Try : Tries)
      Body.InTry[Try].push_back(Var);
    noteType(Var->getType());
    return true;
  }
  bool VisitReturnStmt(ReturnStmt *Return) {
    Body.Results += Return->getRetValue() != nullptr;
    return true;
  }

  // What looks like a read and is not one, and what there is to follow.
  bool VisitCastExpr(CastExpr *Cast) {
    if (Cast->getCastKind() == CK_PointerToBoolean ||
        Cast->getCastKind() == CK_ToVoid)
      silence(Cast->getSubExpr());
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *Op) {
    if (Op->isComparisonOp() && Op->getLHS()->getType()->isPointerType()) {
      silence(Op->getLHS());
      silence(Op->getRHS());
    }
    if (Op->getOpcode() == BO_Assign)
      assigned(Op->getLHS());
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *Construct) {
    noteCallee(Construct->getConstructor());
    return true;
  }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *) {
    Frees = true;
    return true;
  }
  bool VisitCallExpr(CallExpr *Call) {
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
        Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2) {
      assigned(Op->getArg(0));
      noteType(Op->getArg(0)->getType());
    }
    const llvm::StringRef Name = torch::calleeName(Call);
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      if (asksOnly(Call))
        silence(Member->getImplicitObjectArgument());
      Resizes |= torch::mayMoveElements(Call);
    }
    Frees |= Name == "free";
    Body.Concerned |= torch::asAccess(Call).has_value() ||
                      torch::asFromBlob(Call, F->getASTContext()).has_value();
    noteCallee(Call->getDirectCallee());
    return true;
  }

  void run() {
    noteType(F->getReturnType());
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits()) {
        if (Init->isMemberInitializer())
          noteType(Init->getMember()->getType());
        TraverseStmt(Init->getInit());
      }
    TraverseStmt(F->getBody());
    // What belongs to the caller, if it is a parameter.
    for (const ParmVarDecl *Param : F->parameters())
      Body.Concerned |= (Frees && Param->getType()->isPointerType()) ||
                        (Resizes && torch::isTensor(Param->getType()));
  }

private:
  template <typename Traverse> bool scoped(const Stmt *S, Traverse Inner) {
    Scopes.push_back(S);
    bool Continue = Inner();
    Scopes.pop_back();
    return Continue;
  }
  /// Only what is kept can dangle: array references are made in every call.
  void noteType(QualType T) { Body.Concerned |= torch::isArrayRef(T); }
  void noteCallee(const FunctionDecl *Callee) {
    if (Body.Concerned || !Callee)
      return;
    const MemorySummary *Known = Callees(Callee);
    Body.Concerned = Known && !Known->saysNothing();
  }
  /// Methods that do not read the elements of their object.
  static bool asksOnly(const CallExpr *Call) {
    const llvm::StringRef Name = torch::calleeName(Call);
    return torch::isMetadataAccess(Call) || code::isInsertion(Name) ||
           Name == "clear" || Name == "reset" || Name == "reserve";
  }
  void silence(const Expr *E) {
    E = torch::peel(E);
    if (isa_and_nonnull<DeclRefExpr, MemberExpr>(E))
      Body.Silent.insert(E);
  }
  void silenceAll(const Stmt *S) {
    if (const auto *E = dyn_cast_or_null<Expr>(S))
      Body.Silent.insert(E);
    if (S)
      for (const Stmt *Child : S->children())
        silenceAll(Child);
  }
  void assigned(const Expr *Left) {
    Left = torch::peel(Left);
    if (!Left)
      return;
    if (isa<DeclRefExpr>(Left))
      Body.Silent.insert(Left);
    const auto *Member = dyn_cast<MemberExpr>(Left);
    const auto *Unary = dyn_cast<UnaryOperator>(Left);
    if (Member)
      Body.Silent.insert(Member);
    if (Member || (Unary && Unary->getOpcode() == UO_Deref))
      if (const Expr *Inner =
              torch::peel(Member ? Member->getBase() : Unary->getSubExpr());
          isa_and_nonnull<DeclRefExpr>(Inner))
        Body.Targets.insert(Inner);
  }

  MemoryBody &Body;
  const FunctionDecl *F;
  MemorySummaries Callees;
  llvm::SmallVector<const Stmt *, 8> Scopes;
  llvm::SmallVector<const CXXTryStmt *, 2> Tries;
  const Stmt *SwitchBody = nullptr;
  bool Frees = false, Resizes = false;
};

MemoryBody::MemoryBody(const FunctionDecl *F, MemorySummaries Callees) {
  BodyWalk(*this, F, Callees).run();
  if (Concerned)
    Parents = std::make_unique<ParentMap>(F->getBody());
}

llvm::ArrayRef<const VarDecl *>
MemoryBody::declaredIn(const CXXTryStmt &Try) const {
  auto It = InTry.find(&Try);
  if (It == InTry.end())
    return {};
  return It->second;
}

const Stmt *MemoryBody::loopAround(const Stmt *S) const {
  const Stmt *Child = S;
  for (const Stmt *P = Parents->getParent(S); P;
       Child = P, P = Parents->getParent(P)) {
    const auto *Range = dyn_cast<CXXForRangeStmt>(P);
    if (Range ? Child == Range->getBody() : isLoop(P))
      return P;
  }
  return nullptr;
}

} // namespace libtorch_tidy::flow
