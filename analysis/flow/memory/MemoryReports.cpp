//===- MemoryReports.cpp - What dangles, and what callers are told --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Walk.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using torch::Fresh;

/// Is the value of \p Place only copied to another place, which is followed?
bool MemoryDomain::isCopied(const Expr *Place) const {
  const auto *Copy = dyn_cast_or_null<CXXConstructExpr>(in().outerOf(Place));
  if (!Copy || !Copy->getConstructor()->isCopyOrMoveConstructor())
    return false;
  const Stmt *User = in().outerOf(Copy);
  return isa_and_nonnull<DeclStmt>(User) ||
         cpp::isAssignment(dyn_cast_or_null<CallExpr>(User));
}

bool isAssigned(const Expr *Place, const cpp::Body &In) {
  const Stmt *User = In.outerOf(Place);
  if (const auto *Op = dyn_cast_or_null<BinaryOperator>(User))
    return Op->getOpcode() == BO_Assign && cpp::peel(Op->getLHS()) == Place;
  const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(User);
  return cpp::isAssignment(Assign) && cpp::peel(Assign->getArg(0)) == Place;
}

/// Does \p Place, a parameter or what it points to, only get other values or
/// more elements?
static bool isFilled(const Expr *Place, const cpp::Body &In) {
  if (isAssigned(Place, In))
    return true;
  const auto *Method = dyn_cast_or_null<CXXMemberCallExpr>(In.callOn(Place));
  if (!Method ||
      cpp::peel(Method->getImplicitObjectArgument()) != cpp::peel(Place))
    return false;
  if (readsNoElement(Method) || cpp::does(Method, cpp::Std::Size))
    return true;
  // to.insert(to.end(), value)
  const Stmt *User = In.userOf(Method);
  while (isa_and_nonnull<CXXConstructExpr>(User))
    User = In.userOf(cast<Expr>(User));
  return cpp::does(Method, cpp::Std::Iterator) &&
         cpp::does(dyn_cast_or_null<CallExpr>(User),
                   cpp::Std::Insert | cpp::Std::Remove);
}

/// Does the method that \p Object is the object of read none of its fields
/// called as the first step of \p Path says?
bool MemoryDomain::onlyWrites(const Expr *Object, StringRef Path) const {
  const auto *Call = in().callOn(Object);
  const auto *Method =
      Call ? dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee()) : nullptr;
  if (!Method || Method->isVirtual() || !Method->getDefinition() ||
      cpp::peel(cpp::calledOn(Call)) != cpp::peel(Object) ||
      !Path.starts_with("."))
    return false;
  const FunctionDecl *Body = Method->getDefinition();
  const StringRef Name = takeStep(Path).drop_front();
  return !cpp::anyOf<CXXThisExpr>(
      Body->getBody(), [&](const CXXThisExpr *This) {
        const auto *Member =
            dyn_cast_or_null<MemberExpr>(cpp::Body::of(Body).outerOf(This));
        if (!Member || !isa<FieldDecl>(Member->getMemberDecl()))
          return true;
        if (cpp::nameOf(Member->getMemberDecl()) != Name)
          return false;
        return !isAssigned(Member, cpp::Body::of(Body));
      });
}

/// Is \p Place, or its address, an argument of a function that does nothing
/// with the parameter but give it another value or more elements?
bool MemoryDomain::isOnlyFilled(const Expr *Place) const {
  if (const auto *Address =
          dyn_cast_or_null<UnaryOperator>(in().outerOf(Place));
      Address && Address->getOpcode() == UO_AddrOf)
    Place = Address;
  const CallExpr *Call = in().callOn(Place);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  F = F ? F->getDefinition() : nullptr;
  if (!F || (Method && Method->isVirtual()) || isa<CXXOperatorCallExpr>(Call))
    return false;
  const auto Arg = llvm::find_if(Call->arguments(), [&](const Expr *A) {
    return cpp::peel(A) == cpp::peel(Place);
  });
  const auto Index = std::distance(Call->arg_begin(), Arg);
  if (Arg == Call->arg_end() || Index >= std::ptrdiff_t(F->getNumParams()))
    return false;
  const ParmVarDecl *Param = F->getParamDecl(Index);
  const QualType T = Param->getType();
  const cpp::Body &There = cpp::Body::of(F);
  return (T->isPointerType() || T->isLValueReferenceType()) &&
         !cpp::anyOf<DeclRefExpr>(F->getBody(), [&](const DeclRefExpr *Ref) {
           if (Ref->getDecl() != Param)
             return false;
           const Expr *Written = Ref;
           if (T->isPointerType()) {
             const auto *Star =
                 dyn_cast_or_null<UnaryOperator>(There.outerOf(Ref));
             if (!Star || Star->getOpcode() != UO_Deref)
               return true;
             Written = Star;
           }
           return !isFilled(Written, There);
         });
}

