//===- Storage.cpp - Ways into and out of a tensor's memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/Storage.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

llvm::SmallVector<const Expr *, 4> savedTensors(const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 4> Saved;
  if (!callsTorch(Call, {"save", "pickle_save"}) || Call->getNumArgs() == 0 ||
      isa<CXXMemberCallExpr>(Call))
    return Saved;
  for (const Expr *Element : cpp::listElements(Call->getArg(0)))
    if (isTensor(Element->getType()))
      Saved.push_back(Element);
  return Saved;
}

std::optional<Access> asAccess(const CallExpr *Call) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  const CXXMethodDecl *Method = Member ? Member->getMethodDecl() : nullptr;
  const Expr *Object = cpp::calledOn(Member);
  if (!Method || !Object || !isTorchDecl(Method))
    return std::nullopt;
  StringRef Name = cpp::calleeName(Call);
  if (isTensorClass(Method->getParent())) {
    if (cpp::isOneOf(Name, {"data_ptr", "const_data_ptr", "mutable_data_ptr",
                            "accessor", "generic_packed_accessor"}) ||
        Name.starts_with("packed_accessor"))
      return Access{Access::Data, Call, Object, Name};
    // By value in later versions: then nothing is borrowed.
    if (cpp::isOneOf(Name, {"sizes", "strides", "sym_sizes", "sym_strides"}) ||
        (Name == "storage" && Call->isGLValue()))
      return Access{Access::Shape, Call, Object, Name};
    return std::nullopt;
  }
  if (cpp::isOrDerivesFrom(Method->getParent(), "c10::Storage")) {
    if (!cpp::isOneOf(Name, {"data", "mutable_data", "unsafe_data"}))
      return std::nullopt;
    const auto *Storage =
        dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Object));
    std::optional<Access> Of = asAccess(Storage);
    if (!Of || Of->Name != "storage")
      return std::nullopt;
    return Access{Access::Data, Call, Of->Object, "storage"};
  }
  if (Name == "elements" &&
      cpp::isOrDerivesFrom(Method->getParent(), "c10::ivalue::Tuple") &&
      (Call->isGLValue() || isArrayRef(Call->getType())))
    return Access{Access::Elements, Call, Object, Name};
  return std::nullopt;
}

const Expr *countedBy(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::peel(E));
  return cpp::calleeName(Call) == "numel" ? tensorAskedBy(Call) : nullptr;
}

/// The variable whose own elements \p Buffer leads to: `v` in v.data(), &v[0],
/// and an array; null for others.
static const VarDecl *containerBehind(const Expr *Buffer) {
  const Expr *E = cpp::peel(Buffer);
  if (const auto *Address = dyn_cast_or_null<UnaryOperator>(E)) {
    const auto *Element = dyn_cast<CallExpr>(cpp::peel(Address->getSubExpr()));
    E = Address->getOpcode() == UO_AddrOf && Element ? cpp::calledOn(Element)
                                                     : nullptr;
  } else if (const auto *Call = dyn_cast_or_null<CallExpr>(E)) {
    E = cpp::does(Call, cpp::Std::Buffer) ? cpp::calledOn(Call) : nullptr;
  } else if (E && !E->getType()->isArrayType()) {
    return nullptr;
  }
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E ? cpp::peel(E) : nullptr);
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  const QualType T = Var ? Var->getType() : QualType();
  return Var && (T->isArrayType() ||
                 cpp::isStdClass(T, cpp::StdClass::Sequence |
                                        cpp::StdClass::Buffer))
             ? Var
             : nullptr;
}

/// Does \p Blob have a deleter that does nothing, and keeps nothing that could
/// own the buffer? What a standard container has is its own.
static bool keepsNothing(const BlobCall &Blob) {
  const auto *Lambda =
      dyn_cast_or_null<LambdaExpr>(cpp::stripImplicit(Blob.Deleter));
  if (!Lambda || !isa<CompoundStmt>(Lambda->getBody()) ||
      !cast<CompoundStmt>(Lambda->getBody())->body_empty())
    return false;
  if (Lambda->capture_size() == 0)
    return true;
  const VarDecl *Owner = containerBehind(Blob.Buffer);
  return Owner && !cpp::mentions(Lambda, Owner);
}

