//===- MemoryDomain.cpp - Statements of the memory domain -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Matrices.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/memory/LayoutDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using llvm::StringRef;

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

/// Is the buffer of \p B declared before \p Loop and written in each iteration,
/// while container \p Into collects the tensors over it?
static bool isReused(const Borrow &B, const ValueDecl *Into, const Stmt *Loop,
                     const cpp::Body &In) {
  auto IsMadeInLoop = [&](const ValueDecl *D) {
    const auto *Var = dyn_cast<VarDecl>(D);
    return Var && In.isWithin(In.declarationOf(Var), Loop);
  };
  if (!In.isWithin(B.Source, Loop) || IsMadeInLoop(B.Owner) ||
      IsMadeInLoop(Into))
    return false;
  // Taken out again in each iteration: they are used while they are right.
  unsigned Mentions = 0;
  forEach<Expr>(Loop, [&](const Expr *E) { Mentions += isMention(E, Into); });
  return Mentions == 1 && isWrittenIn(B.Owner, Loop);
}

using torch::Fresh;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Pointers to numbers, views of them, and tensors: what can be a caller's and
/// refer to memory of another.
static bool refersToElements(QualType T) {
  return (T->isPointerType() && (T->getPointeeType()->isArithmeticType() ||
                                 T->getPointeeType()->isVoidType())) ||
         torch::isArrayRef(T) || torch::isAccessor(T) || isViewClass(T) ||
         torch::isTensor(T.getNonReferenceType());
}

MemoryState MemoryDomain::start() const {
  MemoryState Start;
  for (const ParmVarDecl *Param : F->parameters()) {
    // The caller has them, too.
    if (torch::isTensor(Param->getType().getNonReferenceType()))
      Start.Tensors[Param] = {};
    if (Param->getType()->isPointerType())
      Start.Pointers[Param] = {Param, nullptr, /*Heap=*/true};
    if (refersToElements(Param->getType())) {
      Borrow Given;
      Given.What = Borrow::Given;
      Given.Owner = Param;
      Given.Heap = true;
      Start.keep({Keeper::of(Param),
                  Given,
                  Param->getLocation(),
                  nullptr,
                  true,
                  std::nullopt,
                  {}});
    }
  }
  return Start;
}

void MemoryDomain::enter(const CFGBlock &Block, State In) {
  S = std::move(In);
  const auto *Catch = dyn_cast_or_null<CXXCatchStmt>(Block.getLabel());
  if (const auto *Try =
          dyn_cast_or_null<CXXTryStmt>(Catch ? in().parentOf(Catch) : nullptr))
    for (const VarDecl *Var : declaredIn(*Try))
      leaveScope(Var);
}

const llvm::SetVector<const VarDecl *> &
MemoryDomain::declaredIn(const CXXTryStmt &Try) {
  const auto Known = InTry.try_emplace(&Try);
  llvm::SetVector<const VarDecl *> &Variables = Known.first->second;
  if (Known.second) {
    cpp::Way How = cpp::Lambdas::Skipped;
    How.Implicit = true;
    forEach<VarDecl>(
        Try.getTryBlock(), [&](const VarDecl *Var) { Variables.insert(Var); },
        How);
  }
  return Variables;
}

void MemoryDomain::visit(const CFGElement &Element) {
  if (auto AsStmt = Element.getAs<CFGStmt>()) {
    visitStmt(AsStmt->getStmt());
  } else if (auto AsEnd = Element.getAs<CFGLifetimeEnds>()) {
    leaveScope(AsEnd->getVarDecl());
  } else if (auto AsInit = Element.getAs<CFGInitializer>()) {
    const CXXCtorInitializer *Init = AsInit->getInitializer();
    if (Init->isMemberInitializer() && Init->isWritten())
      keep(Keeper::of(Init->getMember()), Init->getInit(),
           Init->getSourceLocation(), As::Declared);
  }
}

void MemoryDomain::atThrow(llvm::MutableArrayRef<Thrown<State>> To) {
  for (auto &[Try, What] : To) {
    // What the block owns is gone before the handler begins. Here it is known
    // who owns what; where several points meet, only what all of them know is.
    const auto &Declared = declaredIn(*Try);
    llvm::SmallSetVector<const VarDecl *, 4> Owners;
    for (const Held &H : S.Env)
      if (Declared.contains(H.What.Owner))
        Owners.insert(H.What.Owner);
    std::optional<State> Before;
    if (!Owners.empty())
      Before = S;
    for (const VarDecl *Var : Owners)
      leaveScope(Var);
    if (What)
      What->join(S);
    else
      What = S;
    if (Before)
      S = std::move(*Before);
  }
}

