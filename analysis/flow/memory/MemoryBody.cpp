//===- MemoryBody.cpp - What the syntax of a function says of memory ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::flow {

using namespace cpp;

bool readsNoElement(const CXXMemberCallExpr *Call) {
  if (torch::isMetadataAccess(Call) ||
      does(Call, Std::Insert | Std::Overwrite | Std::Clear | Std::Reset |
                     Std::Reserve))
    return true;
  // What a map says in a number is of its keys: count(key), contains(key).
  if (isStdClass(Call->getObjectType(), StdClass::Map) &&
      Call->getType()->isIntegerType())
    return true;
  // A pop() of the user's may hand out what it takes out.
  return does(Call, Std::Remove) && !does(Call, Std::Release) &&
         (isOfLibrary(Call->getDirectCallee()) ||
          Call->getType()->isVoidType());
}

namespace {

/// Finds the mentions of variables that read nothing, and whether there is
/// anything to follow.
class BodyWalk : public RecursiveASTVisitor<BodyWalk> {
public:
  BodyWalk(MemoryBody &Body, const FunctionDecl *F, MemorySummaries Callees)
      : Body(Body), F(F), Callees(Callees) {}

  /// The variables that a range-for declares for itself count, too.
  bool shouldVisitImplicitCode() const { return true; }

  // Functions of their own, and what is not evaluated.
  bool TraverseLambdaExpr(LambdaExpr *Lambda) {
    for (Expr *Init : Lambda->capture_inits()) {
      TraverseStmt(Init);
      silenceAll(Init);
    }
    return true;
  }
  bool TraverseCXXNoexceptExpr(CXXNoexceptExpr *E) {
    silenceAll(E->getOperand());
    return true;
  }
  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *) {
    return true;
  }

  bool VisitVarDecl(VarDecl *Var) {
    // Another name reads nothing.
    if (Var->getType()->isReferenceType() && Var->hasInit())
      silence(Var->getInit());
    // The range of a range-for is a reference that the compiler declares.
    noteType(Var->isImplicit() ? Var->getType().getNonReferenceType()
                               : Var->getType());
    return true;
  }
  bool VisitReturnStmt(ReturnStmt *Return) {
    Body.Results += Return->getRetValue() != nullptr;
    Stores |= Return->getRetValue() != nullptr && mayLead(F->getReturnType());
    return true;
  }

  // Mentions that are no reads, and values to follow.
  bool VisitCastExpr(CastExpr *Cast) {
    if (Cast->getCastKind() == CK_PointerToBoolean ||
        Cast->getCastKind() == CK_ToVoid)
      silence(Cast->getSubExpr());
    return true;
  }
  /// A pointer whose address is taken is written there.
  bool VisitUnaryOperator(UnaryOperator *Op) {
    if (Op->getOpcode() == UO_AddrOf &&
        Op->getSubExpr()->getType()->isPointerType())
      silence(Op->getSubExpr());
    return true;
  }
  bool VisitInitListExpr(InitListExpr *List) {
    for (const Expr *Init : List->inits())
      Body.Concerned |= passesOn(Init);
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *Op) {
    if (Op->isComparisonOp() && Op->getLHS()->getType()->isPointerType()) {
      silence(Op->getLHS());
      silence(Op->getRHS());
    }
    if (Op->getOpcode() == BO_Assign) {
      assigned(Op->getLHS());
      Stores |= mayLead(Op->getLHS()->getType()) && !namedBy(Op->getLHS());
    }
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *Construct) {
    noteCallee(Construct->getConstructor());
    return true;
  }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *Delete) {
    Frees = true;
    const CXXRecordDecl *R = cpp::recordOf(Delete->getDestroyedType());
    const CXXDestructorDecl *Destructor =
        R && R->hasDefinition() ? R->getDestructor() : nullptr;
    if (!Destructor || !Destructor->isUserProvided() || isOfLibrary(Destructor))
      silence(Delete->getArgument());
    return true;
  }
  bool VisitCallExpr(CallExpr *Call) {
    if (cpp::isAssignment(Call)) {
      assigned(Call->getArg(0));
      noteType(Call->getArg(0)->getType());
      const VarDecl *To = namedBy(Call->getArg(0));
      Body.Concerned |= (!To || !isOwn(To)) && passesOn(Call->getArg(1));
    }
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      if (readsNoElement(Member))
        silence(Member->getImplicitObjectArgument());
      Resizes |= torch::mayMoveElements(Call);
    }
    // Values that change places.
    if (const cpp::Call C(Call); C.doesStd(Std::Swap | Std::Exchange)) {
      if (C.does(Std::Swap) ||
          !isa_and_nonnull<Expr>(cpp::Body::of(F).userOf(Call)))
        for (const Expr *Arg : C.Args)
          silence(Arg);
      silence(C.Object);
    }
    Frees |= cpp::does(Call, cpp::Std::Free);
    Stores |= cpp::does(Call, cpp::Std::Insert);
    if (cpp::does(Call, cpp::Std::Insert))
      for (const Expr *Arg : Call->arguments())
        Body.Concerned |= passesOn(Arg);
    Body.Concerned |= torch::asAccess(Call).has_value() ||
                      torch::asFromBlob(Call, F->getASTContext()).has_value();
    noteCallee(Call->getDirectCallee());
    return true;
  }

  void run() {
    noteType(F->getReturnType());
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits()) {
        if (Init->isMemberInitializer()) {
          noteType(Init->getMember()->getType());
          Stores |= Init->getMember()->getType()->isPointerType();
          Body.Concerned |= passesOn(Init->getInit());
        }
        TraverseStmt(Init->getInit());
      }
    TraverseStmt(F->getBody());
    // Parameters belong to the caller.
    for (const ParmVarDecl *Param : F->parameters())
      Body.Concerned |=
          (Stores && Param->getType()->isPointerType() &&
           Param->getType()->getPointeeType()->isArithmeticType()) ||
          (Frees && Param->getType()->isPointerType()) ||
          (Resizes && torch::isTensor(Param->getType()));
  }

