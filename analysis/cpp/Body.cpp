//===- Body.cpp - What one may ask of a function body ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace libtorch_tidy::cpp {

//===----------------------------------------------------------------------===//
// Made on demand, owned by the unit
//===----------------------------------------------------------------------===//

using Bodies = llvm::DenseMap<const FunctionDecl *, std::unique_ptr<Body>>;

Body &Body::of(const FunctionDecl *F) {
  if (const FunctionDecl *Definition = F->getDefinition())
    F = Definition;
  std::unique_ptr<Body> &Known = ofUnit<Bodies>(F->getASTContext())[F];
  if (!Known)
    Known = std::make_unique<Body>(F);
  return *Known;
}

Body *Body::around(const Stmt *S, ASTContext &Context) {
  DynTypedNode Node = DynTypedNode::create(*S);
  for (;;) {
    DynTypedNodeList Parents = Context.getParents(Node);
    if (Parents.empty())
      return nullptr;
    const auto *Lambda = Parents[0].get<LambdaExpr>();
    const FunctionDecl *F =
        Lambda && Node.get<Stmt>() == Lambda->getBody()
            ? static_cast<const FunctionDecl *>(Lambda->getCallOperator())
            : Parents[0].get<FunctionDecl>();
    if (F)
      return F->hasBody() ? &of(F) : nullptr;
    Node = Parents[0];
  }
}

Body::Body(const FunctionDecl *F)
    : F(F), Root(F->getBody()), Parents(const_cast<Stmt *>(Root)) {
  Way How = Lambdas::Skipped;
  How.Implicit = true;
  forEach<Stmt>(
      Root,
      [&](const Stmt *S) {
        if (const auto *Statement = dyn_cast<DeclStmt>(S)) {
          for (const Decl *D : Statement->decls())
            if (const auto *Var = dyn_cast<VarDecl>(D))
              Declared[Var] = S;
        } else if (const auto *Catch = dyn_cast<CXXCatchStmt>(S)) {
          if (const VarDecl *Caught = Catch->getExceptionDecl())
            Declared[Caught] = S;
        }
      },
      How);
}