/// Is \p Iterator one of two that lead to all elements: of q.begin(), q.end()?
static bool isOfRange(const CallExpr *Iterator, const cpp::Body &In) {
  const auto *User = dyn_cast_or_null<Expr>(In.userOf(Iterator));
  const auto Around = User ? cpp::Call::of(User) : std::nullopt;
  return Around && llvm::any_of(Around->Args, [&](const Expr *Arg) {
           const Expr *Other = iteratedBy(Arg);
           return Other && cpp::stripImplicit(Arg) != Iterator &&
                  isSamePlace(Other, iteratedBy(Iterator));
         });
}

void MemoryDomain::visitRead(const Expr *E) {
  SourceLocation At;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    // Of `auto [a, b] = pair` a and b are read, of a range its elements.
    if (!isa<DecompositionDecl>(Ref->getDecl()) &&
        !Ref->getDecl()->isImplicit())
      At = Ref->getLocation();
  } else if (const auto *Member = dyn_cast<MemberExpr>(E);
             Member && isa<CXXThisExpr>(cpp::peel(Member->getBase()))) {
    At = Member->getMemberLoc();
  }
  if (At.isInvalid() ||
      llvm::none_of(S.Env, [](const Held &H) { return H.Ended.has_value(); }))
    return;
  // What a loop's iterator leads to.
  if (const auto *Star = dyn_cast_or_null<Expr>(in().outerOf(E));
      Star && rangeOf(E) && partOf(Star).Whole)
    E = Star;
  const std::optional<Keeper> Root = Keeper::of(E);
  if (!Root || llvm::none_of(S.Env, [&](const Held &H) {
        return H.Ended && H.By.Root == Root->Root;
      }))
    return;
  // The part that is read.
  const Expr *Top = E;
  bool Silent = Body.Silent.contains(E);
  for (const Expr *Outer = E; Outer;
       Outer = dyn_cast_or_null<Expr>(in().outerOf(Outer))) {
    if (Outer != E && cpp::peel(partOf(Outer).Whole) == Top) {
      Top = Outer;
      Silent |= Body.Silent.contains(Top);
    } else if (Outer != E && !isa<CastExpr, MemberExpr>(Outer)) {
      break; // `v.back` is a member on the way to its call.
    }
  }
  const std::optional<Keeper> Read = S.place(Top);
  if (!Read)
    return;
  // begin() and its like.
  const CallExpr *Iterator = in().callOn(Top);
  if (!Iterator || cpp::peel(iteratedBy(Iterator)) != cpp::peel(Top))
    Iterator = nullptr;
  Silent |= Iterator && onlyTellsPlace(Iterator);
  for (const Held &H : S.Env) {
    if (!H.Ended || H.By.Root != Read->Root || H.isReplacedIn(Read->Path))
      continue;
    const auto Inside = pathWithin(H.By.Path, Read->Path);
    const auto Beyond = pathWithin(Read->Path, H.By.Path);
    // What is written through a pointer reads the pointer.
    if (Inside && isOnlyFilled(Top))
      continue;
    const bool IsRead = Silent ? Beyond && leadsOut(*Beyond)
                        : Inside && !Inside->empty()
                            ? !isCopied(Top) && !onlyWrites(Top, *Inside)
                            : Inside || Beyond;
    if (!IsRead)
      continue;
    Held Here = H;
    if (!H.isSurelyIn(*Read) || (Iterator && !isOfRange(Iterator, in())))
      Here.What.doubt(Borrow::Element);
    report(Here, *H.Ended, At, At);
  }
}