void MemoryDomain::leaveScope(const VarDecl *Var, SourceLocation At) {
  if (const Stmt *Scope = in().scopeOf(Var))
    At = Scope->getEndLoc();
  S.end(Var, Dangling::Scope, At, [&](Borrow &B) { return ownerDies(B); });
  S.forget(Var);
  S.moved(Var);
  S.Tensors.erase(Var);
  S.Pointers.erase(Var);
}

void MemoryDomain::report(const FlowGraph &Graph, const States<State> &In,
                          MemoryOf &Into) {
  Out = &Into;
  for (const CFGBlock *Block : Graph.Order) {
    const std::optional<State> &At = In[Block->getBlockID()];
    if (!At)
      continue;
    evaluated(Graph, *Block, *this, *At, {});
    if (Block == &Graph.Cfg->getExit()) {
      S = *At;
      leaveFunction();
    }
  }
  for (size_t I = 0; I < ReturnsThat.size(); ++I)
    if (ReturnsThat[I] < Body.Results) // Another one may be taken.
      if (Fresh &Sure = Into.Lends[I].Sure; Sure == Fresh::Yes)
        Sure = Fresh::Likely;
  auto Sorted = Found.takeVector();
  llvm::stable_sort(Sorted, [&](const auto &A, const auto &B) {
    return Context.getSourceManager().isBeforeInTranslationUnit(
        A.first->getBeginLoc(), B.first->getBeginLoc());
  });
  for (auto &[Source, Shown] : Sorted)
    Into.Danglings.push_back(std::move(Shown.second));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// \p S, if another statement can be put before it; null otherwise.
const Stmt *MemoryDomain::inBlock(const Stmt *S) const {
  const Stmt *Block = in().parentOf(S);
  // A variable between the labels of a switch would be jumped over.
  return isa_and_nonnull<CompoundStmt>(Block) &&
                 !isa_and_nonnull<SwitchStmt>(in().parentOf(Block))
             ? S
             : nullptr;
}

void MemoryDomain::visitStmt(const Stmt *Statement) {
  if (const auto *Decls = dyn_cast<DeclStmt>(Statement)) {
    for (const Decl *D : Decls->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D))
        declare(Var, Decls->isSingleDecl() ? inBlock(Decls) : nullptr);
  } else if (const auto *Return = dyn_cast<ReturnStmt>(Statement)) {
    visitReturn(Return);
  } else if (const auto *E = dyn_cast<Expr>(Statement)) {
    visitExpr(E);
  }
}

void MemoryDomain::declare(const VarDecl *Var, const Stmt *Statement) {
  S.forget(Keeper::of(Var));
  S.moved(Var);
  S.Pointers.erase(Var);
  startSize(Var, Var->getInit());
  const Expr *Init = Var->getInit();
  const Stmt *Declaration = in().declarationOf(Var);
  if (const auto *For = Declaration ? dyn_cast_or_null<CXXForRangeStmt>(
                                          in().parentOf(Declaration))
                                    : nullptr;
      For && For->getRangeStmt() == Declaration) {
    // C++23 keeps the temporaries of the range alive.
    if (!compat::isCPlusPlus23(Context.getLangOpts()))
      for (const Borrow &B : read(For->getRangeInit()))
        // What its elements hold is read where they are.
        if (!B.Owner && B.What != Borrow::Blob && B.In.empty())
          report({Dangling::Loop, B, {}, For->getForLoc(), inBlock(For)},
                 For->getRParenLoc());
    return;
  }
  if (!Init || Var->isImplicit())
    return;
  setTensor(Var, Init);
  setPointer(Var, Init);
  // Another name for what is followed under its own.
  if (Var->getType()->isReferenceType() && !isa<ExprWithCleanups>(Init) &&
      Keeper::of(Init))
    return;
  keep(Keeper::of(Var), Init, Var->getLocation(), As::Declared, Statement);
  // A static keeps what it is made of for good.
  if (Var->isStaticLocal())
    for (const Held &H : S.Env)
      if (H.By.Root == Var && H.Ended)
        report(H, *H.Ended, {}, Var->getLocation());
}

