//===- BlobLength.cpp - Buffers that are shorter than their tensor --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/lifetime/BlobLength.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include <map>

using namespace clang;

namespace libtorch_tidy {

namespace {

/// A product: a number, and how often each variable, or its size(), is a
/// factor.
struct Product {
  uint64_t Number = 1;
  std::map<std::pair<const ValueDecl *, bool>, unsigned> Factors;

  void times(const Product &Other) {
    Number *= Other.Number;
    for (const auto &[Factor, Times] : Other.Factors)
      Factors[Factor] += Times;
  }
};

std::optional<Product> productOf(const Expr *E, cpp::Body &In) {
  E = cpp::peel(In.originOf(cpp::peel(E)));
  if (!E)
    return std::nullopt;
  Product P;
  if (const auto Number = cpp::constantInt(E, In.context())) {
    if (*Number < 0 || *Number > (int64_t(1) << 40))
      return std::nullopt;
    P.Number = *Number;
    return P;
  }
  if (const auto *Product = dyn_cast<BinaryOperator>(E)) {
    if (Product->getOpcode() != BO_Mul)
      return std::nullopt;
    const auto Left = productOf(Product->getLHS(), In);
    const auto Right = productOf(Product->getRHS(), In);
    if (!Left || !Right)
      return std::nullopt;
    P = *Left;
    P.times(*Right);
    return P;
  }
  const auto *Size = dyn_cast<CXXMemberCallExpr>(E);
  if (Size && !cpp::does(Size, cpp::Std::Size))
    return std::nullopt;
  const VarDecl *Var =
      cpp::variableOf(Size ? Size->getImplicitObjectArgument() : E);
  if (!Var || (!Size &&
               (!Var->getType()->isIntegerType() || !In.writesTo(Var).empty())))
    return std::nullopt;
  P.Factors[{Var, Size != nullptr}] = 1;
  return P;
}

/// The array or container that \p Buffer is the beginning of; null for others.
const VarDecl *beginningOf(const Expr *Buffer, const ASTContext &Context) {
  const Expr *E = cpp::peel(Buffer);
  if (const auto *Address = dyn_cast_or_null<UnaryOperator>(E)) {
    if (Address->getOpcode() != UO_AddrOf)
      return nullptr;
    const Expr *Element = cpp::peel(Address->getSubExpr());
    const Expr *Index = nullptr;
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(Element)) {
      E = Subscript->getBase();
      Index = Subscript->getIdx();
    } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Element);
               Op && Op->getOperator() == OO_Subscript) {
      E = Op->getArg(0);
      Index = Op->getArg(1);
    }
    if (!Index || cpp::constantInt(Index, Context) != 0)
      return nullptr;
  } else if (const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E)) {
    if (!cpp::does(Call, cpp::Std::Buffer) || Call->getNumArgs() > 0)
      return nullptr;
    E = Call->getImplicitObjectArgument();
  }
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(cpp::peel(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

/// May another size be given to \p Var, a container, after its declaration?
bool mayResize(const VarDecl *Var, cpp::Body &In) {
  using cpp::Std;
  const auto IsIt = [&](const Expr *E) { return cpp::variableOf(E) == Var; };
  return llvm::any_of(In.writesTo(Var), [&](const cpp::Write &W) {
    const auto *Call = dyn_cast<CallExpr>(W.Where);
    if (W.Kind == cpp::WriteKind::Changed)
      return isa<CXXMemberCallExpr>(W.Where) && !cpp::does(Call, Std::Access);
    // &v[0] is handed on, and not v.
    const auto *Address = dyn_cast<UnaryOperator>(W.Where);
    return W.Kind != cpp::WriteKind::Escaped ||
           (Address ? IsIt(Address->getSubExpr())
            : Call  ? llvm::any_of(Call->arguments(), IsIt)
                    : IsIt(W.Where));
  });
}

/// How many elements \p Var has, by its type or its declaration.
std::optional<Product> elementsOf(const VarDecl *Var, cpp::Body &In) {
  const ASTContext &Context = In.context();
  Product P;
  if (const auto *Array = Context.getAsConstantArrayType(Var->getType())) {
    P.Number = Context.getConstantArrayElementCount(Array);
    return P;
  }
  const CXXRecordDecl *R = cpp::recordOf(Var->getType());
  if (cpp::isStdClass(R, {"array"})) {
    const auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(R);
    if (!Made || Made->getTemplateArgs().size() < 2 ||
        Made->getTemplateArgs()[1].getKind() != TemplateArgument::Integral)
      return std::nullopt;
    P.Number = Made->getTemplateArgs()[1].getAsIntegral().getZExtValue();
    return P;
  }
  if (!cpp::isStdClass(R, {"vector"}) || isa<ParmVarDecl>(Var) ||
      !In.declarationOf(Var) || Var->getType()->isReferenceType() ||
      mayResize(Var, In))
    return std::nullopt;
  const auto *Made =
      dyn_cast_or_null<CXXConstructExpr>(cpp::peel(Var->getInit()));
  const auto Args =
      Made ? cpp::writtenArguments(Made) : llvm::SmallVector<const Expr *, 4>();
  if (Args.empty())
    return std::nullopt;
  if (isa<CXXStdInitializerListExpr>(cpp::peel(Args[0]))) {
    P.Number = cpp::listElements(Args[0]).size();
    return P;
  }
  return Args.size() <= 2 && Args[0]->getType()->isIntegerType()
             ? productOf(Args[0], In)
             : std::nullopt;
}

} // namespace

QualType elementOf(const Expr *Buffer) {
  const QualType T = Buffer->IgnoreParenImpCasts()->getType();
  const QualType Element = T->isArrayType()
                               ? QualType(T->getBaseElementTypeUnsafe(), 0)
                               : T->getPointeeType();
  return !Element.isNull() && Element->isArithmeticType()
             ? Element.getUnqualifiedType()
             : QualType();
}

std::optional<ShortBuffer> shortBuffer(const torch::BlobCall &Blob,
                                       cpp::Body &In) {
  const ASTContext &Context = In.context();
  const auto Read =
      Blob.Traits.Dtype ? torch::dtypeFacts(*Blob.Traits.Dtype) : std::nullopt;
  const Expr *Buffer = cpp::peel(Blob.Buffer);
  if (Buffer->getType()->isPointerType())
    Buffer = In.originOf(Buffer);
  const VarDecl *Of = beginningOf(Buffer, Context);
  const QualType Element = Of ? elementOf(Buffer) : QualType();
  if (!Read || Blob.Strides || Element.isNull())
    return std::nullopt;
  Product Asked;
  for (const Expr *Size : cpp::listElements(Blob.Sizes)) {
    const auto P = productOf(Size, In);
    if (!P)
      return std::nullopt;
    Asked.times(*P);
  }
  const unsigned Bytes = Context.getTypeSizeInChars(Element).getQuantity();
  std::optional<Product> Has = elementsOf(Of, In);
  if (!Has || Has->Factors != Asked.Factors) {
    // As many elements as the container says.
    Has = Product();
    Has->Factors[{Of, true}] = 1;
  }
  const bool SameNumber = Has->Number == Asked.Number;
  Has->Number *= Bytes;
  Asked.Number *= Read->Bytes;
  if (Has->Factors != Asked.Factors || Has->Number >= Asked.Number)
    return std::nullopt;
  ShortBuffer Found{Of, Bytes, SameNumber, std::nullopt, std::nullopt};
  if (Asked.Factors.empty()) {
    Found.Has = Has->Number;
    Found.Asked = Asked.Number;
  }
  return Found;
}

} // namespace libtorch_tidy
