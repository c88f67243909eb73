//===- DanglingFromBlobCheck.cpp ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/lifetime/BlobLength.h"
#include "checks/lifetime/DanglingStory.h"
#include "checks/lifetime/FreedTwice.h"
#include "checks/lifetime/NeverFreed.h"
#include "fixits/FixIts.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace libtorch_tidy {

using flow::Borrow;
using flow::Dangling;

namespace {

constexpr struct DanglingFromBlobReasons {
  Reason Module{"module-result", Effect::Likely,
                "The buffer is the data of what a module of yours returned, "
                "which may keep it."};
  Reason SomeWays{"lent-on-some-ways", Effect::Likely,
                  "The helper that makes the tensor over its argument does so "
                  "on some of its paths only."};
  Reason Element{"another-element", Effect::Likely,
                 "It is kept in one element of a container and read from one "
                 "that may be another, or it may have been taken out: "
                 "`q[n % 2]` and `q[1]`, what `push_back` adds and `q[0]`, all "
                 "that is left after `erase(where)`. The same constant, the "
                 "same variable that keeps its value, the last element until "
                 "the container changes, elements of a container that is made "
                 "and filled here, the whole container and each element in a "
                 "loop over all are no others."};
  Reason OtherElements{
      "other-elements", Effect::Likely,
      "The elements of the buffer are of another arithmetic type "
      "than the dtype: `double *` with the default dtype, "
      "which is float, `int *` with `torch::kInt64`. Bytes, "
      "`void *` and complex dtypes fit everything."};
  Reason MayCopy{"copies-if-needed", Effect::Advice,
                 "An operator on the way copies only when there is something "
                 "to do: `.to(device)` copies on a machine with a GPU and not "
                 "on one without."};
  Reason Uncertain{"not-certain", Effect::NoFix,
                   "It is of level 1 or 2: a copy may have been made already."};
  Reason NoClone{"no-clone", Effect::NoFix,
                 "What uses the buffer is not a `torch::Tensor` and has no "
                 "`clone()`: a sample that a helper makes, a "
                 "`torch::stable::Tensor`."};
  Reason PastEnd{"past-the-end", Effect::NoFix,
                 "The buffer has fewer bytes than the tensor: the copy would "
                 "read past its end, too."};
  Reason OnSomeWays{"freed-on-some-ways", Effect::Likely,
                    "The memory is freed by hand on a way that may not have "
                    "come by the tensor: in a handler, after a branch."};
  Reason NeverFreed{"never-freed", Effect::Likely,
                    "Nothing frees the memory of `new` or `malloc`: whoever "
                    "gets the tensor might, by its `data_ptr()`."};
  Reason InMain{"never-freed-in-main", Effect::Silent,
                "The memory that nothing frees is allocated in `main`, in no "
                "loop: it may be meant to last as long as the program."};
  Reason NoDeleter{"no-deleter", Effect::NoFix,
                   "A deleter would free the memory with the last tensor, and "
                   "the pointer is used afterwards, in a loop or in another "
                   "block; or the elements are of a class."};
  Reason UsedLater{"buffer-used-later", Effect::NoFix,
                   "The buffer is written or read after that place: the copy "
                   "would not show what is written later, and what is written "
                   "into it would not reach the buffer. Copy where the tensor "
                   "is kept or returned instead."};
} DanglingFromBlob{};

std::string messageOf(const Dangling &D) {
  const std::string Memory =
      "the memory of " + (D.What.Owner ? quoted(D.What.Owner) : "a temporary");
  const std::string Keeper =
      D.Keeper == "the module" ? D.Keeper : quoted(D.Keeper);
  switch (D.Why) {
  case Dangling::Returned:
    return "the returned tensor uses " + Memory +
           ", which is destroyed when the function returns";
  case Dangling::Stored:
    return Keeper + " keeps a tensor over " + Memory +
           ", which is destroyed when the function returns";
  case Dangling::Scope:
    return Keeper + " uses " + Memory +
           ", which is destroyed when its block ends";
  case Dangling::Freed:
    return Keeper + " uses " + Memory + ", which is freed before the last use";
  case Dangling::Reused:
    return "every tensor that " + Keeper + " keeps uses " + Memory +
           ", which each iteration writes again";
  default:
    return Keeper + " uses " + Memory +
           ", which is destroyed at the end of this statement";
  }
}

/// What to do about \p D: the bytes are to be copied while they are there.
const char *howToCopy(const Dangling &D) {
  switch (D.Why) {
  case Dangling::Returned:
    return "return a clone()";
  case Dangling::Stored:
    return "keep a clone()";
  case Dangling::Freed:
    return "clone() it, or free that later";
  case Dangling::Reused:
    return "keep a clone() of each";
  default:
    return "clone() it there";
  }
}

/// What \p Buffer takes the address of although it is not a buffer: a
/// container, or a pointer to one. Null for others.
const ValueDecl *addressedHandle(const Expr *Buffer) {
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
const BuiltinType *arithmeticIn(const Expr *Buffer) {
  const QualType T = elementOf(Buffer);
  return T.isNull() || T->isBooleanType() || T->isAnyCharacterType()
             ? nullptr
             : T->getAs<BuiltinType>();
}

/// Memory of the host for sure: an array, the data of a standard container.
bool isHostMemory(const Expr *Buffer) {
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

/// The variables of \p Body by which the memory of \p Owner is reached: \p
/// Owner itself, and the pointers and references that are made of one of them.
llvm::SmallPtrSet<const ValueDecl *, 4> waysInto(const VarDecl *Owner,
                                                 const Stmt *Body) {
  llvm::SmallPtrSet<const ValueDecl *, 4> Ways = {Owner};
  auto IsWay = [&](const DeclRefExpr *Ref) {
    return Ways.contains(Ref->getDecl());
  };
  cpp::forEach<VarDecl>(Body, [&](const VarDecl *Var) {
    const QualType T = Var->getType();
    if ((T->isPointerType() || T->isReferenceType() || cpp::isIterator(T)) &&
        cpp::anyOf<DeclRefExpr>(Var->getInit(), IsWay))
      Ways.insert(Var);
  });
  return Ways;
}

/// May the buffer be written, or read, between the place where the tensor is
/// made and its own end? Then a copy made at that place does not show what is
/// written later, and what is written into the copy does not reach the buffer.
bool isBufferUsedAfter(const Dangling &D, ASTContext &Context) {
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

/// Has the buffer fewer bytes than the tensor over it?
bool isReadPastEnd(const Dangling &D, ASTContext &Context) {
  const auto *Call = dyn_cast<CallExpr>(D.What.Source);
  const auto Blob = Call ? torch::asAnyBlob(Call, Context) : std::nullopt;
  cpp::Body *In = Blob ? cpp::Body::around(Call, Context) : nullptr;
  if (!In)
    return false;
  const auto Read = Blob->Traits.Dtype ? torch::dtypeFacts(*Blob->Traits.Dtype)
                                       : std::nullopt;
  const BuiltinType *Element = arithmeticIn(Blob->Buffer);
  return shortBuffer(*Blob, *In) ||
         (Read && Element &&
          Context.getTypeSizeInChars(QualType(Element, 0)).getQuantity() <
              Read->Bytes);
}

Finding worded(const FreedTwice &Twice) {
  const std::string Var = quoted(Twice.Of);
  if (!Twice.Free)
    return Finding::at(Twice.Deleter)
        .says("double free: the deleter of the tensor frees the memory of " +
              Var + ", which frees it, too")
        .remedy("leave it to one of them")
        .note(Twice.Of, Var + " owns the memory");
  Finding F =
      Finding::at(Twice.Free)
          .says("double free: " + Var +
                " is freed here, and by the deleter of the tensor over it, too")
          .remedy("leave it to one of them");
  if (Twice.OnSomeWays)
    F.because(DanglingFromBlob.OnSomeWays);
  return F.note(Twice.Deleter, "the deleter of the tensor frees it");
}

Finding worded(const NeverFreed &Leak, const CallExpr *Blob) {
  Finding F = Finding::at(Blob)
                  .because(DanglingFromBlob.NeverFreed)
                  .says("memory leak: nothing frees " +
                        (Leak.Pointer ? "the memory of " + quoted(Leak.Pointer)
                                      : "what is allocated here") +
                        ", and the tensor over it does not own it")
                  .remedy("pass from_blob a deleter that frees it")
                  .fix(Leak.Deleter);
  if (Leak.Pointer)
    F.note(Leak.Made, "it is allocated here");
  if (Leak.InMain)
    F.because(DanglingFromBlob.InMain);
  if (Leak.Deleter.empty())
    F.because(DanglingFromBlob.NoDeleter);
  return F;
}

Finding worded(const Dangling &D, ASTContext &Context) {
  const Borrow &B = D.What;
  const bool MayCopy = B.Sure == torch::Fresh::Perhaps && !B.Through.empty();
  Finding F = findingAt(D).says(
      "dangling tensor: " + messageOf(D) +
      (MayCopy ? ", unless " + quoted(B.Through) + " copies" : ""));
  F.remedy(howToCopy(D));
  if (B.Sure != torch::Fresh::Yes) {
    if (B.Sure != torch::Fresh::Likely)
      F.because(DanglingFromBlob.MayCopy, B.Through);
    else if (B.Unless == Borrow::SomeWays)
      F.because(DanglingFromBlob.SomeWays, B.Lender);
    else if (B.Unless == Borrow::Element)
      F.because(DanglingFromBlob.Element);
    else
      F.because(DanglingFromBlob.Module);
    return F.because(DanglingFromBlob.Uncertain);
  }
  if (!torch::isTensor(B.Top->getType()) ||
      torch::isStableTensor(B.Top->getType()))
    return F.because(DanglingFromBlob.NoClone);
  if (isReadPastEnd(D, Context))
    return F.because(DanglingFromBlob.PastEnd);
  if (isBufferUsedAfter(D, Context))
    return F.because(DanglingFromBlob.UsedLater);
  return F.fix(
      fixits::appendMemberCall(B.Top, torch::spelling::CloneCall, Context));
}

/// docs/checks/libtorch-dangling-from-blob.md says what it finds and why.
class DanglingFromBlobCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void checkUnit(flow::UnitModel &Unit) override {
    for (const Dangling &D : Unit.dangling())
      if (D.What.What == Borrow::Blob)
        report(worded(D, Unit.context()));
    std::vector<Finding> Leaks;
    for (const FunctionDecl *Function : Unit.functions())
      if (!Unit.errors().touch(Function) &&
          !cpp::Body::of(Function).isInstantiated())
        cpp::forEachCall(Function, [&](const CallExpr *Call) {
          checkArguments(Call, Unit.context());
          if (const auto Leak = neverFreed(Call, Unit.context()))
            Leaks.push_back(worded(*Leak, Call));
        });
    if (!Leaks.empty() && llvm::none_of(Unit.functions(), freesTensorData))
      for (Finding &Leak : Leaks)
        report(std::move(Leak));
  }

private:
  /// Memory that is freed twice, and a buffer that is not what the other
  /// arguments say.
  void checkArguments(const CallExpr *Call, ASTContext &Context) {
    for (const FreedTwice &Twice : freedTwice(Call, Context))
      report(worded(Twice));
    const std::optional<torch::BlobCall> Blob =
        torch::asFromBlob(Call, Context);
    if (!Blob)
      return;
    Finding F = Finding::at(Blob->Buffer);
    if (const ValueDecl *Handle = addressedHandle(Blob->Buffer)) {
      const std::string Name = quoted(Handle);
      return report(
          Handle->getType()->isPointerType()
              ? F.says("wrong address: from_blob gets the address of the "
                       "pointer " +
                       Name + ", not the one that it holds")
                    .remedy("pass " + Name)
              : F.says("wrong address: from_blob gets the address of " + Name +
                       " itself, not of its elements")
                    .remedy("pass the pointer to them"));
    }
    if (Blob->OnCuda && isHostMemory(Blob->Buffer))
      return report(
          F.says("wrong address: the buffer is memory of the host, but the "
                 "options ask for a "
                 "CUDA device; make the tensor on the CPU and move it with "
                 "to()"));
    const std::optional<torch::DtypeFacts> Read =
        Blob->Traits.Dtype ? torch::dtypeFacts(*Blob->Traits.Dtype)
                           : std::nullopt;
    const BuiltinType *Element = Read ? arithmeticIn(Blob->Buffer) : nullptr;
    if (!Element)
      return;
    const auto Bytes = static_cast<unsigned>(
        Context.getTypeSizeInChars(QualType(Element, 0)).getQuantity());
    if (Bytes == Read->Bytes && Element->isFloatingPoint() == Read->Floating)
      return;
    const std::string Type =
        quoted(QualType(Element, 0).getAsString(Context.getPrintingPolicy()));
    report(
        F.because(DanglingFromBlob.OtherElements)
            .says("wrong bytes: the elements of the buffer are " + Type + ", " +
                  llvm::Twine(Bytes) +
                  " bytes each, and the tensor reads them as " + Read->Name +
                  ", " + llvm::Twine(Read->Bytes) + " bytes each" +
                  (Read->Bytes > Bytes ? ", past the end of the buffer" : ""))
            .remedy("give from_blob the dtype of the elements"));
  }
};

} // namespace

LIBTORCH_CHECK(DanglingFromBlobCheck, DanglingFromBlob);

} // namespace libtorch_tidy