bool Body::isInstantiated() const {
  // An explicit specialization of a method stands outside of its class.
  for (const DeclContext *In = F; In; In = In->getLexicalParent()) {
    const auto *Function = dyn_cast<FunctionDecl>(In);
    const auto *Class = dyn_cast<CXXRecordDecl>(In);
    if ((Function && Function->isTemplateInstantiation()) ||
        (Class &&
         isTemplateInstantiation(Class->getTemplateSpecializationKind())))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// What stands where
//===----------------------------------------------------------------------===//

const Stmt *Body::outerOf(const Stmt *S) const {
  do
    S = parentOf(S);
  while (isa_and_nonnull<ParenExpr, ImplicitCastExpr, FullExpr,
                         MaterializeTemporaryExpr, CXXBindTemporaryExpr>(S));
  return S;
}

const Stmt *Body::userOf(const Expr *E) const {
  const Expr *Value = stripImplicit(E);
  const Stmt *Parent = parentOf(E);
  while (const auto *Outer = dyn_cast_or_null<Expr>(Parent)) {
    if (stripImplicit(Outer) != Value)
      break;
    Parent = parentOf(Outer);
  }
  return Parent;
}

const CallExpr *Body::callOn(const Expr *E) const {
  const Stmt *User = userOf(E);
  if (isa_and_nonnull<MemberExpr>(User)) // The method.
    User = parentOf(User);
  return dyn_cast_or_null<CallExpr>(User);
}

const VarDecl *Body::initializedBy(const Stmt *S, const Expr *E) const {
  if (const auto *Declared = dyn_cast_or_null<DeclStmt>(S))
    for (const Decl *D : Declared->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D);
          Var && Var->getInit() && isWithin(E, Var->getInit()))
        return Var;
  return nullptr;
}

bool Body::isWithin(const Stmt *S, const Stmt *Outer) const {
  const auto Inner = Spans.find(S), Around = Spans.find(Outer);
  if (Inner != Spans.end() && Around != Spans.end())
    return Around->second.first <= Inner->second.first &&
           Inner->second.first <= Around->second.second;
  for (; S && S != Outer; S = parentOf(S))
    ++Steps;
  if (Spans.empty() && Steps > ManySteps)
    number();
  return S != nullptr;
}

void Body::number() const {
  unsigned Next = 0;
  llvm::SmallVector<std::pair<const Stmt *, bool>, 0> Work = {{Root, false}};
  while (!Work.empty()) {
    const auto [S, IsDone] = Work.pop_back_val();
    if (IsDone) {
      Spans[S].second = Next - 1;
      continue;
    }
    Spans[S] = {Next, Next};
    ++Next;
    Work.push_back({S, true});
    for (const Stmt *Child : S->children())
      if (Child && parentOf(Child) == S && !Spans.count(Child))
        Work.push_back({Child, false});
  }
}

const CallExpr *Body::repeatedBy() const {
  if (Repeater)
    return *Repeater;
  Repeater = nullptr; // While it is asked.
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  const auto *Outer =
      Method && Method->getParent()->isLambda()
          ? dyn_cast_or_null<FunctionDecl>(
                Method->getParent()->getParentFunctionOrMethod())
          : nullptr;
  if (Outer && Outer->hasBody(Outer))
    Repeater = repeaterOf(Method->getParent(), Body::of(Outer));
  return *Repeater;
}

const ParmVarDecl *Body::foldedInto() const {
  const CallExpr *Call = repeatedBy();
  return Call && isStdDecl(Call->getDirectCallee()) && does(Call, Std::Fold) &&
                 F->getNumParams() > 1
             ? F->getParamDecl(0)
             : nullptr;
}

const Stmt *Body::loopAround(const Stmt *S) const {
  const Stmt *Inner = S;
  for (const Stmt *Outer = parentOf(S); Outer;
       S = Outer, Outer = parentOf(Outer)) {
    if (isLoop(Outer) && !runsOnce(Outer, S))
      return Outer;
    const auto *Lambda = dyn_cast<LambdaExpr>(Outer);
    if (Lambda && S == Lambda->getBody() && S != Inner &&
        Body::of(Lambda->getCallOperator()).repeatedBy())
      return S;
  }
  return S != Inner && S == Root && repeatedBy() ? S : nullptr;
}

bool Body::leavesAfter(const Stmt *S, const Stmt *Loop) const {
  const Stmt *Statement = S;
  const Stmt *Parent = parentOf(S);
  while (Parent && !isa<CompoundStmt>(Parent)) {
    if (isa<IfStmt>(Parent) || isLoop(Parent))
      return false;
    Statement = Parent;
    Parent = parentOf(Parent);
  }
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Parent);
  if (!Block || Block->body_empty() || Block->body_back() == Statement)
    return false;
  const Stmt *Last = Block->body_back();
  if (const auto *E = dyn_cast<Expr>(Last))
    return isa<CXXThrowExpr>(E->IgnoreImplicit());
  if (isa<ReturnStmt, GotoStmt>(Last))
    return true;
  if (!isa<BreakStmt>(Last))
    return false;
  for (const Stmt *P = Block; P; P = parentOf(P)) {
    if (isa<SwitchStmt>(P))
      return false;
    if (isLoop(P))
      return P == Loop;
  }
  return false;
}

const Stmt *Body::scopeOf(const VarDecl *Var) const {
  const Stmt *Scope = declarationOf(Var);
  if (isa_and_nonnull<DeclStmt>(Scope))
    do
      Scope = parentOf(Scope);
    while (isa_and_nonnull<SwitchCase, LabelStmt, AttributedStmt>(Scope));
  return Scope;
}

bool comesBefore(const Stmt *A, const Stmt *B, const SourceManager &SM) {
  return SM.isBeforeInTranslationUnit(SM.getExpansionLoc(A->getBeginLoc()),
                                      SM.getExpansionLoc(B->getBeginLoc()));
}

bool isWithin(SourceLocation Loc, const Stmt *S, const SourceManager &SM) {
  return SM.isPointWithin(SM.getExpansionLoc(Loc),
                          SM.getExpansionLoc(S->getBeginLoc()),
                          SM.getExpansionLoc(S->getEndLoc()));
}

//===----------------------------------------------------------------------===//
// Variables and values
//===----------------------------------------------------------------------===//

bool Body::isOwn(const ValueDecl *D) const {
  const auto *Var = dyn_cast_or_null<VarDecl>(D);
  return Var && Var->isLocalVarDeclOrParm() && !Var->isStaticLocal() &&
         !Var->getType()->isReferenceType() &&
         Var->getParentFunctionOrMethod() == F;
}