private:
  /// Is \p E a tensor of the caller's?
  static bool passesOn(const Expr *E) {
    const VarDecl *Var = namedBy(valueOf(E));
    return isa_and_nonnull<ParmVarDecl>(Var) &&
           torch::isTensor(Var->getType().getNonReferenceType());
  }
  static bool mayLead(QualType T) {
    return T->isPointerType() || (cpp::recordOf(T) && !torch::isTensor(T));
  }
  /// Only what is kept can dangle: array references are made in every call.
  void noteType(QualType T) { Body.Concerned |= torch::isArrayRef(T); }
  void noteCallee(const FunctionDecl *Callee) {
    if (Body.Concerned || !Callee)
      return;
    const MemorySummary *Known = Callees(Callee);
    Body.Concerned = Known && !Known->saysNothing();
  }
  void silence(const Expr *E) {
    E = cpp::peel(E);
    if (isa_and_nonnull<DeclRefExpr, MemberExpr>(E) || partOf(E).Whole)
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
    silence(Left);
    if (cpp::isStdCall(Left, Std::Tie))
      for (const Expr *Arg : cast<CallExpr>(cpp::peel(Left))->arguments())
        silence(Arg);
  }

  MemoryBody &Body;
  const FunctionDecl *F;
  MemorySummaries Callees;
  bool Frees = false, Resizes = false;
  bool Stores = false; ///< A pointer or struct goes to a caller or a place.
};

} // namespace

