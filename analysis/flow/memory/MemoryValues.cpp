//===- MemoryValues.cpp - The memory that expressions refer to ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/MemoryValues.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

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

QualType Keeper::type() const {
  return Field ? Field->getType() : Root->getType();
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
  if (!Var)
    return true;
  if (!Var->isLocalVarDeclOrParm() || Var->isStaticLocal())
    return true;
  return isa<ParmVarDecl>(Var) &&
         (Pointee ? Var->getType()->isPointerType()
                  : Var->getType()->isLValueReferenceType());
}

Borrow Buffer::lent(Borrow::Kind What, const Expr *Source) const {
  return {What, Source, Source,  Owner, Temporary, Heap,
          Sure, {},     Through, {},    AtStart,   /*Lender=*/nullptr};
}

bool MemoryState::holds(const Keeper &K) const {
  return llvm::any_of(Env, [&](const Held &H) { return H.By == K; });
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
  llvm::SmallVector<const VarDecl *, 4> Unknown;
  for (auto &[Var, Here] : Tensors) {
    auto It = Other.Tensors.find(Var);
    if (It == Other.Tensors.end()) {
      Unknown.push_back(Var);
      continue;
    }
    Alone Both{std::min(Here.Memory, It->second.Memory),
               std::min(Here.Handle, It->second.Handle),
               Here.OnDevice && It->second.OnDevice};
    Changed |= Both.Memory != Here.Memory || Both.Handle != Here.Handle ||
               Both.OnDevice != Here.OnDevice;
    Here = Both;
  }
  for (const VarDecl *Var : Unknown)
    Changed |= Tensors.erase(Var);
  for (const auto &[Var, Of] : Other.Pointers)
    Changed |= Pointers.try_emplace(Var, Of).second;
  for (const VarDecl *Var : Other.SharedMats)
    Changed |= SharedMats.insert(Var).second;
  Unknown.clear();
  for (const VarDecl *Var : Freed)
    if (!Other.Freed.contains(Var))
      Unknown.push_back(Var);
  for (const VarDecl *Var : Unknown)
    Changed |= Freed.erase(Var);
  return Changed;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {

/// Is \p E written around \p Top, rather than being a variable that holds it?
bool namesTop(const Expr *E, const Expr *Top) {
  return cpp::peel(cpp::stripImplicit(E)) == Top ||
         cpp::stripImplicit(E) == cpp::stripImplicit(Top);
}

Borrows some(std::optional<Borrow> B) {
  Borrows Result;
  if (B)
    Result.push_back(*B);
  return Result;
}

} // namespace

std::optional<Borrow> MemoryValues::readAccess(const torch::Access &A,
                                               const MemoryState &At) const {
  std::optional<Borrow> B =
      intoObject(A.What == torch::Access::Data    ? Borrow::Data
                 : A.What == torch::Access::Shape ? Borrow::Shape
                                                  : Borrow::Elements,
                 A.Object, A.Call, At);
  if (B)
    B->Part = A.Name.str();
  return B;
}

/// \p Source refers to a part of tensor or tuple \p Object.
std::optional<Borrow> MemoryValues::intoObject(Borrow::Kind What,
                                               const Expr *Object,
                                               const Expr *Source,
                                               const MemoryState &At) const {
  Borrow B;
  B.Source = B.Top = Source;
  B.What = What;
  // The tensor of a local variable, or a view of its memory.
  const VarDecl *Root = namedBy(Object);
  const Alone Of = aloneIn(Object, At);
  if (!Root && What == Borrow::Data && Of.Memory == Fresh::No)
    Root = torch::memoryRoot(Object, Context);
  if (Root) {
    if (!At.Tensors.count(Root) || What == Borrow::Elements)
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
Borrows MemoryValues::readList(const CXXConstructExpr *Construct,
                               const MemoryState &At) const {
  if (Construct->getNumArgs() == 0 ||
      isa<CXXDefaultArgExpr>(Construct->getArg(0)))
    return {};
  const Expr *Arg = Construct->getArg(0);
  Borrow B;
  B.What = Borrow::List;
  B.Source = B.Top = Construct;
  if (Construct->getNumArgs() == 2 && Arg->getType()->isPointerType()) {
    std::optional<Buffer> Of = bufferOf(Arg, At);
    if (!Of || Of->Heap)
      return {};
    B.Owner = Of->Owner;
    B.Temporary = Of->Temporary;
    return some(B);
  }
  const Expr *Inner = cpp::peel(Arg);
  if (!Inner || Construct->getNumArgs() != 1)
    return {};
  if (torch::isArrayRef(Inner->getType()))
    return read(Inner, At);
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(Inner)) {
    const auto *Elements =
        dyn_cast_or_null<InitListExpr>(cpp::peel(List->getSubExpr()));
    if (!Elements || Elements->getNumInits() == 0)
      return {};
    B.Temporary = List;
    return some(B);
  }
  if (const VarDecl *Var = namedBy(Inner)) {
    if (!isOwner(Var) || Var->getType()->isPointerType())
      return {};
    B.Owner = Var;
    return some(B);
  }
  // A temporary that is materialised here dies here.
  bool Owns = isOwningContainer(Inner->getType()) ||
              Inner->getType()->isArithmeticType() ||
              torch::isTensor(Inner->getType());
  if (!Inner->isPRValue() || !Owns ||
      Construct->getConstructor()->isCopyOrMoveConstructor())
    return {};
  B.Temporary = Inner;
  return some(B);
}

Borrows MemoryValues::read(const Expr *E, const MemoryState &At) const {
  E = cpp::peel(E);
  if (!E || E->isTypeDependent())
    return {};
  if (isa<DeclRefExpr, MemberExpr>(E)) {
    std::optional<Keeper> K = Keeper::of(E);
    Borrows Result, OfMember;
    for (const Held &H : At.Env) {
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
    Borrows A = read(Either->getTrueExpr(), At);
    Borrows B = read(Either->getFalseExpr(), At);
    // Report only if both arms borrow.
    if (A.empty() || B.empty())
      return {};
    A.append(B);
    return A;
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return readConstruct(Construct, At);
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return torch::mayHoldTensor(E->getType()) ? readBlobs(List->inits(), At)
                                              : Borrows();
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return read(List->getSubExpr(), At);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (!Binary->isAdditiveOp() || !E->getType()->isPointerType())
      return {};
    return read(Binary->getLHS()->getType()->isPointerType() ? Binary->getLHS()
                                                             : Binary->getRHS(),
                At);
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    if (Unary->getOpcode() != UO_AddrOf)
      return {};
    const auto *Subscript =
        dyn_cast_or_null<ArraySubscriptExpr>(cpp::peel(Unary->getSubExpr()));
    return Subscript ? read(Subscript->getBase(), At) : Borrows();
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? readCall(Call, At) : Borrows();
}

/// The borrows of a pair, a sample or a list of \p Values.
template <typename Range>
Borrows MemoryValues::readBlobs(Range Values, const MemoryState &At) const {
  Borrows Result;
  for (const Expr *Value : Values)
    for (const Borrow &B : read(Value, At))
      if (B.What == Borrow::Blob)
        Result.push_back(B);
  return Result;
}

Borrows MemoryValues::readConstruct(const CXXConstructExpr *Construct,
                                    const MemoryState &At) const {
  QualType T = Construct->getType();
  if (torch::isArrayRef(T))
    return Construct->getConstructor()->isCopyOrMoveConstructor()
               ? read(Construct->getArg(0), At)
               : readList(Construct, At);
  Borrows Result;
  if (Construct->getConstructor()->isCopyOrMoveConstructor()) {
    Result = read(Construct->getArg(0), At);
    llvm::erase_if(Result, [&](const Borrow &B) { return !carries(T, B); });
    return Result;
  }
  if (isViewClass(T) || torch::isAccessor(T)) {
    for (const Expr *Arg : Construct->arguments())
      if (Arg->getType()->isPointerType())
        for (const Borrow &B : read(Arg, At))
          if (B.What == Borrow::Data)
            return some(B);
    return {};
  }
  if (torch::mayHoldTensor(T) && !torch::isModule(T))
    Result = readBlobs(Construct->arguments(), At);
  if (Result.empty())
    Result = readLent(cpp::Call(Construct), MemorySummary::This, At);
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

Borrows MemoryValues::readCall(const CallExpr *Call,
                               const MemoryState &At) const {
  using V = MemoryValues;
  static const cpp::CallRule<const V, Borrows, const MemoryState &> Rules[] = {
      {&V::asBlob, &V::readBlob},
      {torch::asAccess, &V::readPart},
      {sameAs, &V::readSame},
      {cpp::ofStd(cpp::Std::Tuple), &V::readTuple},
      {partOfArrayRef, &V::readSame},
      {imageShownBy, &V::readSame},
      {&V::asOperator, &V::readOperator},
      {cpp::anyCall, &V::readResult},
  };
  return *cpp::firstOf(Rules, *this, cpp::Call(Call), At);
}

std::optional<torch::BlobCall> MemoryValues::asBlob(const cpp::Call &C) const {
  return torch::asFromBlob(C.expr(), Context);
}

Borrows MemoryValues::readBlob(const cpp::Call &C, const torch::BlobCall &Blob,
                               const MemoryState &At) const {
  std::optional<Buffer> Of = bufferOf(Blob.Buffer, At);
  if (!Of)
    return {};
  Borrow B = Of->lent(Borrow::Blob, C.E);
  B.Traits = Blob.Traits;
  return some(B);
}

Borrows MemoryValues::readPart(const cpp::Call &, const torch::Access &A,
                               const MemoryState &At) const {
  return some(readAccess(A, At));
}

Borrows MemoryValues::readSame(const cpp::Call &, const Expr *Object,
                               const MemoryState &At) const {
  return read(Object, At);
}

Borrows MemoryValues::readTuple(const cpp::Call &C,
                                const MemoryState &At) const {
  return readBlobs(C.Args, At);
}

std::optional<torch::StorageUse>
MemoryValues::asOperator(const cpp::Call &C) const {
  torch::StorageUse Use = torch::storageUse(C.expr(), {}, Context);
  return Use.How == torch::Sharing::Unknown || !Use.Of ? std::nullopt
                                                       : std::optional(Use);
}

/// The borrows of an operator that may share the memory of a tensor.
Borrows MemoryValues::readOperator(const cpp::Call &C,
                                   const torch::StorageUse &Of,
                                   const MemoryState &At) const {
  Borrows Result;
  for (Borrow &B : read(Of.Of, At)) {
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
    if (namesTop(Use.Of, B.Top))
      B.Top = C.E;
    Result.push_back(B);
  }
  return Result;
}

Borrows MemoryValues::readResult(const cpp::Call &C,
                                 const MemoryState &At) const {
  return readLent(C, MemorySummary::Result, At);
}

} // namespace libtorch_tidy::flow
