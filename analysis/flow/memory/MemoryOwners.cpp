//===- MemoryOwners.cpp - Who owns memory, and what points to it ----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using namespace cpp;

using torch::Fresh;

bool isOwningContainer(QualType T) {
  return ownsBuffer(T) || torch::isSmallVector(T);
}

bool isViewClass(QualType T) {
  return isMat(T) || isView(T) || torch::isStringView(T);
}

const Expr *imageShownBy(const CallExpr *Call) {
  if (!Call || !isMat(Call->getType()))
    return nullptr;
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return Op->getOperator() == OO_Call && isMat(Op->getArg(0)->getType())
               ? Op->getArg(0)
               : nullptr;
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const Expr *Image = Method ? Method->getImplicitObjectArgument() : nullptr;
  if (!Image || !isMat(Image->getType()))
    return nullptr;
  return llvm::StringSwitch<bool>(cpp::calleeName(Call))
                 .Cases("reshape", "row", "col", "rowRange", "colRange", true)
                 .Case("diag", true)
                 .Default(false)
             ? Image
             : nullptr;
}

bool isOwner(const VarDecl *Var) {
  return isOwn(Var) ||
         (isa_and_nonnull<ParmVarDecl>(Var) &&
          Var->getType()->isLValueReferenceType() &&
          isOwningContainer(Var->getType().getNonReferenceType()));
}

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

Alone MemoryValues::stateOf(const VarDecl *Var) const {
  return Shared.isCopied(Var) ? Alone() : S.Tensors.lookup(Var);
}

Alone MemoryValues::aloneIn(const Expr *E, const VarDecl *Self) const {
  auto Local = [&](Fresh Alone::*Part) {
    return [&, Part](const VarDecl *Var) {
      torch::TensorTraits Traits;
      Traits.OnDevice = S.Tensors.lookup(Var).OnDevice;
      return std::pair(Var == Self ? stateOf(Var).*Part : Fresh::No, Traits);
    };
  };
  return {torch::freshMemory(E, Context, Local(&Alone::Memory)),
          torch::freshHandle(E, Context, Local(&Alone::Handle)),
          torch::traitsOf(E, Context, Local(&Alone::Memory)).OnDevice};
}

bool MemoryValues::ownerDies(Borrow &B) const {
  if (!B.Owner)
    return true;
  if (!isOwn(B.Owner) || B.Heap)
    return false;
  const bool IsBlob = B.What == Borrow::Blob;
  if (B.What == Borrow::Data || B.What == Borrow::Shape ||
      (IsBlob && S.Tensors.count(B.Owner))) {
    const Alone Owner = stateOf(B.Owner);
    B.Sure =
        std::min(B.Sure, B.What == Borrow::Shape ? Owner.Handle : Owner.Memory);
    return B.Sure != Fresh::No;
  }
  if (IsBlob && holdsMat(B.Owner->getType()))
    return isOwnMat(B.Owner);
  return !Shared.Leaving.contains(B.Owner);
}

/// Is it a cv::Mat that was made here and has no other owner?
bool MemoryValues::isOwnMat(const VarDecl *Var) const {
  if (isa<ParmVarDecl>(Var) || Shared.isCopied(Var) ||
      Shared.Leaving.contains(Var) || S.SharedMats.count(Var))
    return false;
  return !Var->hasInit() || makesMat(Var->getInit());
}

bool MemoryValues::makesMat(const Expr *E) {
  E = cpp::peel(E);
  if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E)) {
    if (Construct->getConstructor()->isCopyOrMoveConstructor() &&
        Construct->getNumArgs() == 1)
      return makesMat(Construct->getArg(0));
    return llvm::none_of(Construct->arguments(), [](const Expr *Arg) {
      return Arg->getType()->isPointerType() || holdsMat(Arg->getType());
    });
  }
  return cpp::makesMat(cpp::calleeName(dyn_cast_or_null<CallExpr>(E)));
}

