//===- MemoryValues.cpp - The memory that expressions refer to ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Types.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using torch::Fresh;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

const VarDecl *namedBy(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(cpp::peel(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

bool isOwn(const VarDecl *Var) {
  return Var && Var->isLocalVarDeclOrParm() && !Var->isStaticLocal() &&
         Var->getTLSKind() == VarDecl::TLS_None &&
         !Var->getType()->isReferenceType() &&
         !Var->getType()->isDependentType();
}

std::optional<Keeper> Keeper::of(const Expr *E) {
  E = cpp::peel(E);
  if (!E)
    return std::nullopt;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (!isa<VarDecl>(Ref->getDecl()))
      return std::nullopt;
    return Keeper{Ref->getDecl()};
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    const VarDecl *Var = namedBy(Unary->getSubExpr());
    if (Unary->getOpcode() == UO_Deref && Var)
      return Keeper{Var, nullptr, true};
    return std::nullopt;
  }
  const auto *Member = dyn_cast<MemberExpr>(E);
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  if (!Field)
    return std::nullopt;
  if (isa<CXXThisExpr>(cpp::peel(Member->getBase())))
    return Keeper{Field};
  if (const VarDecl *Var = namedBy(Member->getBase()))
    return Keeper{Var, Field, Member->isArrow()};
  return std::nullopt;
}

std::string Keeper::name() const {
  std::string Name = Root->getNameAsString();
  if (isa<FieldDecl>(Root))
    return Name;
  if (Field)
    return Name + (Pointee ? "->" : ".") + Field->getNameAsString();
  return (Pointee ? "*" : "") + Name;
}

bool Keeper::outlives() const {
  const auto *Var = dyn_cast<VarDecl>(Root);
  if (!Var || !Var->isLocalVarDeclOrParm() || Var->isStaticLocal())
    return true;
  return isa<ParmVarDecl>(Var) &&
         (Pointee ? Var->getType()->isPointerType()
                  : Var->getType()->isLValueReferenceType());
}

const Expr *pointerMoved(const Expr *E) {
  const auto *Binary = dyn_cast_or_null<BinaryOperator>(cpp::peel(E));
  if (!Binary || !Binary->isAdditiveOp() || !Binary->getType()->isPointerType())
    return nullptr;
  return Binary->getLHS()->getType()->isPointerType() ? Binary->getLHS()
                                                      : Binary->getRHS();
}

void MemoryState::keep(Held H) {
  for (Held &Known : Env)
    if (Known.isSame(H)) {
      Known = std::move(H);
      return;
    }
  if (Env.size() < MaxHeld)
    Env.push_back(std::move(H));
}

void MemoryState::forget(const ValueDecl *Root) {
  llvm::erase_if(Env, [&](const Held &H) { return H.By.Root == Root; });
}

void MemoryState::forget(const Keeper &K) {
  if (!K.Field)
    return forget(K.Root);
  llvm::erase_if(Env, [&](const Held &H) { return H.By == K; });
}

void MemoryState::end(const VarDecl *Owner, Dangling::How How,
                      SourceLocation At,
                      llvm::function_ref<bool(Borrow &)> Dies) {
  for (Held &H : Env) {
    if (H.What.Owner != Owner || !H.Alive)
      continue;
    Borrow AtEnd = H.What;
    if (!Dies(AtEnd))
      continue;
    H.Alive = false;
    if (H.Ended) // On another way, and earlier.
      continue;
    H.What = AtEnd;
    H.Ended = How;
    H.EndsAt = At;
  }
}

void MemoryState::disown(const VarDecl *Owner) {
  for (Held &H : Env)
    if (H.What.Owner == Owner)
      H.Alive = false;
  llvm::erase_if(Env, [](const Held &H) { return !H.Alive && !H.Ended; });
}

bool MemoryState::join(const MemoryState &Other) {
  bool Changed = false;
  for (const Held &From : Other.Env) {
    auto Into =
        llvm::find_if(Env, [&](const Held &H) { return H.isSame(From); });
    if (Into == Env.end()) {
      if (Env.size() < MaxHeld) {
        Env.push_back(From);
        Changed = true;
      }
      continue;
    }
    if (From.Alive && !Into->Alive)
      Changed = Into->Alive = true;
    if (From.Ended && !Into->Ended) {
      Into->Ended = From.Ended;
      Into->EndsAt = From.EndsAt;
      Into->What.Sure = From.What.Sure;
      Into->What.Unless = From.What.Unless;
      Changed = true;
    }
  }
  // What holds on all ways.
  for (const auto &[Var, Here] : llvm::to_vector(Tensors)) {
    auto It = Other.Tensors.find(Var);
    if (It == Other.Tensors.end()) {
      Changed |= Tensors.erase(Var);
      continue;
    }
    const Alone Both{std::min(Here.Memory, It->second.Memory),
                     std::min(Here.Handle, It->second.Handle),
                     Here.OnDevice && It->second.OnDevice};
    Changed |= cpp::fieldsOf(Both) != cpp::fieldsOf(Here);
    Tensors[Var] = Both;
  }
  for (const VarDecl *Var : llvm::to_vector(Freed))
    if (!Other.Freed.contains(Var))
      Changed |= Freed.erase(Var);
  // What holds on some.
  for (const auto &[Var, Of] : Other.Pointers)
    Changed |= Pointers.try_emplace(Var, Of).second;
  for (const VarDecl *Var : Other.SharedMats)
    Changed |= SharedMats.insert(Var).second;
  return Changed;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

std::optional<Borrow> MemoryValues::readAccess(const torch::Access &A) const {
  std::optional<Borrow> B =
      intoObject(A.What == torch::Access::Data    ? Borrow::Data
                 : A.What == torch::Access::Shape ? Borrow::Shape
                                                  : Borrow::Elements,
                 A.Object, A.Call);
  if (B)
    B->Part = A.Name.str();
  return B;
}

/// \p Source refers to a part of tensor or tuple \p Object.
std::optional<Borrow> MemoryValues::intoObject(Borrow::Kind What,
                                               const Expr *Object,
                                               const Expr *Source) const {
  Borrow B;
  B.Source = B.Top = Source;
  B.What = What;
  // The tensor of a local variable, or a view of its memory.
  const VarDecl *Root = namedBy(Object);
  const Alone Of = aloneIn(Object);
  if (!Root && What == Borrow::Data && Of.Memory == Fresh::No)
    Root = torch::memoryRoot(Object, Context);
  if (Root) {
    if (!S.Tensors.count(Root) || What == Borrow::Elements)
      return std::nullopt;
    B.Owner = Root;
    return B;
  }
  B.Sure = What == Borrow::Shape ? Of.Handle : Of.Memory;
  if (B.Sure == Fresh::No)
    return std::nullopt;
  B.Temporary = Object;
  if (B.Sure == Fresh::Perhaps)
    B.Through = decidingOperator(Object).str();
  return B;
}

/// The first operator that may or may not copy on the way to \p E's tensor.
StringRef MemoryValues::decidingOperator(const Expr *E) const {
  while (const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E))) {
    torch::StorageUse Use = torch::storageUse(Call, {}, Context);
    if (Use.How == torch::Sharing::Perhaps)
      return cpp::calleeName(Call);
    if (Use.How == torch::Sharing::Unknown || Use.How == torch::Sharing::None)
      return {};
    E = Use.Of;
  }
  return {};
}

/// An ArrayRef that is made of a list, vector, array or single element.
Borrows MemoryValues::readList(const CXXConstructExpr *Construct) const {
  if (Construct->getNumArgs() == 0 ||
      isa<CXXDefaultArgExpr>(Construct->getArg(0)))
    return {};
  const Expr *Arg = Construct->getArg(0);
  Borrow B;
  B.What = Borrow::List;
  B.Source = B.Top = Construct;
  const Expr *Inner = cpp::peel(Arg);
  if (Construct->getNumArgs() == 2 && Arg->getType()->isPointerType()) {
    const std::optional<Buffer> Of = bufferOf(Arg);
    if (!Of || Of->Heap)
      return {};
    B.Owner = Of->Owner;
    B.Temporary = Of->Temporary;
  } else if (!Inner || Construct->getNumArgs() != 1) {
    return {};
  } else if (torch::isArrayRef(Inner->getType())) {
    return read(Inner);
  } else if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(Inner)) {
    const auto *Elements =
        dyn_cast_or_null<InitListExpr>(cpp::peel(List->getSubExpr()));
    if (!Elements || Elements->getNumInits() == 0)
      return {};
    B.Temporary = List;
  } else if (const VarDecl *Var = namedBy(Inner)) {
    if (!isOwner(Var) || Var->getType()->isPointerType())
      return {};
    B.Owner = Var;
  } else {
    // A temporary that is materialised here dies here.
    const QualType T = Inner->getType();
    if (!Inner->isPRValue() ||
        !(isOwningContainer(T) || T->isArithmeticType() ||
          torch::isTensor(T)) ||
        Construct->getConstructor()->isCopyOrMoveConstructor())
      return {};
    B.Temporary = Inner;
  }
  return {B};
}

