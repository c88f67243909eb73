//===- DanglingFromBlobCheck.cpp ------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/lifetime/DanglingStory.h"
#include "fixits/FixIts.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace libtorch_tidy {

using flow::Borrow;
using flow::Dangling;

namespace {

/// docs/checks/libtorch-dangling-from-blob.md says what it finds and why.
class DanglingFromBlobCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
  void checkArguments(const CallExpr *Call, ASTContext &Context);
};

} // namespace

static std::string messageOf(const Dangling &D) {
  const VarDecl *Owner = D.What.Owner;
  const std::string Memory =
      Owner ? "the memory of '" + Owner->getNameAsString() + "'"
            : "the memory of a temporary";
  const std::string Keeper =
      D.Keeper == "the module" ? D.Keeper : "'" + D.Keeper + "'";
  switch (D.Why) {
  case Dangling::Returned:
    return "the returned tensor uses " + Memory +
           ", which is gone when the function returns";
  case Dangling::Stored:
    return Keeper + " keeps a tensor over " + Memory +
           ", which is gone when the function returns";
  case Dangling::Scope:
    return Keeper + " uses " + Memory + ", which is gone when its block ends";
  case Dangling::Freed:
    return Keeper + " uses " + Memory + ", which is freed before the last use";
  case Dangling::Reused:
    return "every tensor that " + Keeper + " keeps uses " + Memory +
           ", which each iteration writes again";
  default:
    return Keeper + " uses " + Memory +
           ", which is gone at the end of this statement";
  }
}

/// What \p Buffer takes the address of although it is not a buffer: a
/// container, or a pointer to one. Null for others.
static const ValueDecl *addressedHandle(const Expr *Buffer) {
  const auto *Address = dyn_cast<UnaryOperator>(Buffer->IgnoreParenCasts());
  if (!Address || Address->getOpcode() != UO_AddrOf)
    return nullptr;
  const Expr *Of = Address->getSubExpr()->IgnoreParenImpCasts();
  const QualType T = Of->getType();
  if (!T->isPointerType() && cpp::pointeeOf(T).isNull() &&
      !cpp::isContainer(cpp::recordOf(T)))
    return nullptr;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Of))
    return Ref->getDecl();
  const auto *Member = dyn_cast<MemberExpr>(Of);
  return Member ? Member->getMemberDecl() : nullptr;
}

/// The arithmetic type of the elements of \p Buffer; null for bytes, which may
/// hold anything, and for others.
static const BuiltinType *elementOf(const Expr *Buffer) {
  const QualType T = Buffer->IgnoreParenImpCasts()->getType();
  const QualType Element = T->isArrayType()
                               ? QualType(T->getBaseElementTypeUnsafe(), 0)
                               : T->getPointeeType();
  const auto *Type = Element.isNull() ? nullptr : Element->getAs<BuiltinType>();
  return Type && Type->isArithmeticType() && !Type->isBooleanType() &&
                 !Element->isAnyCharacterType() && !Element->isStdByteType()
             ? Type
             : nullptr;
}

/// Memory of the host for sure: an array, the data of a standard container.
static bool isHostMemory(const Expr *Buffer) {
  const Expr *E = Buffer->IgnoreParenCasts();
  if (E->getType()->isArrayType())
    return true;
  const auto *Data = dyn_cast<CXXMemberCallExpr>(E);
  const CXXRecordDecl *R =
      Data ? cpp::recordOf(Data->getImplicitObjectArgument()->getType())
           : nullptr;
  return R && cpp::calleeName(Data) == "data" &&
         (cpp::isContainer(R) || cpp::isStdClass(R, {"array"}));
}

/// A buffer that is not what the other arguments say.
void DanglingFromBlobCheck::checkArguments(const CallExpr *Call,
                                           ASTContext &Context) {
  const std::optional<torch::BlobCall> Blob = torch::asFromBlob(Call, Context);
  if (!Blob)
    return;
  Finding F;
  F.Loc = Blob->Buffer->getExprLoc();
  F.Highlight = Blob->Buffer->getSourceRange();
  F.Strength = Level::Certain;
  if (const ValueDecl *Handle = addressedHandle(Blob->Buffer)) {
    const std::string Name = Handle->getNameAsString();
    F.Message = Handle->getType()->isPointerType()
                    ? "from_blob gets the address of the pointer '" + Name +
                          "', not the one that it holds"
                    : "from_blob gets the address of '" + Name +
                          "' itself, not of its elements";
    report(F);
    return;
  }
  if (Blob->OnCuda && isHostMemory(Blob->Buffer)) {
    F.Message = "the buffer is memory of the host, but the options ask for a "
                "CUDA device; make the tensor on the CPU and move it with to()";
    report(F);
    return;
  }
  const std::optional<torch::DtypeFacts> Read =
      Blob->Traits.Dtype ? torch::dtypeFacts(*Blob->Traits.Dtype)
                         : std::nullopt;
  const BuiltinType *Element = Read ? elementOf(Blob->Buffer) : nullptr;
  if (!Element)
    return;
  const auto Bytes = static_cast<unsigned>(
      Context.getTypeSizeInChars(QualType(Element, 0)).getQuantity());
  if (Bytes == Read->Bytes && Element->isFloatingPoint() == Read->Floating)
    return;
  F.Strength = Level::Likely;
  F.Message = "the elements of the buffer are '" +
              QualType(Element, 0).getAsString(Context.getPrintingPolicy()) +
              "', " + std::to_string(Bytes) +
              " bytes each, and the tensor reads them as " + Read->Name.str() +
              ", " + std::to_string(Read->Bytes) + " bytes each" +
              (Read->Bytes > Bytes ? ", past the end of the buffer" : "");
  report(F);
}

