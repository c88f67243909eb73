//===- MemoryContainers.cpp - Elements that come and go -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What operations on containers do to the places of their elements, and which
/// mentions of a container read none of them.

#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/modules/Kept.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy::flow {

using namespace cpp;

//===----------------------------------------------------------------------===//
// How many there are
//===----------------------------------------------------------------------===//

/// Is \p Var a container that nobody else adds to?
bool MemoryDomain::isCounted(const VarDecl *Var) const {
  return in().isOwn(Var) &&
         isStdClass(Var->getType(),
                    {"vector", "deque", "list", "stack", "queue"}) &&
         llvm::none_of(in().writesTo(Var), [](const Write &W) {
           return W.InLambda || W.Kind == WriteKind::Escaped ||
                  (W.Kind == WriteKind::Released && !W.Overwritten);
         });
}

/// \p Var is made of \p Value, or gets it.
void MemoryDomain::startSize(const VarDecl *Var, const Expr *Value) {
  S.Sizes.erase(Var);
  if (!Value || !isCounted(Var))
    return;
  const auto *Made = dyn_cast_or_null<CXXConstructExpr>(cpp::valueOf(Value));
  const Expr *Only = Made ? cpp::onlyArgument(Made) : nullptr;
  if (isEmptyValue(Value) || (Made && cpp::writtenArguments(Made).empty()))
    S.Sizes[Var] = 0;
  else if (isa_and_nonnull<CXXStdInitializerListExpr>(cpp::peel(Only)))
    S.Sizes[Var] = cpp::listElements(Only).size();
  else if (const auto Number = cpp::constantInt(Only, Context);
           Number && *Number >= 0 && Only->getType()->isIntegerType())
    S.Sizes[Var] = *Number;
}

//===----------------------------------------------------------------------===//
// What is added
//===----------------------------------------------------------------------===//

/// The place in \p Into of the element that \p C adds. Others may be elsewhere
/// then.
Keeper MemoryDomain::placeOfNew(const Call &C, Keeper Into,
                                const Insertion &Added) {
  const QualType T = C.Object->getType();
  unsigned *Size = S.sizeOf(Into);
  const bool Ordered = isStdClass(T, StdClass::Sequence);
  // q.insert(q.begin(), x)
  const Expr *Where = Added.Given.size() > 1 ? Added.Given.front() : nullptr;
  const CallExpr *Position = iteratorOf(Where);
  if (!isSamePlace(C.Object, iteratedBy(Position)))
    Position = nullptr;
  const bool One =
      !Where || C.does(Std::Emplace) ||
      (Added.Given.size() == 2 &&
       !isa_and_nonnull<CXXStdInitializerListExpr>(cpp::peel(Added.value())));
  const bool AtEnd = C.does(Std::AtEnd) || isStdClass(T, {"stack", "queue"}) ||
                     (Ordered && does(Position, Std::End));
  if (One && AtEnd && hasLastElement(T)) {
    Into.Path += Size ? numberStep((*Size)++) : LastElement.str();
    return Into;
  }
  if (One && (C.does(Std::First) || (Ordered && does(Position, Std::Begin)))) {
    S.shift(Into, 1);
    if (Size)
      ++*Size;
    Into.Path += FirstElement;
    return Into;
  }
  if (Size)
    S.Sizes.erase(cast<VarDecl>(Into.Root));
  if (Ordered && !AtEnd)
    S.shift(Into, std::nullopt);
  const bool WithKey =
      Added.Given.size() == 2 && isStdClass(T, {"map", "unordered_map"});
  Into.enter(WithKey ? Added.Given.front() : nullptr);
  if (WithKey)
    Into.Path += tupleStep(1);
  return Into;
}

