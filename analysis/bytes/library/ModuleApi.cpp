//===- ModuleApi.cpp - What calls do to modules and tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/library/ModuleApi.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Layers.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

const CXXRecordDecl *heldBy(const CXXRecordDecl *R) {
  if (!torch::isModuleHolder(R))
    return nullptr;
  const QualType Held = cpp::pointeeOf(compat::recordType(R));
  return Held.isNull() ? nullptr : cpp::recordOf(Held);
}

ModelClass modelClass(const CXXRecordDecl *R) {
  if (!R)
    return ModelClass::Other;
  const bool IsTorch = torch::isTorchDecl(R);
  if (torch::isModuleClass(R)) {
    if (!IsTorch)
      return ModelClass::UserModule;
    return cpp::nameOf(R) == "Module" || cpp::nameOf(R) == "Cloneable"
               ? ModelClass::Base
               : ModelClass::LibraryModule;
  }
  if (torch::isModuleHolder(R))
    return ModelClass::Holder;
  if (torch::isTensor(compat::recordType(R)))
    return ModelClass::Tensor;
  if (!IsTorch)
    return ModelClass::Other;
  const StringRef Name = cpp::nameOf(R);
  if (Name == "TensorOptions")
    return ModelClass::TensorOptions;
  if (Name.ends_with("Options"))
    return ModelClass::Options;
  return llvm::StringSwitch<ModelClass>(Name)
      .Case("AnyModule", ModelClass::AnyModule)
      .Case("NamedAnyModule", ModelClass::NamedModule)
      .Case("OrderedDict", ModelClass::Dictionary)
      .Default(ModelClass::Other);
}

std::string modelClassName(const CXXRecordDecl *R) {
  StringRef Name = cpp::nameOf(R);
  if (!Name.consume_back("Impl"))
    Name.consume_back("Options");
  return Name.str();
}

/// A tensor, or several.
static bool givesTensors(QualType T) {
  T = T.getNonReferenceType();
  return torch::isTensor(T) || torch::isPackedSequence(T) ||
         cpp::anyTypeArgument(T->getAsCXXRecordDecl(), torch::isTensor);
}

bool isTensorOperator(const FunctionDecl *F) {
  if (!F || !torch::isTorchDecl(F) ||
      isa<CXXConstructorDecl, CXXConversionDecl>(F) ||
      !givesTensors(F->getReturnType()))
    return false;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F))
    return torch::isTensor(compat::recordType(Method->getParent()));
  return llvm::any_of(F->parameters(), [](const ParmVarDecl *P) {
    return givesTensors(P->getType());
  });
}

std::string operatorName(const FunctionDecl *F) {
  switch (const auto Op = F->getOverloadedOperator()) {
  case OO_None:
    return cpp::nameOf(F).str();
  case OO_Subscript:
    return "index"; // By a number, or by a tensor.
  default:
    return torch::operatorName(Op, F->getNumParams() + isa<CXXMethodDecl>(F))
        .str();
  }
}

bool isForward(const FunctionDecl *F) { return cpp::nameOf(F) == "forward"; }

bool isArrayRef(const CXXRecordDecl *R) {
  return torch::isTorchDecl(R) && cpp::nameOf(R) == "ArrayRef";
}

bool setsElementType(const FunctionDecl *F) {
  return F && torch::isTorchDecl(F) && cpp::nameOf(F) == "dtype";
}

bool decidesElementType(QualType T) {
  if (torch::isScalarType(T))
    return true;
  const CXXRecordDecl *R = cpp::recordOf(T.getNonReferenceType());
  const ModelClass Class = modelClass(R);
  return Class == ModelClass::TensorOptions || Class == ModelClass::Tensor ||
         (torch::isTorchDecl(R) && cpp::nameOf(R) == "TypeMeta");
}

bool isScalar(QualType T) {
  const CXXRecordDecl *R = cpp::recordOf(T.getNonReferenceType());
  return torch::isTorchDecl(R) && cpp::nameOf(R) == "Scalar";
}

bool changesTensorOptions(const FunctionDecl *F) {
  return F && torch::isTorchDecl(F) &&
         modelClass(cpp::recordOf(F->getReturnType())) ==
             ModelClass::TensorOptions;
}

bool setsElementOrder(const FunctionDecl *F) {
  return changesTensorOptions(F) && cpp::nameOf(F) == OrderOption;
}

bool setsRequiresGrad(const FunctionDecl *F) {
  return changesTensorOptions(F) && cpp::nameOf(F) == "requires_grad";
}

std::optional<unsigned> partOfItem(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  if (!F || !torch::isTorchDecl(F) || F->getNumParams())
    return std::nullopt;
  const OverloadedOperatorKind Op = F->getOverloadedOperator();
  if (cpp::nameOf(F) == "value" ||
      ((Op == OO_Star || Op == OO_Arrow) && Method &&
       cpp::nameOf(Method->getParent()) == "Item"))
    return 1;
  return cpp::nameOf(F) == "key" ? std::optional(0U) : std::nullopt;
}

bool isModuleContainer(StringRef Class) {
  return Class == "Sequential" || Class == "ModuleList" ||
         Class == "ModuleDict";
}

bool isParameterContainer(StringRef Class) {
  return Class == "ParameterList" || Class == "ParameterDict";
}

bool isDictionary(StringRef Class) {
  return Class == "ModuleDict" || Class == "ParameterDict";
}

bool givesPairs(StringRef Class) {
  return isDictionary(Class) || Class == "ParameterList";
}

bool alwaysThrows(const FunctionDecl *F) {
  // torchCheckFail is [[noreturn]]; the macro's own functions are not all.
  return F && torch::isTorchDecl(F) &&
         (cpp::nameOf(F) == "torchCheckFail" ||
          cpp::nameOf(F) == "torchInternalAssertFail");
}

} // namespace libtorch_tidy::bytes
