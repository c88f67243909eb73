//===- MemoryCalls.cpp - Calls in the memory domain -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

//===----------------------------------------------------------------------===//
// What functions of the unit lend
//===----------------------------------------------------------------------===//

const MemorySummary *MemoryValues::summaryOf(const cpp::Call &C) const {
  if (!C.Callee)
    return nullptr;
  // Another function may run instead.
  if (const auto *Method = dyn_cast<CXXMethodDecl>(C.Callee);
      Method && Method->isVirtual() && !isa<CXXConstructExpr>(C.E))
    return nullptr;
  const MemorySummary *Known = Callees(C.Callee);
  return Known && Known->available() && !Known->saysNothing() ? Known : nullptr;
}

std::optional<Borrow> MemoryValues::lent(const MemorySummary::Lent &L,
                                         const cpp::Call &C,
                                         const MemoryState &At) const {
  if (L.Of >= C.Args.size() || L.Of >= C.Callee->getNumParams())
    return std::nullopt;
  const Expr *Arg = C.Args[L.Of];
  const QualType T = C.Callee->getParamDecl(L.Of)->getType();
  std::optional<Borrow> B;
  if (torch::isTensor(T.getNonReferenceType())) {
    B = intoObject(L.What == Borrow::Blob ? Borrow::Data : L.What, Arg, C.E,
                   At);
  } else {
    std::optional<Buffer> Of;
    const Expr *Value = cpp::peel(Arg);
    if (T->isPointerType()) {
      Of = bufferOf(Arg, At);
    } else if (Value && Value->isPRValue() &&
               isOwningContainer(Value->getType())) {
      Of.emplace();
      Of->Temporary = Value;
    } else {
      Of = partOf(Arg);
    }
    if (Of && (L.What == Borrow::Blob || !Of->Heap))
      B = Of->lent(L.What, C.E);
  }
  if (!B)
    return std::nullopt;
  B->What = L.What;
  if (L.Sure < B->Sure) {
    B->Sure = L.Sure;
    B->Unless = Borrow::SomeWays;
    B->Through = L.Through;
  }
  B->Part = L.Part;
  B->AtStart &= L.AtStart;
  B->Traits = L.Traits;
  B->Lender = C.Callee;
  return B;
}

