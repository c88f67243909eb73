//===- MemoryBuffers.cpp - Whose memory a pointer points to ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Types.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/storage/Owners.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy::flow {

using namespace cpp;

/// The variable that \p E is, or is a part of by value: `v[0]`, `s.pixels`.
std::optional<Buffer> MemoryValues::bufferIn(const Expr *E) const {
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
    return bufferIn(Image);
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
    return Unary->getOpcode() == UO_AddrOf ? bufferIn(Unary->getSubExpr())
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
    return bufferIn(E);
  // loader.buffer, which its destructor frees.
  if (const Expr *Object = torch::freedWithObject(E))
    return bufferIn(Object);
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

/// The smart pointer in `p->data()` and `(*p).data()`, as written, when it
/// leads to a container that dies with it; null for others.
const Expr *MemoryValues::holderOf(const Expr *Object) const {
  const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(cpp::peel(Object));
  if (!Op || Op->getNumArgs() != 1 ||
      (Op->getOperator() != OO_Arrow && Op->getOperator() != OO_Star))
    return nullptr;
  // In the library it may be a method of a base.
  const Expr *Holder = cpp::peel(Op->getArg(0));
  const QualType T = Op->getType();
  if (!isOwningContainer(T->isPointerType() ? T->getPointeeType() : T))
    return nullptr;
  if (isStdClass(Holder->getType(), {"unique_ptr"}))
    return Holder;
  // One of several owners, unless it is made here and never copied.
  const VarDecl *Var = namedBy(Holder);
  if (!isStdClass(Holder->getType(), StdClass::Shared) || !isOwn(Var) ||
      !Var->hasInit() || Shared.isCopied(Var) || Shared.Leaving.contains(Var))
    return nullptr;
  const auto *In = dyn_cast<FunctionDecl>(Var->getDeclContext());
  return In && cpp::Body::of(In).isSetOnce(Var) &&
                 isStdCall(valueOf(Var->getInit()), Std::Make)
             ? Holder
             : nullptr;
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
  if (does(Call, Std::Buffer))
    if (const Expr *Holder = holderOf(Object))
      return bufferIn(Holder);
  if (!Object || Object->getType()->isPointerType() ||
      (!does(Call, Std::Buffer) &&
       !(does(Call, Std::Target) &&
         isStdClass(Object->getType(), {"unique_ptr"}))))
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
    return bufferIn(Object);
  if (!isOwningContainer(Of->getType()))
    return std::nullopt;
  return Buffer{/*Owner=*/nullptr, Of};
}

} // namespace libtorch_tidy::flow