std::optional<BlobCall> asFromBlob(const CallExpr *Call,
                                   const ASTContext &Context) {
  std::optional<BlobCall> Blob = asAnyBlob(Call, Context);
  return Blob && Blob->Deleter && !keepsNothing(*Blob) ? std::nullopt : Blob;
}

std::optional<BlobCall> asAnyBlob(const CallExpr *Call,
                                  const ASTContext &Context) {
  if (!callsTorch(Call, "from_blob") || Call->getNumArgs() < 2)
    return std::nullopt;
  BlobCall Blob{Call, Call->getArg(0), {}, false, Call->getArg(1)};
  Blob.Traits.Contiguous = true;
  Blob.Traits.OnHost = true;
  Blob.Traits.Dtype = DefaultDtype;
  const FunctionDecl *Callee = Call->getDirectCallee();
  for (unsigned I = 1; I < Call->getNumArgs(); ++I) {
    if (isa<CXXDefaultArgExpr>(Call->getArg(I)))
      continue;
    const ParmVarDecl *Param = Callee->getParamDecl(I);
    StringRef Name = Param->getName();
    if (Name == "deleter" ||
        cpp::isOrDerivesFrom(Param->getType(), "std::function")) {
      Blob.Deleter = Call->getArg(I);
      continue;
    }
    // torch::stable::from_blob: its strides, device and type are arguments of
    // their own.
    if (isStableTensor(Call->getType())) {
      Blob.Traits.Dtype.reset();
      Blob.Traits.OnHost = Blob.Traits.Contiguous = false;
      continue;
    }
    if (isTensorOptions(Param->getType())) {
      Asked A;
      readAsked(Call->getArg(I), Context, A);
      if (A.AnyDtype || A.Unknown)
        Blob.Traits.Dtype = A.Unknown ? std::nullopt : A.Dtype;
      Blob.Traits.OnHost = !A.Unknown && (!A.AnyDevice || A.Cpu);
      Blob.OnCuda = !A.Unknown && A.Cuda;
    } else if (I > 1 && isArrayRef(Param->getType())) {
      Blob.Traits.Contiguous = false;
      Blob.Strides = Call->getArg(I);
    }
  }
  return Blob;
}

bool wrapsMemory(const CallExpr *Call) {
  return callsTorch(Call, {"from_blob", "for_blob", "from_file", "fromDLPack"});
}

bool isArrayRef(QualType T) {
  // The base of ArrayRef in 2.14, and what torch::stable::Tensor hands out.
  return cpp::isOrDerivesFrom(
      T, {"c10::ArrayRef", "c10::HeaderOnlyArrayRef", "c10::OptionalArrayRef"});
}

bool isSmallVector(QualType T) {
  return cpp::isOrDerivesFrom(T, "c10::SmallVectorTemplateCommon");
}

bool isStringView(QualType T) {
  return cpp::isOrDerivesFrom(T,
                              {"c10::string_view", "c10::basic_string_view"});
}

bool isAccessor(QualType T) {
  // In 2.14 those of namespace at are other names of these.
  return cpp::isOrDerivesFrom(
      T, {"at::TensorAccessorBase", "at::GenericPackedTensorAccessorBase",
          "torch::headeronly::detail::TensorAccessorBase",
          "torch::headeronly::detail::GenericPackedTensorAccessorBase"});
}

StringRef spellElement(QualType T, const ASTContext &Context) {
  const QualType Element = cpp::firstArgument(cpp::recordOf(T));
  if (Element.isNull())
    return {};
  if (isStableTensor(Element))
    return "torch::stable::Tensor";
  if (isTensor(Element))
    return "torch::Tensor";
  if (Context.hasSameType(Element, Context.getIntTypeForBitwidth(64, true)))
    return "int64_t";
  return {};
}

} // namespace libtorch_tidy::torch
