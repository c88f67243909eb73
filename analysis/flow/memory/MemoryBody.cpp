//===- MemoryBody.cpp - What the memory domain asks of a body -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/MemoryBody.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
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

  bool TraverseCXXForRangeStmt(CXXForRangeStmt *S) {
    for (const Decl *D : S->getRangeStmt()->decls())
      if (const auto *Range = dyn_cast<VarDecl>(D))
        noteType(Range->getType().getNonReferenceType());
    return Base::TraverseCXXForRangeStmt(S);
  }
  bool VisitVarDecl(VarDecl *Var) {
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
    if (cpp::isAssignment(Call)) {
      assigned(Call->getArg(0));
      noteType(Call->getArg(0)->getType());
    }
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      if (asksOnly(Call))
        silence(Member->getImplicitObjectArgument());
      Resizes |= torch::mayMoveElements(Call);
    }
    Frees |= cpp::does(Call, cpp::Std::Free);
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
    return torch::isMetadataAccess(Call) ||
           cpp::does(Call, cpp::Std::Insert | cpp::Std::Clear |
                               cpp::Std::Reset | cpp::Std::Reserve);
  }
  void silence(const Expr *E) {
    E = cpp::peel(E);
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
    Left = cpp::peel(Left);
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
              cpp::peel(Member ? Member->getBase() : Unary->getSubExpr());
          isa_and_nonnull<DeclRefExpr>(Inner))
        Body.Targets.insert(Inner);
  }

  MemoryBody &Body;
  const FunctionDecl *F;
  MemorySummaries Callees;
  bool Frees = false, Resizes = false;
};

MemoryBody::MemoryBody(const FunctionDecl *F, MemorySummaries Callees) : F(F) {
  BodyWalk(*this, F, Callees).run();
}

SourceLocation MemoryBody::endOf(const VarDecl *Var) const {
  const Stmt *Scope = in().scopeOf(Var);
  return Scope ? Scope->getEndLoc() : SourceLocation();
}

bool MemoryBody::isInBlock(const Stmt *S) const {
  const Stmt *Block = in().parentOf(S);
  // A variable between the labels of a switch would be jumped over.
  return isa_and_nonnull<CompoundStmt>(Block) &&
         !isa_and_nonnull<SwitchStmt>(in().parentOf(Block));
}

const CXXForRangeStmt *MemoryBody::loopOverRange(const VarDecl *Var) const {
  const Stmt *Declaration = in().declarationOf(Var);
  const auto *Loop =
      Declaration
          ? dyn_cast_or_null<CXXForRangeStmt>(in().parentOf(Declaration))
          : nullptr;
  return Loop && Loop->getRangeStmt() == Declaration ? Loop : nullptr;
}

llvm::ArrayRef<const VarDecl *>
MemoryBody::declaredIn(const CXXTryStmt &Try) const {
  auto [It, New] = InTry.try_emplace(&Try);
  if (New) {
    cpp::Way How = cpp::Lambdas::Skipped;
    How.Implicit = true;
    cpp::forEach<VarDecl>(
        Try.getTryBlock(),
        [&](const VarDecl *Var) { It->second.push_back(Var); }, How);
  }
  return It->second;
}

} // namespace libtorch_tidy::flow
