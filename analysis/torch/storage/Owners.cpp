//===- Owners.cpp - What owns tensors, what frees memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/Owners.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

enum class Owner { None, Pointer, Container, Other };

/// Library class templates that own what their arguments say.
static Owner ownerKind(const CXXRecordDecl *R) {
  using cpp::StdClass;
  if (cpp::isStdClass(R, StdClass::Box))
    return Owner::Pointer;
  if (cpp::isStdClass(R, StdClass::Container))
    return Owner::Container;
  if (cpp::isStdClass(R, StdClass::Sequence | StdClass::Tuple) ||
      cpp::isStdClass(R, {"variant"}))
    return Owner::Other;
  if (!isTorchDecl(R))
    return Owner::None;
  return llvm::StringSwitch<Owner>(cpp::nameOf(R))
      .Cases("optional", "intrusive_ptr", Owner::Pointer)
      .Cases("SmallVector", "OrderedDict", "List", "Dict", Owner::Container)
      .Cases("Example", "TensorExample", Owner::Other)
      .Default(Owner::None);
}

static bool ownsTensors(QualType T,
                        llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Seen) {
  if (T.isNull() || T->isReferenceType() || T->isPointerType())
    return false;
  if (const ArrayType *Array = T->getAsArrayTypeUnsafe())
    return ownsTensors(Array->getElementType(), Seen);
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || R->isLambda() || !Seen.insert(R).second)
    return false;
  if (isTensor(T) ||
      cpp::isOrDerivesFrom(
          R, {"c10::IValue", "torch::nn::utils::rnn::PackedSequence"}))
    return true;
  if (isModule(T))
    return false;
  auto Owns = [&](QualType Part) { return ownsTensors(Part, Seen); };
  if (R->isInStdNamespace() || isTorchDecl(R))
    return ownerKind(R) != Owner::None && cpp::anyTypeArgument(R, Owns);
  return cpp::anyPart(R, Owns);
}

bool ownsTensors(QualType T) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
  return ownsTensors(T, Seen);
}

StringRef releaseMethod(QualType T) {
  if (T.isNull() || T.isConstQualified() || isStableTensor(T))
    return {};
  const Owner Kind = ownerKind(cpp::recordOf(T));
  return isTensor(T) || Kind == Owner::Pointer ? "reset"
         : Kind == Owner::Container            ? "clear"
                                               : "";
}

bool isIntrusivePtr(QualType T) {
  return cpp::isOrDerivesFrom(T, "c10::intrusive_ptr");
}

bool isIValue(QualType T) { return cpp::isOrDerivesFrom(T, "c10::IValue"); }

bool isSharedHandle(QualType T) {
  if (isTensor(T) || isIntrusivePtr(T) ||
      cpp::isOrDerivesFrom(T, "torch::nn::AnyModule"))
    return true;
  QualType Pointee = cpp::pointeeOf(T);
  return !Pointee.isNull() && isModule(Pointee) &&
         !cpp::isOrDerivesFrom(T, "std::unique_ptr");
}

static constexpr StringRef ReleaseNames[] = {
    // Of a device.
    "cudaDeviceReset", "hipDeviceReset", "cuDevicePrimaryCtxReset",
    "cuDevicePrimaryCtxReset_v2",
    // Of memory.
    "free", "realloc", "aligned_free", "_aligned_free", "_mm_free", "cudaFree",
    "cudaFreeAsync", "cudaFreeHost", "cuMemFree", "cuMemFree_v2", "hipFree",
    "hipFreeAsync", "hipHostFree",
    // Of LibTorch's allocators, the first also a function of CUDA's.
    "raw_delete", "raw_deallocate"};
static constexpr size_t OfDevices = 4;

const llvm::ArrayRef<StringRef> ReleaseFunctions = ReleaseNames;

/// A call of one of \p Names, a function of C, of the standard library or
/// LibTorch's own, or a method of its allocators: not one that the user has
/// written.
static bool releases(const CallExpr *Call, llvm::ArrayRef<StringRef> Names) {
  if (!cpp::isOneOf(cpp::calleeName(Call), Names))
    return false;
  const FunctionDecl *F = Call->getDirectCallee();
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F))
    return isTorchDecl(Method) &&
           cpp::isOrDerivesFrom(Method->getParent(), "c10::Allocator");
  // Inline in 2.x.
  if (F->getQualifiedNameAsString() ==
      "c10::cuda::CUDACachingAllocator::raw_delete")
    return true;
  return !F->hasBody() &&
         (F->getDeclContext()->getRedeclContext()->isTranslationUnit() ||
          F->isExternC() || cpp::isStdDecl(F));
}

const Expr *releasedBy(const CallExpr *Call) {
  return releases(Call, ReleaseFunctions.drop_front(OfDevices)) &&
                 Call->getNumArgs() > 0
             ? Call->getArg(0)
             : nullptr;
}

const Expr *freedBy(const Stmt *E) {
  if (const auto *Delete = dyn_cast_or_null<CXXDeleteExpr>(E))
    return Delete->getArgument();
  return releasedBy(dyn_cast_or_null<CallExpr>(E));
}

/// The field of `this` that \p E is; null for others.
static const FieldDecl *ownField(const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(E ? cpp::peel(E) : nullptr);
  return Member && isa<CXXThisExpr>(cpp::peel(Member->getBase()))
             ? dyn_cast<FieldDecl>(Member->getMemberDecl())
             : nullptr;
}

