//===- MemoryCalls.cpp - What calls do in the memory domain ---------------===//
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
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/modules/StoredArguments.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

//===----------------------------------------------------------------------===//
// What functions of the unit lend
//===----------------------------------------------------------------------===//

const MemorySummary *MemoryValues::summaryOf(const FunctionDecl *Callee,
                                             const Expr *Call) const {
  if (!Callee)
    return nullptr;
  // Another function may run instead.
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
      Method && Method->isVirtual() && !isa<CXXConstructExpr>(Call))
    return nullptr;
  const MemorySummary *Known = Callees(Callee);
  return Known && Known->available() && !Known->saysNothing() ? Known : nullptr;
}

std::optional<LendingCall>
MemoryValues::lendingCall(const Expr *E,
                          llvm::SmallVectorImpl<const Expr *> &Args) {
  LendingCall Result{E, nullptr, {}, nullptr};
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    Result.Callee = Construct->getConstructor();
    Args.append(Construct->arg_begin(), Construct->arg_end());
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    Result.Callee = Call->getDirectCallee();
    Args.append(Call->arg_begin(), Call->arg_end());
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      Result.Object = Member->getImplicitObjectArgument();
    } else if (isa<CXXOperatorCallExpr>(Call) && !Args.empty() &&
               isa_and_nonnull<CXXMethodDecl>(Result.Callee)) {
      Result.Object = Args.front();
      Args.erase(Args.begin());
    }
  }
  if (!Result.Callee)
    return std::nullopt;
  Result.Args = Args;
  return Result;
}

std::optional<Borrow> MemoryValues::lent(const MemorySummary::Lent &L,
                                         const LendingCall &Call,
                                         const MemoryState &At) const {
  if (L.Of >= Call.Args.size() || L.Of >= Call.Callee->getNumParams())
    return std::nullopt;
  const Expr *Arg = Call.Args[L.Of];
  const QualType T = Call.Callee->getParamDecl(L.Of)->getType();
  std::optional<Borrow> B;
  if (torch::isTensor(T.getNonReferenceType())) {
    B = intoObject(L.What == Borrow::Blob ? Borrow::Data : L.What, Arg,
                   Call.Call, At);
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
      B = Of->lent(L.What, Call.Call);
  }
  if (!B)
    return std::nullopt;
  B->What = L.What;
  if (L.Sure < B->Sure) {
    B->Sure = L.Sure;
    B->Through = L.Through;
  }
  B->Part = L.Part;
  B->AtStart &= L.AtStart;
  B->Traits = L.Traits;
  B->Lender = Call.Callee;
  return B;
}

/// What the callee of \p Call lends to \p To.
Borrows MemoryValues::readLent(const Expr *Call, unsigned To,
                               const MemoryState &At) const {
  llvm::SmallVector<const Expr *, 4> Args;
  std::optional<LendingCall> Of = lendingCall(Call, Args);
  const MemorySummary *Known = Of ? summaryOf(Of->Callee, Call) : nullptr;
  Borrows Result;
  if (Known)
    for (const MemorySummary::Lent &L : Known->Lends)
      if (L.To == To)
        if (std::optional<Borrow> B = lent(L, *Of, At))
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

void MemoryDomain::visitCall(const CallExpr *Call) {
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
    const Expr *Object = Member->getImplicitObjectArgument();
    std::optional<Keeper> K = Object ? Keeper::of(Object) : std::nullopt;
    if (std::optional<cpp::Insertion> Added = cpp::asInsertion(Call);
        Added && K && isUsersOwn(Call->getDirectCallee())) {
      // It may only be called so: what it keeps is what its body stores.
      for (const torch::StoredArgument &Stored :
           torch::storedArguments(Call->getDirectCallee()))
        if (Stored.Index < Call->getNumArgs())
          store(Object, Call->getArg(Stored.Index), Call,
                Call->Stmt::getBeginLoc());
    } else if (Added && K) {
      for (const Expr *Given : Added->Given)
        store(Object, Given, Call, Call->Stmt::getBeginLoc());
      return;
    }
    const bool Moves = torch::mayMoveElements(Call);
    if (K && ((cpp::does(Call, cpp::Std::Empty) &&
               !cpp::does(Call, cpp::Std::Remove)) ||
              (torch::resizesInPlace(Call) && !Moves)))
      S.forget(*K);
    const VarDecl *Var = Object ? namedBy(Object) : nullptr;
    if (Var && Moves && torch::isTensor(Var->getType()))
      resized(Var, Call->Stmt::getBeginLoc());
  }
  if (cpp::does(Call, cpp::Std::Free) && Call->getNumArgs() == 1)
    freed(Call->getArg(0), Call->Stmt::getBeginLoc());
  if (std::optional<torch::Registration> R = torch::asRegistration(Call);
      R && R->Value && R->What != torch::Registration::Module)
    for (Borrow &B : Values.read(R->Value, S))
      if (B.What == Borrow::Blob && Values.ownerDies(B, S))
        report(B, Dangling::Stored, Call->Stmt::getBeginLoc(), "the module");
  visitArguments(Call);
  visitSummary(Call);
}

