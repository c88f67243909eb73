//===- Elements.cpp - What elements a pointer leads to --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/Elements.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy::torch {

namespace {

/// The arithmetic type that pointer \p E leads to; null where it is one of
/// bytes, or not known.
QualType elementsBehind(const Expr *E) {
  const Expr *Pointer = cpp::peel(E);
  const Type *T = Pointer->getType()->getPointeeOrArrayElementType();
  return T == Pointer->getType().getTypePtr() || !T->isArithmeticType() ||
                 T->isCharType() || T->isBooleanType()
             ? QualType()
             : QualType(T, 0);
}

std::string spellingOf(QualType T, unsigned Bytes, const ASTContext &Context) {
  // Not by which trait of LibTorch's the type was found.
  if (T->getAs<TemplateSpecializationType>())
    T = T.getCanonicalType();
  return T->isSpecificBuiltinType(BuiltinType::Long) && Bytes == 8
             ? "int64_t"
             : T.getUnqualifiedType().getAsString(Context.getPrintingPolicy());
}

} // namespace

std::optional<Elements> elementsIn(const Expr *Tensor, cpp::Body &In) {
  const auto Dtype =
      freshMemory(cpp::peel(In.originOf(cpp::peel(Tensor))), In.context())
          .second.Dtype;
  if (!Dtype)
    return std::nullopt;
  if (hasOneByte(*Dtype))
    return Elements{1, ""};
  const auto Facts = dtypeFacts(*Dtype);
  return Facts ? std::optional(Elements{Facts->Bytes, Facts->Type.str()})
               : std::nullopt;
}

PointedTo elementsAt(const Expr *Pointer, cpp::Body &In) {
  PointedTo C;
  const ASTContext &Context = In.context();
  const auto *Call =
      dyn_cast_or_null<CallExpr>(cpp::peel(In.originOf(cpp::peel(Pointer))));
  const auto Access = asAccess(Call);
  if (Access)
    C.Of = Access->Object;
  else if (cpp::does(Call, cpp::Std::Buffer))
    C.Of = cpp::calledOn(Call);
  // data_ptr<uint8_t>(), whatever the pointer is cast to.
  const bool IsTyped =
      Access && !Call->getType()->getPointeeType()->isVoidType();
  if (const QualType T = elementsBehind(IsTyped ? Call : Pointer);
      !T.isNull()) {
    const unsigned Bytes = Context.getTypeSizeInChars(T).getQuantity();
    C.Has = Elements{Bytes, spellingOf(T, Bytes, Context)};
  } else if (Access) {
    C.Has = IsTyped ? Elements{1, ""} : elementsIn(Access->Object, In);
  }
  return C;
}

} // namespace libtorch_tidy::torch