Borrows MemoryValues::read(const Expr *E) const {
  E = cpp::peel(E);
  if (!E || E->isTypeDependent())
    return {};
  if (isa<DeclRefExpr, MemberExpr>(E)) {
    std::optional<Keeper> K = Keeper::of(E);
    Borrows Result, OfMember;
    for (const Held &H : S.Env) {
      if (K && H.By == *K)
        Result.push_back(H.What);
      // A local struct with such a member.
      else if (K && !K->Field && H.By.Root == K->Root &&
               H.What.What == Borrow::Blob)
        OfMember.push_back(H.What);
    }
    return Result.empty() ? OfMember : Result;
  }
  if (const auto *Either = dyn_cast<ConditionalOperator>(E)) {
    Borrows A = read(Either->getTrueExpr());
    const Borrows B = read(Either->getFalseExpr());
    // Report only if both arms borrow.
    if (A.empty() || B.empty())
      return {};
    A.append(B);
    return A;
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return readConstruct(Construct);
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return torch::mayHoldTensor(E->getType()) ? readBlobs(List->inits())
                                              : Borrows();
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return read(List->getSubExpr());
  if (const Expr *Pointer = pointerMoved(E))
    return read(Pointer);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) { // &p[i]
    const auto *Subscript =
        dyn_cast_or_null<ArraySubscriptExpr>(cpp::peel(Unary->getSubExpr()));
    return Subscript && Unary->getOpcode() == UO_AddrOf
               ? read(Subscript->getBase())
               : Borrows();
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? readCall(Call) : Borrows();
}

/// The borrows of a pair, a sample or a list of \p Values.
template <typename Range> Borrows MemoryValues::readBlobs(Range Values) const {
  Borrows Result;
  for (const Expr *Value : Values)
    for (const Borrow &B : read(Value))
      if (B.What == Borrow::Blob)
        Result.push_back(B);
  return Result;
}

Borrows MemoryValues::readConstruct(const CXXConstructExpr *Construct) const {
  const QualType T = Construct->getType();
  const bool Copies = Construct->getConstructor()->isCopyOrMoveConstructor();
  if (torch::isArrayRef(T))
    return Copies ? read(Construct->getArg(0)) : readList(Construct);
  Borrows Result;
  if (Copies) {
    Result = read(Construct->getArg(0));
  } else if (isViewClass(T) || torch::isAccessor(T)) {
    for (const Expr *Arg : Construct->arguments())
      if (Arg->getType()->isPointerType())
        for (const Borrow &B : read(Arg))
          if (B.What == Borrow::Data)
            return {B};
    return {};
  } else if (torch::mayHoldTensor(T) && !torch::isModule(T)) {
    Result = readBlobs(Construct->arguments());
  }
  if (!Copies && Result.empty())
    Result = readLent(cpp::Call(Construct), MemorySummary::This);
  llvm::erase_if(Result, [&](const Borrow &B) { return !carries(T, B); });
  return Result;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The object of a method of an array reference that gives a part of it, or a
/// pointer to its elements; null for others.
static const Expr *partOfArrayRef(const cpp::Call &C) {
  const QualType T = C.E->getType();
  return isa<CXXMemberCallExpr>(C.E) && C.Object &&
                 torch::isArrayRef(C.Object->getType()) &&
                 (torch::isArrayRef(T) || T->isPointerType())
             ? C.Object
             : nullptr;
}

static const Expr *sameAs(const cpp::Call &C) {
  return C.doesStd(cpp::Std::Move | cpp::Std::Forward) && C.Args.size() == 1
             ? C.Args.front()
             : nullptr;
}

Borrows MemoryValues::readCall(const CallExpr *Call) const {
  using V = MemoryValues;
  const auto ReadSame = [](const V &Of, const cpp::Call &, const Expr *Object) {
    return Of.read(Object);
  };
  static const cpp::CallRule<const V, Borrows> Rules[] = {
      {&V::asBlob, &V::readBlob},
      {torch::asAccess, &V::readPart},
      {sameAs, ReadSame},
      {cpp::ofStd(cpp::Std::Tuple), &V::readTuple},
      {partOfArrayRef, ReadSame},
      {imageShownBy, ReadSame},
      {&V::asOperator, &V::readOperator},
      {cpp::anyCall, &V::readResult},
  };
  return *cpp::firstOf(Rules, *this, cpp::Call(Call));
}

Borrows MemoryValues::readBlob(const cpp::Call &C,
                               const torch::BlobCall &Blob) const {
  std::optional<Buffer> Of = bufferOf(Blob.Buffer);
  if (!Of)
    return {};
  Borrow B = Of->lent(Borrow::Blob, C.E);
  B.Traits = Blob.Traits;
  return {B};
}

/// The borrows of an operator that may share the memory of a tensor.
Borrows MemoryValues::readOperator(const cpp::Call &C,
                                   const torch::StorageUse &Of) const {
  Borrows Result;
  for (Borrow &B : read(Of.Of)) {
    if (B.What != Borrow::Blob)
      continue;
    const torch::StorageUse Use =
        torch::storageUse(C.expr(), B.Traits, Context);
    if (Use.How == torch::Sharing::None)
      continue;
    if (Use.How == torch::Sharing::Perhaps && B.Sure != Fresh::Perhaps) {
      B.Sure = Fresh::Perhaps;
      B.Through = C.Name.str();
    }
    B.Traits = Use.Traits;
    // It is written around Top, and is no variable that holds it.
    const Expr *Value = cpp::stripImplicit(Use.Of);
    if (cpp::peel(Value) == B.Top || Value == cpp::stripImplicit(B.Top))
      B.Top = C.E;
    Result.push_back(B);
  }
  return Result;
}

} // namespace libtorch_tidy::flow