std::optional<Done> MemoryDomain::insertion(const Call &C,
                                            const Insertion &Added) {
  std::optional<Keeper> K = S.place(C.Object);
  if (!K)
    return std::nullopt;
  const SourceLocation At = C.E->getBeginLoc();
  // An optional has one value.
  if (isStdClass(C.Object->getType(), StdClass::Box)) {
    const auto *Optional = cpp::recordOf(C.Object->getType());
    K->Path += "*";
    K->Type = isStdClass(Optional, {"optional"}) ? cpp::firstArgument(Optional)
                                                 : QualType();
    keep(*K, Added.value(), At, As::Assigned);
    return Done();
  }
  if (!C.Callee ||
      !isUserCode(C.Callee->getLocation(), Context.getSourceManager())) {
    const Keeper New = placeOfNew(C, *K, Added);
    const bool WithKey =
        Added.Given.size() == 2 &&
        isStdClass(C.Object->getType(), {"map", "unordered_map"});
    // emplace() and its like leave what the key has.
    if (WithKey && C.does(Std::Assign))
      S.forget(New);
    else if (WithKey && llvm::any_of(S.Env, [&](const Held &H) {
               return H.By.Root == New.Root && !contains(C.E, H.What.Source) &&
                      pathWithin(H.By.Path, New.Path, /*Surely=*/true);
             }))
      return Done();
    *K = New;
    if (C.Object->getType()->isPointerType())
      K->Type = K->Type->getPointeeType();
    for (const Expr *Given : Added.Given)
      store(*K, Given, Added.Call, At);
    return Done();
  }
  // It may only be called so: what it keeps is what its body stores.
  for (const torch::StoredArgument &Stored : torch::storedArguments(C.Callee))
    if (Stored.Index < C.Args.size())
      store(*K, C.Args[Stored.Index], Added.Call, At);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is taken out, overwritten and exchanged
//===----------------------------------------------------------------------===//

/// \p C takes single elements out of \p From.
void MemoryDomain::removal(const Call &C, const Expr *From) {
  const std::optional<Keeper> K = S.place(From);
  if (!K)
    return;
  const QualType T = From->getType();
  const CallExpr *Which = C.Written ? iteratorOf(C.Args[0]) : nullptr;
  unsigned *Size = S.sizeOf(*K);
  Keeper Gone = *K;
  if (C.does(Std::AtEnd) || isStdClass(T, {"stack"})) {
    Gone.Path += Size && *Size ? numberStep(*Size - 1) : LastElement.str();
    S.remove(Gone);
    S.lastMoved(*K);
  } else if (C.does(Std::First) || isStdClass(T, {"queue"}) ||
             (C.Written == 1 && does(Which, Std::Begin) &&
              isSamePlace(From, iteratedBy(Which)))) {
    Gone.Path += FirstElement;
    S.remove(Gone);
    S.shift(*K, -1);
  } else if (C.Written == 2 && does(Which, Std::Begin) &&
             does(iteratorOf(C.Args[1]), Std::End)) {
    S.forget(*K);
    if (Size)
      *Size = 0;
    return;
  } else if (isStdClass(T, StdClass::Sequence)) {
    S.shift(*K, std::nullopt);
    S.doubtElements(*K);
    if (C.Written == 2 && Size)
      S.Sizes.erase(cast<VarDecl>(K->Root));
    else if (Size && *Size)
      --*Size;
    return;
  } else {
    // What a map has for a key.
    Gone.enter(C.Written == 1 ? C.Args[0] : nullptr);
    S.remove(Gone);
    S.doubtElements(Gone);
    return;
  }
  if (Size && *Size)
    --*Size;
  else
    S.doubtElements(*K);
}

/// \p C gives \p Of another number of elements: those from there on are gone,
/// and where it is not known which these are, any may be.
void MemoryDomain::resizing(const Call &C, const Expr *Of) {
  const std::optional<Keeper> K = S.place(Of);
  if (!K)
    return;
  const auto Number = constantInt(C.Args[0], Context);
  unsigned *Size = S.sizeOf(*K);
  const bool Grows = Size && Number && *Number >= *Size;
  if (!Grows)
    S.forget(*K);
  if (Size && Number && *Number >= 0)
    *Size = *Number;
  else if (Size)
    S.Sizes.erase(cast<VarDecl>(K->Root));
  S.lastMoved(*K);
}

/// \p C gives all elements of \p All another value.
Done MemoryDomain::overwriting(const Call &C, const Expr *All) {
  std::optional<Keeper> K = S.place(All);
  if (!K)
    return {};
  const Expr *Value = C.Args[C.Written - 1];
  Borrows New = read(Value);
  S.forget(*K);
  if (S.sizeOf(*K) && C.does(Std::Insert))
    S.Sizes.erase(cast<VarDecl>(K->Root));
  // Elements of a list have places of their own.
  if (!isa_and_nonnull<CXXStdInitializerListExpr>(cpp::peel(Value)))
    K->Path += EachElement;
  // What assign(p, p + n) copies is what these lead to.
  K->Type = cpp::firstArgument(cpp::recordOf(All->getType()));
  keepAll(*K, New, C.E->getBeginLoc(), As::Element, nullptr, Value);
  return {};
}

/// a.swap(b), std::swap(a, b)
Done MemoryDomain::swap(const Call &C) {
  const Expr *One = C.Object ? C.Object : C.Args[0];
  const Expr *Other = C.Args[C.Written - 1];
  const std::optional<Keeper> A = S.place(One), B = S.place(Other);
  if (A && B)
    S.swap(*A, *B);
  else if (A || B)
    S.forget(A ? *A : *B);
  for (const Expr *E : {One, Other})
    if (const VarDecl *Var = namedBy(E)) {
      S.Tensors.erase(Var);
      S.Pointers.erase(Var);
      S.Contiguous.erase(Var);
      S.Sizes.erase(Var);
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Loops that overwrite all elements
//===----------------------------------------------------------------------===//

/// The places of elements that each round of \p Loop gives another value.
const std::vector<Keeper> &MemoryDomain::overwrittenIn(const Stmt *Loop) {
  const auto [Known, IsNew] = Overwritten.try_emplace(Loop);
  std::vector<Keeper> &Places = Known->second;
  const auto *Range = dyn_cast<CXXForRangeStmt>(Loop);
  const auto *For = dyn_cast<ForStmt>(Loop);
  // `auto it = q.begin(), end = q.end()` declares two.
  const auto *Declared =
      For ? dyn_cast_or_null<DeclStmt>(For->getInit()) : nullptr;
  const Decl *Var = Range      ? Range->getLoopVariable()
                    : Declared ? *Declared->decl_begin()
                               : nullptr;
  const Stmt *Body = bodyOf(Loop);
  if (!IsNew || !Var || !Body || anyOf<Stmt>(Body, [](const Stmt *S) {
        return isa<ContinueStmt, GotoStmt>(S);
      }))
    return Places;
  auto Add = [&](const Expr *Place) {
    const std::optional<Keeper> K = Keeper::of(Place);
    const auto *Whole = dyn_cast<DecompositionDecl>(Var);
    if (!K || !anyOf<DeclRefExpr>(Place, [&](const DeclRefExpr *Ref) {
          return Ref->getDecl() == Var ||
                 (Whole &&
                  llvm::is_contained(Whole->bindings(), Ref->getDecl()));
        }))
      return;
    if (llvm::StringRef(K->Path).contains(EachElement))
      Places.push_back(*K);
    else if (const auto *Counter = dyn_cast<VarDecl>(Var))
      llvm::append_range(Places, K->inRoundsOf(Counter));
  };
  const auto *Block = dyn_cast<CompoundStmt>(Body);
  llvm::SmallVector<const Stmt *, 8> Round;
  if (Block)
    Round.append(Block->body_begin(), Block->body_end());
  else
    Round.push_back(Body);
  for (const Stmt *S : Round) {
    if (isLoop(S)) {
      // Of each element each part.
      for (const Keeper &K : overwrittenIn(S))
        if (llvm::StringRef(K.Path).count(EachElement) > 1)
          Places.push_back(K);
      continue;
    }
    const auto *E = dyn_cast<Expr>(S);
    E = E ? cpp::peel(E) : nullptr;
    const auto *Op = dyn_cast_or_null<BinaryOperator>(E);
    const auto *Call = dyn_cast_or_null<CallExpr>(E);
    if (Op && Op->getOpcode() == BO_Assign)
      Add(Op->getLHS());
    else if (isAssignment(Call))
      Add(Call->getArg(0));
    else if (isRelease(Call))
      Add(cpp::calledOn(Call));
  }
  return Places;
}

/// Where the condition of a loop is false, what each round overwrites is gone,
/// also after no round: then there is no element.
std::optional<MemoryState> MemoryDomain::along(const CFGBlock &Block,
                                               const CFGBlock &Successor,
                                               const State &After) {
  const Stmt *Loop = Block.getTerminatorStmt();
  if (!isa_and_nonnull<ForStmt, CXXForRangeStmt>(Loop) ||
      Block.succ_size() != 2 || *(Block.succ_begin() + 1) != &Successor ||
      overwrittenIn(Loop).empty())
    return std::nullopt;
  const SourceManager &SM = Context.getSourceManager();
  State Left = After;
  for (const Keeper &K : overwrittenIn(Loop))
    llvm::erase_if(Left.Env, [&](const Held &H) {
      return H.By.Root == K.Root &&
             pathWithin(H.By.Path, K.Path, /*Surely=*/true) &&
             !isWithin(H.KeptAt, Loop, SM);
    });
  return Left;
}

//===----------------------------------------------------------------------===//
// Iterators
//===----------------------------------------------------------------------===//

/// Is \p Iterator only compared, moved on, written to, or told to a method that
/// adds, takes out or overwrites elements? No element is read by it then, but
/// for those that it leads to one after the other, which are read where it
/// does.
bool MemoryDomain::onlyTellsPlace(const Expr *Iterator, unsigned Depth) const {
  auto IsVariable = [&](const VarDecl *Var) {
    return Depth < 3 && in().isOwn(Var) &&
           !anyOf<DeclRefExpr>(
               in().root(),
               [&](const DeclRefExpr *Ref) {
                 return Ref->getDecl() == Var &&
                        !onlyTellsPlace(Ref, Depth + 1);
               });
  };
  const Stmt *User = in().userOf(Iterator);
  if (const auto *Declared = dyn_cast_or_null<DeclStmt>(User)) {
    for (const Decl *D : Declared->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D);
          Var && Var->hasInit() &&
          cpp::stripImplicit(Var->getInit()) == cpp::stripImplicit(Iterator))
        return IsVariable(Var);
    return false;
  }
  const auto *E = dyn_cast_or_null<Expr>(User);
  if (!E)
    return !isa_and_nonnull<ReturnStmt>(User);
  const auto IsLeft = [&](const Expr *Left) {
    return cpp::stripImplicit(Left) == cpp::stripImplicit(Iterator);
  };
  // What it leads to is written, or only asked for a property, or one of all.
  auto IsWritten = [&] {
    const Stmt *Outer = in().outerOf(E);
    const auto *Place =
        isa_and_nonnull<MemberExpr>(Outer) ? cast<Expr>(Outer) : E;
    const auto *Method = dyn_cast_or_null<CXXMemberCallExpr>(in().callOn(E));
    return rangeOf(Iterator) || isAssigned(Place, in()) ||
           (Method && readsNoElement(Method));
  };
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E)) {
    if (Op->isComparisonOp())
      return true;
    switch (Op->getOperator()) {
    case OO_Star:
    case OO_Arrow:
      return IsWritten();
    case OO_Equal:
      return IsLeft(Op->getArg(0)) ||
             (namedBy(Op->getArg(0)) && IsVariable(namedBy(Op->getArg(0))));
    case OO_Plus:
    case OO_Minus:
    case OO_PlusPlus:
    case OO_MinusMinus:
    case OO_PlusEqual:
    case OO_MinusEqual:
      return Op->getType()->isIntegerType() || onlyTellsPlace(Op, Depth);
    default:
      return false;
    }
  }
  if (const auto *Op = dyn_cast<BinaryOperator>(E))
    return Op->isComparisonOp() || Op->getType()->isIntegerType() ||
           (Op->isAdditiveOp() && onlyTellsPlace(Op, Depth)) ||
           (Op->isAssignmentOp() &&
            (IsLeft(Op->getLHS()) ||
             (namedBy(Op->getLHS()) && IsVariable(namedBy(Op->getLHS())))));
  if (const auto *Op = dyn_cast<UnaryOperator>(E))
    return Op->getOpcode() == UO_Deref
               ? IsWritten()
               : Op->isIncrementDecrementOp() && onlyTellsPlace(Op, Depth);
  if (const auto *Converted = dyn_cast<CXXConstructExpr>(E))
    return cpp::onlyArgument(Converted) && onlyTellsPlace(Converted, Depth);
  const auto *Called = dyn_cast<CallExpr>(E);
  if (isStdCall(Called, Std::Advance))
    return !Called->getType()->isRecordType() || onlyTellsPlace(Called, Depth);
  return does(Called, Std::Overwrite | Std::Insert | Std::Remove) &&
         isOfLibrary(Called->getDirectCallee());
}

} // namespace libtorch_tidy::flow