/// The image that \p Arg, for a parameter of type \p T, hands to a function of
/// OpenCV to be made anew; null for others. What is drawn on stays.
static const Expr *madeAnew(const Expr *Arg, QualType T) {
  const CXXRecordDecl *R = cpp::recordOf(T.getNonReferenceType());
  if (!cpp::isOrDerivesFrom(R, "cv::_OutputArray") ||
      cpp::isOrDerivesFrom(R, "cv::_InputOutputArray"))
    return nullptr;
  const auto *Wrapped = dyn_cast_or_null<CXXConstructExpr>(cpp::peel(Arg));
  return Wrapped && Wrapped->getNumArgs() > 0 ? Wrapped->getArg(0) : nullptr;
}

/// What is passed by reference may come back with another value.
void MemoryDomain::visitArguments(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || torch::isTorchDecl(Callee))
    return;
  unsigned Shift = isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(Callee);
  for (unsigned I = Shift; I < Call->getNumArgs(); ++I) {
    if (I - Shift >= Callee->getNumParams())
      break;
    QualType T = Callee->getParamDecl(I - Shift)->getType();
    if (const Expr *Image = madeAnew(Call->getArg(I), T))
      if (std::optional<Keeper> K = Keeper::of(Image))
        S.forget(*K);
    std::optional<Keeper> K = Keeper::of(Call->getArg(I));
    if (!K || !T->isLValueReferenceType() ||
        T->getPointeeType().isConstQualified())
      continue;
    S.forget(*K);
    if (const VarDecl *Var = namedBy(Call->getArg(I))) {
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

/// What keeps \p L here, after \p Call; nullopt for results, and for what has
/// no name here.
static std::optional<Keeper> keeperOf(const MemorySummary::Lent &L,
                                      const LendingCall &Call) {
  const Expr *To = L.To == MemorySummary::This ? Call.Object
                   : L.To < Call.Args.size()   ? Call.Args[L.To]
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

/// What the callee does to the memory of its arguments, if it is known.
void MemoryDomain::visitSummary(const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 4> Args;
  std::optional<LendingCall> Of = MemoryValues::lendingCall(Call, Args);
  const MemorySummary *Known =
      Of ? Values.summaryOf(Of->Callee, Call) : nullptr;
  if (!Known)
    return;
  const SourceLocation At = Call->Stmt::getBeginLoc();
  for (unsigned Index : Known->Resizes)
    if (const VarDecl *Var =
            Index < Args.size() ? namedBy(Args[Index]) : nullptr)
      resized(Var, At);
  for (unsigned Index : Known->Frees)
    if (Index < Args.size())
      freed(Args[Index], At);
  for (const MemorySummary::Lent &L : Known->Lends)
    if (std::optional<Keeper> K = keeperOf(L, *Of))
      if (std::optional<Borrow> B = Values.lent(L, *Of, S))
        keep(*K, *B, At, As::Element);
}

} // namespace libtorch_tidy::flow