/// The parameters go, and what outlives the function keeps what it has.
void MemoryDomain::leaveFunction() {
  const SourceLocation End = F->getBody()->getEndLoc();
  for (const VarDecl *Param : S.Freed)
    if (std::optional<unsigned> Index = indexOf(Param))
      Out->Frees.insert(*Index);
  for (const ParmVarDecl *Param : F->parameters())
    leaveScope(Param, End);
  for (const Held &H : S.Env) {
    if (!H.By.outlives())
      continue;
    if (H.Ended) {
      report(H, *H.Ended == Dangling::Scope ? Dangling::Stored : *H.Ended, {},
             End);
    } else if (isa<FieldDecl>(H.By.Root)) {
      lend(H.What, MemorySummary::This,
           fieldStep(cast<FieldDecl>(H.By.Root)) + H.By.Path);
    } else if (std::optional<unsigned> To = indexOf(H.By.Root)) {
      lend(H.What, *To, H.By.Path);
    }
  }
}

/// Of the findings about a borrowing expression one is reported: of the surest
/// ones the first in the source that comes after the borrowing, else the first.
void MemoryDomain::report(Dangling D, SourceLocation At) {
  if (!Out || D.What.What == Borrow::Given)
    return;
  D.Body = F->getBody();
  auto [It, New] = Found.insert({D.What.Source, {At, D}});
  if (const Fresh Known = It->second.second.What.Sure; Known != D.What.Sure) {
    if (Known < D.What.Sure)
      It->second = {At, std::move(D)};
    return;
  }
  const SourceLocation Known = It->second.first;
  // In a loop the expression itself may be the next to read what it keeps.
  const SourceLocation Made = D.What.Source->getEndLoc();
  const SourceManager &SM = Context.getSourceManager();
  const bool IsLater = !SM.isBeforeInTranslationUnit(At, Made);
  const bool KnownIsLater = !SM.isBeforeInTranslationUnit(Known, Made);
  if (!New &&
      (IsLater != KnownIsLater ? IsLater
                               : SM.isBeforeInTranslationUnit(At, Known)))
    It->second = {At, std::move(D)};
}

void MemoryDomain::report(const Held &H, Dangling::How Why,
                          SourceLocation UsedAt, SourceLocation At) {
  report({Why, H.What, H.By.name(), H.KeptAt, H.Statement, H.EndsAt, UsedAt},
         At);
}

std::optional<unsigned> MemoryDomain::indexOf(const ValueDecl *D) const {
  const auto *Param = dyn_cast_or_null<ParmVarDecl>(D);
  if (!Param || Param->getDeclContext() != F)
    return std::nullopt;
  return Param->getFunctionScopeIndex();
}

/// The caller's memory goes to \p To.
void MemoryDomain::lend(const Borrow &B, unsigned To, StringRef Field) {
  std::optional<unsigned> Of = indexOf(B.Owner);
  if (!Out || !Of || B.What == Borrow::Elements)
    return;
  // What a parameter has when the function begins.
  if (B.What == Borrow::Given && *Of == To && Field.empty())
    return;
  // A copy of the caller's object, but for tensors, which share.
  const QualType T = B.Owner->getType();
  if (!T->isReferenceType() && !T->isPointerType() && !torch::isTensor(T) &&
      B.What != Borrow::Given)
    return;
  MemorySummary::Lent L{*Of,       To,     withoutNames(Field), B.What,  B.Sure,
                        B.Through, B.Part, B.AtStart,           B.Traits};
  std::vector<MemorySummary::Lent> &Lends = Out->Lends;
  auto Known = llvm::find_if(Lends, [&](const auto &Other) {
    return Other.Of == L.Of && Other.To == L.To && Other.Field == L.Field &&
           Other.What == L.What;
  });
  const size_t Index = Known - Lends.begin();
  if (Known == Lends.end()) {
    Lends.push_back(std::move(L));
    ReturnsThat.push_back(To == MemorySummary::Result ? 0 : Body.Results);
  } else if (L.Sure < Known->Sure) {
    *Known = std::move(L);
  }
  if (To == MemorySummary::Result)
    ++ReturnsThat[Index];
}

} // namespace libtorch_tidy::flow