/// The borrows that the callee of \p C lends to \p To.
Borrows MemoryValues::readLent(const cpp::Call &C, unsigned To,
                               const MemoryState &At) const {
  Borrows Result;
  if (const MemorySummary *Known = summaryOf(C))
    for (const MemorySummary::Lent &L : Known->Lends)
      if (L.To == To)
        if (std::optional<Borrow> B = lent(L, C, At))
          Result.push_back(std::move(*B));
  return Result;
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// Is \p F a function of the user's, and no library's?
static bool isUsersOwn(const FunctionDecl *F) {
  return F && cpp::isUserCode(F->getLocation(),
                              F->getASTContext().getSourceManager());
}

/// A method after which its object holds less than before.
static bool letsGo(const cpp::Call &C) {
  return isa<CXXMemberCallExpr>(C.E) &&
         ((C.does(cpp::Std::Empty) && !C.does(cpp::Std::Remove)) ||
          (torch::resizesInPlace(C.expr()) &&
           !torch::mayMoveElements(C.expr())));
}

/// A method of a tensor that may move its elements.
static bool resizes(const cpp::Call &C) {
  return isa<CXXMemberCallExpr>(C.E) && torch::mayMoveElements(C.expr());
}

void MemoryDomain::visitCall(const CallExpr *Call) {
  using M = MemoryDomain;
  static const cpp::CallRule<M, cpp::Done> Rules[] = {
      {cpp::asInsertion, &M::insertion},
      {letsGo, &M::forgetObject},
      {resizes, &M::resizeObject},
      {cpp::Std::Free, &M::freeArgument},
      {torch::asRegistration, &M::registration},
      {cpp::anyCall, &M::visitArguments},
      {cpp::anyCall, &M::visitSummary},
  };
  cpp::firstOf(Rules, *this, cpp::Call(Call));
}

std::optional<cpp::Done> MemoryDomain::insertion(const cpp::Call &C,
                                                 const cpp::Insertion &Added) {
  if (!Keeper::of(C.Object))
    return std::nullopt;
  const SourceLocation At = C.E->getBeginLoc();
  if (!isUsersOwn(C.Callee)) {
    for (const Expr *Given : Added.Given)
      store(C.Object, Given, Added.Call, At);
    return cpp::Done();
  }
  // It may only be called so: what it keeps is what its body stores.
  for (const torch::StoredArgument &Stored : torch::storedArguments(C.Callee))
    if (Stored.Index < C.Args.size())
      store(C.Object, C.Args[Stored.Index], Added.Call, At);
  return std::nullopt;
}

void MemoryDomain::forgetObject(const cpp::Call &C) {
  if (std::optional<Keeper> K = Keeper::of(C.Object))
    S.forget(*K);
}

void MemoryDomain::resizeObject(const cpp::Call &C) {
  const VarDecl *Var = namedBy(C.Object);
  if (Var && torch::isTensor(Var->getType()))
    resized(Var, C.E->getBeginLoc());
}

void MemoryDomain::freeArgument(const cpp::Call &C) {
  if (C.Args.size() == 1)
    freed(C.Args.front(), C.E->getBeginLoc());
}

void MemoryDomain::registration(const cpp::Call &C,
                                const torch::Registration &R) {
  if (!R.Value || R.What == torch::Registration::Module)
    return;
  for (Borrow &B : Values.read(R.Value, S))
    if (B.What == Borrow::Blob && Values.ownerDies(B, S))
      report(B, Dangling::Stored, C.E->getBeginLoc(), "the module");
}

/// The image that \p Arg, for a parameter of type \p T, hands to a function of
/// OpenCV to be replaced; null for others. An image that is drawn on stays.
static const Expr *madeAnew(const Expr *Arg, QualType T) {
  const CXXRecordDecl *R = cpp::recordOf(T.getNonReferenceType());
  if (!cpp::isOrDerivesFrom(R, "cv::_OutputArray") ||
      cpp::isOrDerivesFrom(R, "cv::_InputOutputArray"))
    return nullptr;
  const auto *Wrapped = dyn_cast_or_null<CXXConstructExpr>(cpp::peel(Arg));
  return Wrapped && Wrapped->getNumArgs() > 0 ? Wrapped->getArg(0) : nullptr;
}

/// Arguments that are passed by reference may come back with another value.
void MemoryDomain::visitArguments(const cpp::Call &C) {
  if (!C.Callee || C.Of == cpp::Whose::Library)
    return;
  for (unsigned I = 0; I < C.Args.size() && I < C.Callee->getNumParams(); ++I) {
    QualType T = C.Callee->getParamDecl(I)->getType();
    if (const Expr *Image = madeAnew(C.Args[I], T))
      if (std::optional<Keeper> K = Keeper::of(Image))
        S.forget(*K);
    std::optional<Keeper> K = Keeper::of(C.Args[I]);
    if (!K || !T->isLValueReferenceType() ||
        T->getPointeeType().isConstQualified())
      continue;
    S.forget(*K);
    if (const VarDecl *Var = namedBy(C.Args[I])) {
      S.Tensors.erase(Var);
      S.Pointers.erase(Var);
    }
  }
}

static const FieldDecl *fieldNamed(StringRef Name, QualType T) {
  const CXXRecordDecl *R =
      cpp::recordOf(T->isPointerType() ? T->getPointeeType() : T);
  if (R)
    for (const FieldDecl *Field : R->fields())
      if (Field->getName() == Name)
        return Field;
  return nullptr;
}

/// The keeper of \p L here, after \p C; nullopt for results, and for objects
/// that have no name here.
static std::optional<Keeper> keeperOf(const MemorySummary::Lent &L,
                                      const cpp::Call &C) {
  const Expr *To = L.To == MemorySummary::This ? C.Object
                   : L.To < C.Args.size()      ? C.Args[L.To]
                                               : nullptr;
  if (!To)
    return std::nullopt;
  std::optional<Keeper> K = Keeper::of(To);
  if (L.Field.empty())
    return K;
  const FieldDecl *Field = fieldNamed(L.Field, To->getType());
  if (!Field)
    return std::nullopt;
  // A method of our own object: its fields are ours.
  if (isa<CXXThisExpr>(cpp::peel(To)))
    return Keeper{Field};
  if (!K || K->Field || !isa<VarDecl>(K->Root))
    return std::nullopt;
  K->Field = Field;
  K->Pointee |= To->getType()->isPointerType();
  return K;
}

/// Applies the callee's effects on the memory of its arguments, if known.
void MemoryDomain::visitSummary(const cpp::Call &C) {
  const MemorySummary *Known = Values.summaryOf(C);
  if (!Known)
    return;
  const SourceLocation At = C.E->getBeginLoc();
  for (unsigned Index : Known->Resizes)
    if (const VarDecl *Var =
            Index < C.Args.size() ? namedBy(C.Args[Index]) : nullptr)
      resized(Var, At);
  for (unsigned Index : Known->Frees)
    if (Index < C.Args.size())
      freed(C.Args[Index], At);
  for (const MemorySummary::Lent &L : Known->Lends)
    if (std::optional<Keeper> K = keeperOf(L, C))
      if (std::optional<Borrow> B = Values.lent(L, C, S))
        keep(*K, *B, At, As::Element);
}

} // namespace libtorch_tidy::flow