/// Does the destructor of \p R free what \p Field points to, on all ways but
/// that of a null pointer?
static bool destructorFrees(const CXXRecordDecl *R, const FieldDecl *Field) {
  const CXXDestructorDecl *D =
      R && R->hasDefinition() ? R->getDestructor() : nullptr;
  const FunctionDecl *Defined = nullptr;
  if (!D || !D->hasBody(Defined))
    return false;
  const auto *Body = dyn_cast<CompoundStmt>(Defined->getBody());
  return Body && llvm::any_of(Body->body(), [&](const Stmt *S) {
           if (const auto *If = dyn_cast<IfStmt>(S)) {
             if (ownField(If->getCond()) != Field)
               return false;
             S = If->getThen();
             if (const auto *Then = dyn_cast<CompoundStmt>(S);
                 Then && !Then->body_empty())
               S = Then->body_front();
           }
           const auto *E = dyn_cast<Expr>(S);
           return E && ownField(freedBy(cpp::peel(E))) == Field;
         });
}

const Expr *freedWithObject(const Expr *Pointer) {
  const Expr *E = cpp::peel(Pointer);
  const FieldDecl *Field = nullptr;
  const Expr *Object = nullptr;
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(E)) {
    Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    Object = Member->isArrow() ? nullptr : Member->getBase();
  } else if (const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E)) {
    // T *data() { return buffer_; }
    const FunctionDecl *Defined = nullptr;
    const CXXMethodDecl *Method = Call->getMethodDecl();
    if (!Method || Method->isVirtual() || !Method->hasBody(Defined))
      return nullptr;
    const auto *Body = dyn_cast<CompoundStmt>(Defined->getBody());
    const auto *Return = Body && Body->size() == 1
                             ? dyn_cast<ReturnStmt>(Body->body_front())
                             : nullptr;
    Field = Return ? ownField(Return->getRetValue()) : nullptr;
    Object = Call->getImplicitObjectArgument();
  }
  if (!Field || !Field->getType()->isPointerType() || !Object ||
      isa<CXXThisExpr>(cpp::peel(Object)) || Object->getType()->isPointerType())
    return nullptr;
  const auto *R = dyn_cast<CXXRecordDecl>(Field->getParent());
  return cpp::recordOf(Object->getType()) == R && destructorFrees(R, Field)
             ? Object
             : nullptr;
}

bool resetsDevice(const CallExpr *Call) {
  return releases(Call, ReleaseFunctions.take_front(OfDevices));
}

static constexpr StringRef EmptyCacheNames[] = {
    "emptyCache", "empty_cache", "emptyHostCache",
    "CachingHostAllocator_emptyCache"};
const llvm::ArrayRef<StringRef> EmptyCacheFunctions = EmptyCacheNames;

/// Is \p Call one of emptyCache() of an allocator that derives from \p
/// Allocator, or of one of \p Functions?
static bool empties(const CallExpr *Call, StringRef Allocator,
                    llvm::ArrayRef<StringRef> Functions) {
  if (!llvm::is_contained(EmptyCacheNames, cpp::calleeName(Call)))
    return false;
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  return (Method && cpp::isOrDerivesFrom(Method->getParent(), Allocator)) ||
         llvm::is_contained(
             Functions, Call->getDirectCallee()->getQualifiedNameAsString());
}

bool isEmptyCache(const CallExpr *Call) {
  // The function of 1.13 and 2.x, the allocator's method that it calls in 2.x,
  // and the same of other devices. By name alone: its header needs CUDA's, and
  // some programs declare it themselves.
  static constexpr StringRef Functions[] = {
      "c10::cuda::CUDACachingAllocator::emptyCache",
      "c10::cuda::CUDACachingAllocator::CUDAAllocator::emptyCache",
      "c10::hip::HIPCachingAllocator::emptyCache",
      "c10::xpu::XPUCachingAllocator::emptyCache",
      // ATen/DeviceAccelerator.h
      "at::accelerator::emptyCache",
      // ATen/detail: what a build for one of these devices has.
      "at::MPSHooksInterface::emptyCache",
      "at::MTIAHooksInterface::emptyCache"};
  // The base of the allocators of devices (c10/core/CachingDeviceAllocator.h).
  return empties(Call, "c10::DeviceAllocator", Functions);
}

bool isEmptyHostCache(const CallExpr *Call) {
  // ATen/DeviceAccelerator.h, and ATen/cuda and ATen/xpu, by name alone as
  // above.
  static constexpr StringRef Functions[] = {
      "at::accelerator::emptyHostCache",
      "at::cuda::CachingHostAllocator_emptyCache",
      "at::xpu::CachingHostAllocator_emptyCache"};
  // The base of the allocators of hosts (ATen/core/CachingHostAllocator.h).
  return empties(Call, "at::HostAllocator", Functions);
}

bool asksForDevice(const Expr *Condition) {
  const Expr *E = cpp::peel(Condition);
  if (const auto *Op = dyn_cast_or_null<BinaryOperator>(E);
      Op && Op->isEqualityOp())
    return asksForDevice(Op->getLHS()) || asksForDevice(Op->getRHS());
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call || !isTorchDecl(Call->getDirectCallee()))
    return false;
  const StringRef Name = cpp::calleeName(Call);
  return Name == "type" ? Call->getType()->isEnumeralType()
                        : cpp::isOneOf(Name, {"is_available", "is_cuda",
                                              "hasCUDA", "hasHIP"});
}

} // namespace libtorch_tidy::torch
