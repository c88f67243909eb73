//===- Expressions.cpp - What expressions mean for history ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

bool Interpreter::mayCarry(QualType T) {
  return !T->isVoidType() && torch::mayHoldTensor(T);
}

Value Interpreter::evalChildren(const Stmt *Parent) {
  Value All;
  for (const Stmt *Child : Parent->children())
    if (const auto *E = dyn_cast_or_null<Expr>(Child))
      All.join(eval(E).flat());
  return All;
}

Value Interpreter::evalAll(ArrayRef<const Expr *> Exprs) {
  Value All;
  for (const Expr *E : Exprs)
    All.join(eval(E).flat());
  return All;
}

Value Interpreter::eval(const Expr *E) {
  if (!E || E->isTypeDependent())
    return {};
  E = cpp::peel(E);

  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    if (auto It = Evaluated.find(E); It != Evaluated.end())
      return It->second;
    Value V = evalCall(Call);
    return Evaluated[E] = mayCarry(E->getType()) ? V : Value();
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return evalConstruct(Construct);
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return evalInitList(List);
  if (const auto *Lambda = dyn_cast<LambdaExpr>(E))
    return evalLambda(Lambda);
  if (isa<DeclRefExpr, MemberExpr, CXXThisExpr, ArraySubscriptExpr>(E)) {
    if (const auto *Member = dyn_cast<MemberExpr>(E);
        Member && !placeOf(E)) // a field of a temporary
      if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl())) {
        Value Base = eval(Member->getBase());
        return mayCarry(E->getType()) ? Base.part(selectorOf(Field)) : Value();
      }
    if (!mayCarry(E->getType()))
      return {};
    std::optional<Target> P = placeOf(E);
    return P ? read(P->P) : Value();
  }
  if (const auto *Conditional = dyn_cast<AbstractConditionalOperator>(E)) {
    eval(Conditional->getCond());
    Value V = eval(Conditional->getTrueExpr());
    V.join(eval(Conditional->getFalseExpr()));
    return V;
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == BO_Assign)
      return assignment(E, Binary->getLHS(), Binary->getRHS());
    eval(Binary->getLHS());
    Value V = eval(Binary->getRHS());
    return Binary->getOpcode() == BO_Comma ? V : Value();
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    if (std::optional<Target> P = placeOf(E))
      return mayCarry(E->getType()) ? read(P->P) : Value();
    return eval(Unary->getSubExpr());
  }
  Value V = evalChildren(E);
  return mayCarry(E->getType()) ? V : Value();
}

Value Interpreter::evalConstruct(const CXXConstructExpr *E) {
  const CXXConstructorDecl *Ctor = E->getConstructor();
  if (Ctor->isCopyOrMoveConstructor() && E->getNumArgs() >= 1)
    return eval(E->getArg(0));
  llvm::SmallVector<const Expr *, 4> Args(E->arguments());
  const CXXRecordDecl *R = Ctor->getParent();
  // A thread or function object made of a lambda: its effects were counted
  // where the lambda stands.
  const bool IsUser =
      cpp::isUserCode(R->getLocation(), Context.getSourceManager());
  Value All;
  if (!IsUser && cpp::isStdClass(R, cpp::StdClass::Tuple) && Args.size() > 1) {
    for (unsigned I = 0; I < Args.size(); ++I)
      All.setPart(Selector::element(I), eval(Args[I]));
    return All;
  }
  // User constructors: what goes in may come out of any field.
  bool Unseen = IsUser && Ctor->isUserProvided() && !Ctor->hasBody() &&
                !torch::isModule(E->getType());
  for (const Expr *Arg : Args) {
    Value V = eval(Arg).flat();
    // Into an object that carries it on: what becomes of that is seen.
    if (Unseen)
      consume(V, mayCarry(E->getType()) ? Label::Computed : Label::Escaped, E);
    All.join(V);
  }
  noteConstructor(E);
  if (Unseen && mayCarry(E->getType()))
    All.Unknown = true;
  return mayCarry(E->getType()) ? All : Value();
}