void MemoryDomain::visitReturn(const ReturnStmt *Return) {
  const Expr *Value = Return->getRetValue();
  if (!Value)
    return;
  for (Borrow &B : read(Value)) {
    if (B.In.empty() && !carriesSomewhere(F->getReturnType(), B))
      continue;
    const Borrow Living = B;
    if (!ownerDies(B)) {
      lend(Living, MemorySummary::Result, Living.In);
      continue;
    }
    // The statement reads its operands before.
    const SourceLocation At =
        contains(Value, B.Source) ? SourceLocation() : Return->getBeginLoc();
    report({Dangling::Returned, B, {}, At}, Return->getEndLoc());
  }
}

/// The variable that \p E, an operator of C++ itself, changes; null for others.
static const VarDecl *changedBy(const Expr *E) {
  const auto *Unary = dyn_cast<UnaryOperator>(E);
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  return Unary && Unary->isIncrementDecrementOp() ? namedBy(Unary->getSubExpr())
         : Binary && Binary->isAssignmentOp()     ? namedBy(Binary->getLHS())
                                                  : nullptr;
}

void MemoryDomain::visitExpr(const Expr *E) {
  if (const VarDecl *Changed = changedBy(E))
    S.moved(Changed);
  if (const auto *Op = dyn_cast<BinaryOperator>(E);
      Op && Op->getOpcode() == BO_Assign)
    return assign(Op->getLHS(), Op->getRHS(), Op->getBeginLoc());
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
      cpp::isAssignment(Op) && !isOwnAssignment(Op))
    return assign(Op->getArg(0), Op->getArg(1), Op->getBeginLoc());
  if (const auto *Delete = dyn_cast<CXXDeleteExpr>(E))
    return freed(Delete->getArgument(), Delete->getBeginLoc());
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return visitCall(Call);
  if (Out)
    visitRead(E);
}