MemoryBody::MemoryBody(const FunctionDecl *F, MemorySummaries Callees) {
  BodyWalk(*this, F, Callees).run();
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

namespace {

/// OpenCV's functions use the pixels and let go of them.
bool isInCv(const Decl *D) {
  for (const DeclContext *DC = D->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *NS = dyn_cast<NamespaceDecl>(DC);
        NS && cpp::nameOf(NS) == "cv")
      return true;
  return false;
}

/// The variable that \p E names or is a part of; null for others.
const VarDecl *variableIn(const Expr *E) {
  return dyn_cast_or_null<VarDecl>(rootOf(E));
}

class SharingFinder {
public:
  SharingFinder(const ASTContext &Context, MemorySummaries Callees)
      : Context(Context), Callees(Callees) {}

  void lookAt(const Stmt *Body) {
    forEach<VarDecl>(Body, [&](const VarDecl *Var) {
      if (Var->hasInit())
        sink(Var->getInit(), Var->getType(), Var);
    });
    forEach<Stmt>(Body, [&](const Stmt *S) {
      if (const auto *Call = dyn_cast<CallExpr>(S))
        visit(Call);
      else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
        visit(Construct);
      else if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
        visit(Lambda);
      else if (const auto *Return = dyn_cast<ReturnStmt>(S))
        visit(Return);
      else if (const auto *List = dyn_cast<InitListExpr>(S))
        for (const Expr *Init : List->inits())
          sink(Init, Init->getType(), nullptr);
      else if (const auto *Op = dyn_cast<BinaryOperator>(S);
               Op && Op->getOpcode() == BO_Assign)
        sink(Op->getRHS(), Op->getRHS()->getType(), variableIn(Op->getLHS()));
    });
  }

  Sharing Found;

private:
  void visit(const LambdaExpr *Lambda) {
    for (const LambdaCapture &Capture : Lambda->captures())
      if (Capture.capturesVariable())
        leave(dyn_cast<VarDecl>(Capture.getCapturedVar()));
  }

  void visit(const ReturnStmt *Return) {
    if (const Expr *Value = Return->getRetValue()) {
      sink(Value, Value->getType(), nullptr);
      if (const VarDecl *Var = variableIn(valueOf(Value)))
        Found.Leaving.insert(Var);
    }
  }

  void visit(const CallExpr *E) {
    using F = SharingFinder;
    auto Nothing = [](F &, const Call &) { return Done(); };
    static const CallRule<F, Done> Rules[] = {
        {ofStd(Std::Move | Std::Swap | Std::Exchange | Std::Refer),
         &F::leaveArguments},
        {ofStd(Std::Forward | Std::Part), Nothing},
        {leadsToTarget, Nothing},
        {givesUp, &F::leaveObject},
        {cpp::isAssignment, &F::assigned},
        {&F::isOperator, &F::operate},
        {onlyLooks, Nothing},
        {anyCall, &F::passed},
    };
    firstOf(Rules, *this, Call(E));
  }

  /// `*p`, `p->`
  static bool leadsToTarget(const Call &C) {
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(C.E);
    return Op && Op->getNumArgs() == 1 &&
           (Op->getOperator() == OO_Star || Op->getOperator() == OO_Arrow);
  }
  static bool givesUp(const Call &C) {
    return isa<CXXMemberCallExpr>(C.E) && C.does(Std::Swap | Std::Release);
  }
  bool isOperator(const Call &C) {
    return torch::storageUse(C.expr(), {}, Context).How !=
           torch::Sharing::Unknown;
  }
  /// Printing, comparing, asking for a property.
  static bool onlyLooks(const Call &C) {
    const auto *Member = dyn_cast<CXXMemberCallExpr>(C.E);
    return (C.Of == Whose::Library && !torch::keepsArguments(C.expr()) &&
            !torch::mayHoldTensor(C.E->getType()) &&
            (!Member || torch::isTensor(Member->getObjectType()))) ||
           (C.Callee && isInCv(C.Callee));
  }

  Done leaveArguments(const Call &C) {
    for (const Expr *Arg : C.expr()->arguments())
      leave(variableIn(Arg));
    return {};
  }
  void leaveObject(const Call &C) {
    leave(variableIn(C.Object));
    leaveArguments(C);
  }
  /// `t[i] = x` copies the elements.
  Done assigned(const Call &C) {
    const Expr *To = C.expr()->getArg(0);
    if (!torch::isTensor(To->getType()) || To->isLValue())
      sink(C.expr()->getArg(1), To->getType(), variableIn(To));
    return {};
  }
  /// Operators use their tensors and let go of them, but for backward.
  Done operate(const Call &C) {
    for (const Expr *Arg : C.expr()->arguments())
      Found.Operands.insert(torch::memoryRoot(Arg, Context));
    if (isa<CXXMemberCallExpr>(C.E))
      Found.Operands.insert(torch::memoryRoot(C.Object, Context));
    return {};
  }
  Done passed(const Call &C) {
    const MemorySummary *Known = summaryOf(C.Callee, Callees);
    for (unsigned I = 0; I < C.Args.size(); ++I) {
      const Expr *Arg = C.Args[I];
      if (!Known || I >= C.Callee->getNumParams() || Known->Keeps.count(I))
        sink(Arg, Arg->getType(), nullptr);
      else if (Known->Operands.count(I))
        Found.Operands.insert(torch::memoryRoot(Arg, Context));
    }
    return {};
  }

  void visit(const CXXConstructExpr *Construct) {
    QualType T = Construct->getType();
    // Copies are judged by where they go.
    if (torch::isTensor(T) || torch::isArrayRef(T) ||
        Construct->getConstructor()->isCopyOrMoveConstructor() ||
        isInCv(Construct->getConstructor()))
      return;
    for (const Expr *Arg : Construct->arguments()) {
      sink(Arg, Arg->getType(), nullptr);
      for (const Expr *Element : cpp::listElements(Arg))
        sink(Element, Element->getType(), nullptr);
    }
  }

  void leave(const VarDecl *Var) {
    if (Var) {
      Found.Leaving.insert(Var);
      ++Found.Copies[Var];
    }
  }

  /// \p E goes to a place of type \p To, the variable \p Into if known.
  void sink(const Expr *E, QualType To, const VarDecl *Into) {
    auto Copy = [&](const VarDecl *Root) {
      if (Root && Root != Into)
        ++Found.Copies[Root];
    };
    if (torch::mayHoldTensor(To) && torch::mayHoldTensor(E->getType()))
      Copy(torch::memoryRoot(E, Context));
    // Owners that are counted by value, and references that may be copied
    // later.
    const Expr *Value = valueOf(E);
    if ((holdsMat(To) && holdsMat(Value->getType())) ||
        isStdClass(Value->getType(), StdClass::Shared))
      Copy(variableIn(Value));
  }

  const ASTContext &Context;
  MemorySummaries Callees;
};

} // namespace

Sharing Sharing::in(const FunctionDecl *F, MemorySummaries Callees) {
  SharingFinder Finder(F->getASTContext(), Callees);
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Ctor->inits())
      Finder.lookAt(Init->getInit());
  Finder.lookAt(F->getBody());
  return std::move(Finder.Found);
}

} // namespace libtorch_tidy::flow