/// The variables of \p Body by which the memory of \p Owner is reached: \p
/// Owner itself, and the pointers and references that are made of one of them.
static llvm::SmallPtrSet<const ValueDecl *, 4> waysInto(const VarDecl *Owner,
                                                        const Stmt *Body) {
  llvm::SmallPtrSet<const ValueDecl *, 4> Ways = {Owner};
  auto IsMadeOfOne = [&](const Stmt *Init) {
    return Init && cpp::anyOf<DeclRefExpr>(Init, [&](const DeclRefExpr *Ref) {
             return Ways.contains(Ref->getDecl());
           });
  };
  cpp::forEach<VarDecl>(Body, [&](const VarDecl *Var) {
    const QualType T = Var->getType();
    if ((T->isPointerType() || T->isReferenceType() || cpp::isIterator(T)) &&
        IsMadeOfOne(Var->getInit()))
      Ways.insert(Var);
  });
  return Ways;
}

/// May the buffer be written, or read, between the place where the tensor is
/// made and its own end? Then a copy made at that place does not show what is
/// written later, and what is written into the copy does not reach the buffer.
static bool isBufferUsedAfter(const Dangling &D, ASTContext &Context) {
  const Borrow &B = D.What;
  if (!B.Owner || !D.Body)
    return false;
  cpp::Body *In = cpp::Body::around(B.Source, Context);
  if (!In)
    return true;
  const SourceManager &SM = Context.getSourceManager();
  // The next iteration comes to what is written before it, too.
  const Stmt *Loop = In->loopAround(B.Source);
  if (Loop && (D.Why == Dangling::Reused ||
               cpp::isWithin(B.Owner->getLocation(), Loop, SM)))
    Loop = nullptr;
  auto IsReleaseOrBlob = [&](const Expr *Mention) {
    for (const Stmt *S = In->parentOf(Mention); isa_and_nonnull<Expr>(S);
         S = In->parentOf(S)) {
      const auto *Call = dyn_cast<CallExpr>(S);
      if (isa<CXXDeleteExpr>(S) || S->getBeginLoc() == D.EndsAt ||
          (Call && (torch::releasedBy(Call) ||
                    torch::asFromBlob(Call, Context).has_value())))
        return true;
    }
    return false;
  };
  const auto Ways = waysInto(B.Owner, D.Body);
  return cpp::anyOf<DeclRefExpr>(D.Body, [&](const DeclRefExpr *Mention) {
    return Ways.contains(Mention->getDecl()) && !In->isWithin(Mention, B.Top) &&
           (cpp::comesBefore(B.Top, Mention, SM) ||
            (Loop && In->isWithin(Mention, Loop))) &&
           !IsReleaseOrBlob(Mention);
  });
}

void DanglingFromBlobCheck::checkUnit(flow::UnitModel &Unit) {
  for (const Dangling &D : Unit.dangling()) {
    const Borrow &B = D.What;
    if (B.What != Borrow::Blob)
      continue;
    Finding F = findingAt(D);
    F.Message = messageOf(D);
    if (B.Sure == torch::Fresh::Perhaps && !B.Through.empty())
      F.Message += ", unless '" + B.Through + "' copies";
    // What a helper stores, or puts into a sample, is its to copy.
    if (B.Sure == torch::Fresh::Yes && torch::isTensor(B.Top->getType()) &&
        !torch::isStableTensor(B.Top->getType()) &&
        !isBufferUsedAfter(D, Unit.context()))
      F.Fix = fixits::appendMemberCall(B.Top, torch::spelling::CloneCall,
                                       Unit.context());
    report(F);
  }
  for (const FunctionDecl *Function : Unit.functions())
    if (!Unit.errors().touch(Function) &&
        !cpp::Body::of(Function).isInstantiated())
      cpp::forEachCall(Function, [&](const CallExpr *Call) {
        checkArguments(Call, Unit.context());
      });
}

LIBTORCH_CHECK(DanglingFromBlobCheck, NoReasons);

} // namespace libtorch_tidy