void MemoryDomain::assign(const Expr *Left, const Expr *Right,
                          SourceLocation At) {
  // std::tie(a, b) = ...
  if (isStdCall(Left, Std::Tie)) {
    const auto *Tie = cast<CallExpr>(cpp::peel(Left));
    for (unsigned I = 0; I < Tie->getNumArgs(); ++I)
      if (const std::optional<Keeper> K = Keeper::of(Tie->getArg(I)))
        keepAll(*K, inPart(read(Right), tupleStep(I)), At, As::Assigned,
                nullptr, Right);
    return;
  }
  const Expr *Target = cpp::peel(Left);
  // `v[i] = x` of a container; of a tensor it copies elements.
  const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(Target);
  std::optional<Keeper> K = S.place(Target);
  if (!K || cpp::assignsElements(Target->getType()))
    return;
  if (Op && Op->getOperator() == OO_Subscript) {
    S.forget(*K);
    store(*K, Right, Op, At);
    return;
  }
  const auto *Var = K->Path.empty() ? dyn_cast<VarDecl>(K->Root) : nullptr;
  if (Var) {
    startSize(Var, Right);
    setPointer(Var, Right);
    if (holdsMat(Var->getType()) && !makesMat(Right))
      S.SharedMats.insert(Var);
    if (S.Tensors.count(Var) || torch::isTensor(Var->getType()))
      replaceTensor(Var, Right, At);
  }
  keep(*K, Right, At, As::Assigned);
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// \p By gets the value of \p Value. \p Statement is the declaration, if it is
/// a statement of its own.
void MemoryDomain::keep(const Keeper &By, const Expr *Value, SourceLocation At,
                        As How, const Stmt *Statement) {
  keepAll(By, read(Value), At, How, Statement, Value);
}

void MemoryDomain::keepAll(const Keeper &By, const Borrows &All,
                           SourceLocation At, As How, const Stmt *Statement,
                           const Expr *Value) {
  if (How != As::Element)
    S.forget(By);
  for (const Borrow &B : All)
    keep(By, B, At, Statement, Value);
}

void MemoryDomain::keep(Keeper By, Borrow B, SourceLocation At,
                        const Stmt *Statement, const Expr *Value) {
  if (B.In.empty() && !By.Type.isNull() && !carriesSomewhere(By.Type, B))
    return;
  if (B.In.empty() && !By.Type.isNull() && isStdClass(By.Type, {"optional"}))
    B.In = "*";
  By.Path += B.In;
  B.In.clear();
  if (isDeep(By.Path))
    return;
  Held H{std::move(By), std::move(B), At, Statement, true, std::nullopt, {}};
  H.Moved = H.By.mayMove();
  if (!H.What.Owner) {
    H.Alive = false;
    H.Ended = Dangling::Temporary;
    H.EndsAt = H.What.Source->getEndLoc();
  } else if (Value && H.What.Source && !contains(Value, H.What.Source)) {
    // A copy of what is held elsewhere is gone with it.
    for (const Held &Known : S.Env)
      if (Known.Ended && Known.What.Source == H.What.Source &&
          Known.What.Owner == H.What.Owner) {
        const auto [Sure, Unless] = std::pair(H.What.Sure, H.What.Unless);
        H.What = Known.What;
        if (Sure < H.What.Sure)
          H.What.doubt(Unless);
        H.Alive = Known.Alive;
        H.Ended = Known.Ended;
        H.EndsAt = Known.EndsAt;
      }
  }
  S.keep(std::move(H));
}

/// \p Into, an element or a container, gets \p Value by \p Call.
void MemoryDomain::store(const Keeper &Into, const Expr *Value,
                         const CallExpr *Call, SourceLocation At) {
  for (const Borrow &B : read(Value)) {
    const Stmt *Loop = in().loopAround(Call);
    const bool Followed = B.What == Borrow::Blob && B.Owner && isOwn(B.Owner) &&
                          !B.Heap && B.AtStart && !S.Tensors.count(B.Owner) &&
                          !Shared.Leaving.contains(B.Owner) &&
                          !Shared.isCopied(B.Owner);
    if (Loop && Followed && isReused(B, Into.Root, Loop, in()))
      report({Dangling::Reused, B, Into.name(), At}, At);
    else
      keep(Into, B, At, nullptr, Value);
  }
}

/// \p Var, a tensor, gets the value of \p Value.
void MemoryDomain::setTensor(const VarDecl *Var, const Expr *Value) {
  QualType T = Var->getType();
  if (!torch::isTensor(T) || !Var->isLocalVarDeclOrParm() ||
      Var->isStaticLocal())
    return;
  // A reference may keep a temporary alive; else it is an alias.
  if (T->isReferenceType() &&
      !(isa<ExprWithCleanups>(Value) && cpp::peel(Value)->isPRValue()))
    return;
  Alone Now = aloneIn(Value, Var);
  if (isEmptyValue(Value))
    Now = {Fresh::Yes, Fresh::Yes, /*OnDevice=*/false};
  S.Tensors[Var] = Now;
}

void MemoryDomain::replaceTensor(const VarDecl *Var, const Expr *Value,
                                 SourceLocation At) {
  if (isEmptyValue(Value) || aloneIn(Value).Memory >= Fresh::Likely)
    dropTensor(Var, At);
  S.Contiguous.erase(Var);
  // Borrows of what it held before are not of what it holds now.
  S.disown(Var);
  setTensor(Var, Value);
}

/// \p Var holds its tensor no longer.
void MemoryDomain::dropTensor(const VarDecl *Var, SourceLocation At) {
  S.end(Var, Dangling::Assigned, At, [&](Borrow &B) {
    if (B.What != Borrow::Data && B.What != Borrow::Shape)
      return false;
    if (!ownerDies(B))
      return false;
    // A backward that is still to come may hold it.
    if (Shared.Operands.contains(Var))
      B.doubt(Borrow::Backward);
    return true;
  });
}

/// Pointers to buffers: `float *p = v.data();`, `auto *p = new float[n];`.
void MemoryDomain::setPointer(const VarDecl *Var, const Expr *Value) {
  if (!Var->getType()->isPointerType() || !isOwn(Var))
    return;
  const Expr *E = cpp::peel(Value);
  const std::optional<Buffer> Of = bufferOf(Value);
  S.Pointers.erase(Var);
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (isa_and_nonnull<CXXNewExpr>(E) || does(Call, Std::Allocate))
    S.Pointers[Var] = {Var, nullptr, /*Heap=*/true};
  else if (Of && !torch::asAccess(Call) && !Of->Heap)
    S.Pointers[Var] = *Of;
}

void MemoryDomain::freed(const Expr *Pointer, SourceLocation At) {
  const VarDecl *Var = namedBy(Pointer);
  if (!Var)
    return;
  S.end(Var, Dangling::Freed, At, [](Borrow &B) { return B.Heap; });
  // Still the caller's pointer?
  if (auto It = S.Pointers.find(Var);
      It != S.Pointers.end() && It->second.Owner == Var && indexOf(Var))
    S.Freed.insert(Var);
}

/// How sure is it that what \p F returns is alone, on each of its ways?
static Fresh madeIn(const FunctionDecl *F, const Sharing &Shared,
                    MemorySummaries Callees) {
  const ASTContext &Context = F->getASTContext();
  auto Made = [&](const CallExpr *Call) { return madeBy(Call, Callees); };
  // Of a local variable that is set once, and goes nowhere but out.
  auto Local = [&](const VarDecl *Var) {
    auto Nothing = [](const VarDecl *) {
      return std::pair(Fresh::No, torch::TensorTraits());
    };
    return isOwn(Var) && !isa<ParmVarDecl>(Var) && Var->hasInit() &&
                   Shared.Copies.lookup(Var) <= 1 &&
                   cpp::Body::of(F).isSetOnce(Var)
               ? torch::freshMemory(Var->getInit(), Context, Nothing,
                                    /*OfHandle=*/false, Made)
               : Nothing(Var);
  };
  std::optional<Fresh> Least;
  forEach<ReturnStmt>(
      F->getBody(),
      [&](const ReturnStmt *Return) {
        const Fresh Is =
            torch::freshMemory(Return->getRetValue(), Context, Local,
                               /*OfHandle=*/false, Made)
                .first;
        Least = Least ? std::min(*Least, Is) : Is;
      },
      cpp::Lambdas::Skipped);
  return Least.value_or(Fresh::No);
}

/// Adds what the domain of layouts says of \p F.
static void addLayouts(const FunctionDecl *F, MemorySummaries Callees,
                       FieldValues Fields, MemoryOf &Result) {
  if (!LayoutDomain::concerns(F, Callees))
    return;
  std::optional<FlowGraph> Graph = FlowGraph::of(F, cpp::Grain::Everything);
  LayoutDomain Domain(F, Callees, Fields);
  unsigned Visits = 0;
  const auto In = Graph ? runToFixpoint(*Graph, Domain, Domain.start(), Visits)
                        : std::nullopt;
  if (In)
    Domain.report(*Graph, *In, Result);
}

MemoryOf analyseMemory(const FunctionDecl *F, MemorySummaries Callees,
                       FieldValues Fields) {
  MemoryOf Result;
  addLayouts(F, Callees, Fields, Result);
  const MemoryBody Body(F, Callees);
  const bool Takes =
      llvm::any_of(F->parameters(), [](const ParmVarDecl *Param) {
        return torch::mayHoldTensor(Param->getType()) ||
               holdsMat(Param->getType());
      });
  const bool Makes = torch::isTensor(F->getReturnType()) &&
                     !F->getReturnType()->isReferenceType();
  if (!Body.Concerned && !Takes && !Makes)
    return Result;
  const Sharing Shared = Sharing::in(F, Callees);
  if (Makes)
    Result.Made = madeIn(F, Shared, Callees);
  for (const ParmVarDecl *Param : F->parameters()) {
    if (Shared.isCopied(Param) || Shared.Leaving.contains(Param))
      Result.Keeps.insert(Param->getFunctionScopeIndex());
    if (Shared.Operands.contains(Param))
      Result.Operands.insert(Param->getFunctionScopeIndex());
  }
  if (!Body.Concerned)
    return Result;
  std::optional<FlowGraph> Graph = FlowGraph::of(F, cpp::Grain::Everything);
  MemoryDomain Domain(F, Callees, Body, Shared);
  unsigned Visits = 0;
  auto In = Graph ? runToFixpoint(*Graph, Domain, Domain.start(), Visits)
                  : std::nullopt;
  Result.Available = In.has_value();
  if (In)
    Domain.report(*Graph, *In, Result);
  return Result;
}

std::vector<Dangling> findDangling(const VarDecl *Var,
                                   MemorySummaries Callees) {
  std::vector<Dangling> Found;
  if (!Var->hasInit() || Var->getType()->isDependentType())
    return Found;
  const Sharing Nothing;
  const MemoryValues Values(Var->getASTContext(), Callees, Nothing);
  for (const Borrow &B : Values.read(Var->getInit())) {
    if (B.Owner || !MemoryValues::carriesSomewhere(Var->getType(), B))
      continue;
    Found.push_back(
        {Dangling::Temporary, B, Var->getNameAsString(), Var->getLocation()});
    break;
  }
  return Found;
}

} // namespace libtorch_tidy::flow