llvm::ArrayRef<const DeclRefExpr *> Body::mentionsOf(const ValueDecl *D) {
  if (!Mentions) {
    Mentions.emplace();
    forEach<DeclRefExpr>(Root, [&](const DeclRefExpr *Ref) {
      (*Mentions)[wholeOf(Ref->getDecl())].push_back(Ref);
    });
  }
  auto It = Mentions->find(wholeOf(D));
  return It == Mentions->end() ? llvm::ArrayRef<const DeclRefExpr *>()
                               : It->second;
}

llvm::ArrayRef<Write> Body::writesTo(const ValueDecl *D) {
  if (!Writes)
    Writes = allWrites(Root);
  auto It = Writes->find(D);
  return It == Writes->end() ? llvm::ArrayRef<Write>() : It->second;
}

bool Body::isSetOnce(const VarDecl *Var) {
  if (!Var->isLocalVarDecl() || Var->isStaticLocal() || !Var->getInit() ||
      !Root || anyReassigns(writesTo(Var)))
    return false;
  // `n += 1` changes a part of an object, but all of a number.
  return Var->getType().getNonReferenceType()->isRecordType() ||
         llvm::none_of(writesTo(Var), [](const Write &W) {
           return W.Kind == WriteKind::Changed;
         });
}

bool Body::isOverwrittenAfter(const FieldDecl *Field, const Expr *Set) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Root);
  const Stmt *Last =
      Block && !Block->body_empty() ? Block->body_back() : nullptr;
  if (!Last || isWithin(Set, Last))
    return false;
  const bool EndsWithIt = llvm::any_of(writesTo(Field), [&](const Write &W) {
    return W.Kind == WriteKind::Assigned && isWithin(W.Where, Last);
  });
  return !paths().holdsUntil(Field, Set, [&](const Stmt *S) {
    return isa<ReturnStmt>(S) || (!EndsWithIt && isWithin(S, Last));
  });
}

/// Adds what \p Writes give, but for what empties it.
static void addValues(llvm::ArrayRef<Write> Writes, Values &To) {
  for (const Write &W : Writes) {
    // m.emplace(x) may take x by a reference, and copies it.
    if ((W.Kind == WriteKind::Released && !W.InLambda) ||
        (W.Kind == WriteKind::Escaped && asInsertion(W.Where)))
      continue;
    if (W.Kind == WriteKind::Assigned && !W.InLambda && W.Value)
      To.Given.push_back(W.Value);
    else
      To.Complete = false;
  }
}

Values Body::valuesOf(const VarDecl *Var) {
  Values Found;
  Found.Complete = isOwn(Var) && !isa<ParmVarDecl>(Var);
  if (Var->getInit() && !isEmptyValue(Var->getInit()))
    Found.Given.push_back(Var->getInit());
  addValues(writesTo(Var), Found);
  return Found;
}

Values valuesOf(const FieldDecl *Field) {
  Values Found;
  if (const Expr *Init = Field->getInClassInitializer())
    Found.Given.push_back(Init);
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!Class)
    return Found;
  for (const CXXMethodDecl *Method : Class->methods()) {
    const FunctionDecl *Definition = Method->getDefinition();
    if (!Definition || Definition->isImplicit())
      continue;
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Definition))
      for (const CXXCtorInitializer *Init : Constructor->inits())
        if (Init->getMember() == Field && Init->isWritten())
          Found.Given.push_back(Init->getInit());
    if (Definition->doesThisDeclarationHaveABody())
      addValues(cpp::writesTo(Field, Definition->getBody()), Found);
  }
  return Found;
}

const Expr *Body::originOf(const Expr *E) {
  E = stripImplicit(E);
  for (unsigned Hops = 0; Hops < MaxChase; ++Hops) {
    const VarDecl *Var = variableOf(E);
    if (!Var || !isSetOnce(Var))
      break;
    E = stripImplicit(Var->getInit());
  }
  return E;
}

const Expr *Body::rangeOf(const ValueDecl *Var) const {
  const auto *Whole = dyn_cast_or_null<VarDecl>(Var ? wholeOf(Var) : nullptr);
  const auto *Loop = dyn_cast_or_null<CXXForRangeStmt>(
      Whole ? parentOf(declarationOf(Whole)) : nullptr);
  return Loop && Loop->getLoopVariable() == Whole ? Loop->getRangeInit()
                                                  : nullptr;
}

const Paths &Body::paths() {
  if (!Ways)
    Ways = std::make_unique<Paths>(F);
  return *Ways;
}

} // namespace libtorch_tidy::cpp
