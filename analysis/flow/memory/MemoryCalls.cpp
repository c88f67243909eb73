//===- MemoryCalls.cpp - Calls in the memory domain -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"

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
    const Expr *Value = cpp::peel(Arg);
    const std::optional<Buffer> Of =
        T->isPointerType() ? bufferOf(Arg, At)
        : Value && Value->isPRValue() && isOwningContainer(Value->getType())
            ? Buffer{/*Owner=*/nullptr, Value}
            : partOf(Arg);
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

void MemoryDomain::visitCall(const CallExpr *E) {
  const cpp::Call C(E);
  const SourceLocation At = E->getBeginLoc();
  if (std::optional<cpp::Insertion> Added = cpp::asInsertion(E);
      Added && insertion(C, *Added))
    return;
  if (isa<CXXMemberCallExpr>(E)) {
    const bool MayMove = torch::mayMoveElements(E);
    // It holds less than before.
    if ((C.does(cpp::Std::Empty) && !C.does(cpp::Std::Remove)) ||
        (torch::resizesInPlace(E) && !MayMove))
      forget(C.Object);
    if (const VarDecl *Var = MayMove ? namedBy(C.Object) : nullptr;
        Var && torch::isTensor(Var->getType()))
      resized(Var, At);
  }
  if (C.does(cpp::Std::Free) && C.Args.size() == 1)
    freed(C.Args.front(), At);
  if (std::optional<torch::Registration> R = torch::asRegistration(E);
      R && R->Value && R->What != torch::Registration::Module)
    for (Borrow &B : Values.read(R->Value, S))
      if (B.What == Borrow::Blob && Values.ownerDies(B, S))
        report({Dangling::Stored, B, "the module", At}, At);
  visitArguments(C);
  visitSummary(C);
}

/// Stores what \p C adds. Is all of it known?
bool MemoryDomain::insertion(const cpp::Call &C, const cpp::Insertion &Added) {
  if (!Keeper::of(C.Object))
    return false;
  const SourceLocation At = C.E->getBeginLoc();
  if (!C.Callee ||
      !cpp::isUserCode(C.Callee->getLocation(), Context.getSourceManager())) {
    for (const Expr *Given : Added.Given)
      store(C.Object, Given, Added.Call, At);
    return true;
  }
  // It may only be called so: what it keeps is what its body stores.
  for (const torch::StoredArgument &Stored : torch::storedArguments(C.Callee))
    if (Stored.Index < C.Args.size())
      store(C.Object, C.Args[Stored.Index], Added.Call, At);
  return false;
}

/// The object that \p E names, if any, holds nothing that is known.
void MemoryDomain::forget(const Expr *E) {
  if (std::optional<Keeper> K = Keeper::of(E))
    S.forget(*K);
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
    forget(madeAnew(C.Args[I], T));
    if (!T->isLValueReferenceType() || T->getPointeeType().isConstQualified())
      continue;
    forget(C.Args[I]);
    if (const VarDecl *Var = namedBy(C.Args[I])) {
      S.Tensors.erase(Var);
      S.Pointers.erase(Var);
    }
  }
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
  const QualType T = To->getType();
  const CXXRecordDecl *R =
      cpp::recordOf(T->isPointerType() ? T->getPointeeType() : T);
  const FieldDecl *Field = nullptr;
  if (R)
    for (const FieldDecl *Own : R->fields())
      if (Own->getName() == L.Field)
        Field = Own;
  if (!Field)
    return std::nullopt;
  // A method of our own object: its fields are ours.
  if (isa<CXXThisExpr>(cpp::peel(To)))
    return Keeper{Field};
  if (!K || K->Field || !isa<VarDecl>(K->Root))
    return std::nullopt;
  K->Field = Field;
  K->Pointee |= T->isPointerType();
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