bool MemoryValues::carries(QualType T, const Borrow &B) {
  // A reference to what is borrowed, or to a temporary that borrows.
  if (T->isReferenceType())
    return true;
  switch (B.What) {
  case Borrow::Blob:
    return torch::mayHoldTensor(T);
  case Borrow::Data:
    return T->isPointerType() || torch::isAccessor(T) || isViewClass(T);
  default:
    return T->isPointerType() || torch::isArrayRef(T);
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The variable that \p E is, or is a part of by value: `v[0]`, `s.pixels`.
std::optional<Buffer> MemoryValues::partOf(const Expr *E) const {
  Buffer B;
  while ((E = cpp::peel(E))) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      B.Owner = dyn_cast<VarDecl>(Ref->getDecl());
      return isOwner(B.Owner) && !B.Owner->getType()->isPointerType()
                 ? std::optional(B)
                 : std::nullopt;
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (Member->isArrow())
        return std::nullopt;
      E = Member->getBase();
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      if (!cpp::peel(Subscript->getBase())->getType()->isArrayType())
        return std::nullopt;
      B.AtStart &= constantInt(Subscript->getIdx(), Context) == 0;
      E = Subscript->getBase();
    } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
               Op && Op->getOperator() == OO_Subscript) {
      if (!isOwningContainer(Op->getArg(0)->getType()))
        return std::nullopt;
      B.AtStart &= constantInt(Op->getArg(1), Context) == 0;
      E = Op->getArg(0);
    } else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
      const Expr *Object = Call->getImplicitObjectArgument();
      if (!Object || !isOwningContainer(Object->getType()) ||
          !does(Call, Std::Element))
        return std::nullopt;
      B.AtStart &= does(Call, Std::First);
      E = Object;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// The pixels of \p Image, a variable or a temporary.
std::optional<Buffer> MemoryValues::pixelsOf(const Expr *Image) const {
  Image = cpp::peel(Image);
  while (const Expr *Shown = imageShownBy(dyn_cast_or_null<CallExpr>(Image)))
    Image = cpp::peel(Shown);
  if (!Image || !Image->isPRValue())
    return partOf(Image);
  // One of another function's may be counted elsewhere, too.
  if (!makesMat(Image))
    return std::nullopt;
  return Buffer{/*Owner=*/nullptr, Image};
}

std::optional<Buffer> MemoryValues::bufferOf(const Expr *E) const {
  E = cpp::peel(E);
  if (!E)
    return std::nullopt;
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return Unary->getOpcode() == UO_AddrOf ? partOf(Unary->getSubExpr())
                                           : std::nullopt;
  if (const Expr *Pointer = pointerMoved(E)) {
    std::optional<Buffer> B = bufferOf(Pointer);
    if (B)
      B->AtStart = false;
    return B;
  }
  // Also rows[0] of int rows[2][3].
  if (isa<DeclRefExpr, ArraySubscriptExpr, MemberExpr>(E) &&
      E->getType()->isArrayType())
    return partOf(E);
  if (const VarDecl *Var = namedBy(E)) {
    auto It = S.Pointers.find(Var);
    return isOwn(Var) && It != S.Pointers.end() ? std::optional(It->second)
                                                : std::nullopt;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) // cv::Mat::data
    return isMat(Member->getBase()->getType()) && !Member->isArrow()
               ? pixelsOf(Member->getBase())
               : std::nullopt;
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? bufferOfCall(Call) : std::nullopt;
}

std::optional<Buffer> MemoryValues::bufferOfCall(const CallExpr *Call) const {
  if (std::optional<torch::Access> A = torch::asAccess(Call)) {
    if (A->What != torch::Access::Data)
      return std::nullopt;
    std::optional<Borrow> Data = readAccess(*A);
    if (!Data)
      return std::nullopt;
    return Buffer{Data->Owner,      Data->Temporary, /*Heap=*/false,
                  /*AtStart=*/true, Data->Sure,      Data->Through};
  }
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const Expr *Object = Method ? Method->getImplicitObjectArgument() : nullptr;
  if (!Object || Object->getType()->isPointerType() || !does(Call, Std::Buffer))
    return std::nullopt;
  if (isMat(Object->getType())) {
    std::optional<Buffer> B = pixelsOf(Object);
    if (B && Call->getNumArgs() > 0)
      B->AtStart &= constantInt(Call->getArg(0), Context) == 0;
    return B;
  }
  if (!isOwningContainer(Object->getType()))
    return std::nullopt;
  const Expr *Of = cpp::peel(Object);
  if (!Of->isPRValue() || !isa<CallExpr, CXXConstructExpr>(Of))
    return partOf(Object);
  if (!isOwningContainer(Of->getType()))
    return std::nullopt;
  return Buffer{/*Owner=*/nullptr, Of};
}

} // namespace libtorch_tidy::flow