/// What the constructor that \p E runs does besides making its object.
void Interpreter::noteConstructor(const Expr *E) {
  const CXXConstructorDecl *Ctor = cpp::constructorRunBy(E);
  if (!Ctor || !Ctor->isUserProvided())
    return;
  const FunctionFlow *Flow = Unit.flowOf(Ctor);
  const bool IsKnown = Flow && Flow->available();
  (IsKnown ? Calls : UnseenCalls)[E] = {E, Ctor, modeAt(E)};
  if (!IsKnown)
    return;
  if (Flow->trains())
    trainsAt(E);
  const CXXRecordDecl *R = Ctor->getParent();
  if (torch::guardOf(R) || Flow->exitMode() == GradMode::On ||
      S.Mode != GradMode::On)
    return; // A guard ends with the object that holds it.
  const CXXDestructorDecl *Dtor = R->getDestructor();
  setMode(Dtor && Dtor->isUserProvided() ? GradMode::Unknown
                                         : Flow->exitMode());
}

Value Interpreter::evalInitList(const InitListExpr *E) {
  if (const InitListExpr *Semantic = E->getSemanticForm())
    E = Semantic;
  const CXXRecordDecl *R = cpp::recordOf(E->getType());
  Value All;
  if (R && R->isAggregate() && !R->isInStdNamespace()) {
    unsigned I = R->getNumBases();
    for (const FieldDecl *Field : R->fields()) {
      if (I >= E->getNumInits())
        break;
      Value V = eval(E->getInit(I++));
      if (mayCarry(Field->getType()))
        All.setPart(Selector::field(Field), std::move(V));
    }
    return All;
  }
  for (const Expr *Init : E->inits())
    All.join(eval(Init).flat());
  return All;
}

/// The lambda may run any time from here on, so what it does to captured
/// variables is done here, once; what it does to its parameters is not known.
Value Interpreter::evalLambda(const LambdaExpr *E) {
  for (const Expr *Capture : E->capture_inits())
    eval(Capture);
  const CXXMethodDecl *Body = E->getCallOperator();
  const FunctionFlow *Flow = Body ? Unit.flowOf(Body) : nullptr;
  if (!Flow || !Flow->available())
    return {};
  cpp::Call C(E, Body, nullptr, {});
  C.OnThis = true;
  State Before = S;
  evalUserCall(C, *Flow, std::nullopt, false);
  S.Mode = Before.Mode;
  return {};
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

std::optional<Interpreter::Target> Interpreter::inPlaceTarget(const Expr *E) {
  for (;;) {
    if (std::optional<Target> P = placeOf(E))
      return P;
    // Views share storage and history with what they are of.
    const auto *Call = dyn_cast<CallExpr>(cpp::stripImplicit(E));
    if (!Call)
      return std::nullopt;
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
    bool IsSubscript = Op && Op->getOperator() == OO_Subscript;
    const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
    if (!IsSubscript && !(Facts && (Facts->mayShare() || Facts->InPlace)))
      return std::nullopt;
    const Expr *Base = Op ? Op->getArg(0) : cpp::receiverOf(Call);
    if (!Base && Call->getNumArgs())
      Base = Call->getArg(0);
    if (!Base)
      return std::nullopt;
    E = Base;
  }
}

void Interpreter::assignTo(const Expr *Site, const Expr *To, const Value &V,
                           const Expr *Addend) {
  To = cpp::stripImplicit(To);
  // std::tie(a, b) = ...
  if (const auto *Tie = dyn_cast<CallExpr>(To);
      Tie && cpp::isStdCall(Tie, cpp::Std::Tie)) {
    for (unsigned I = 0; I < Tie->getNumArgs(); ++I)
      assignTo(Site, Tie->getArg(I), V.part(Selector::element(I)), nullptr);
    return;
  }
  if (std::optional<Target> P = placeOf(To)) {
    assign(Site, *P, V, Accumulation::Rebind, Addend);
    return;
  }
  // Into something without a name: a getter's result, a global's element.
  eval(To);
  consume(V, Label::Escaped, Site);
}

Value Interpreter::assignment(const Expr *Site, const Expr *To,
                              const Expr *From) {
  Value V = eval(From);
  if (mayCarry(To->getType()))
    assignTo(Site, To, V, From);
  else
    eval(To);
  return V;
}

} // namespace libtorch_tidy::flow
