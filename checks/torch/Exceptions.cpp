//===- Exceptions.cpp - What LibTorch throws, what owns tensors -----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Exceptions.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

OomHandler oomHandler(QualType Caught) {
  if (Caught.isNull())
    return OomHandler::General;
  const CXXRecordDecl *R = recordOf(Caught);
  if (!R || !R->getIdentifier())
    return OomHandler::No;
  if (isOutOfMemoryError(Caught))
    return OomHandler::Library;
  // A class derived from the others (IndexError, a user's own) sees less.
  std::string Name = R->getQualifiedNameAsString();
  return llvm::StringSwitch<OomHandler>(Name)
      .Case("c10::Error", OomHandler::Library)
      .Cases("std::exception", "std::runtime_error", "std::bad_alloc",
             OomHandler::General)
      .Default(OomHandler::No);
}

bool isOutOfMemoryError(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  return isOrDerivesFrom(R, "c10::OutOfMemoryError") ||
         isOrDerivesFrom(R, "c10::CUDAOutOfMemoryError");
}

bool catchesOutOfMemory(QualType Caught, OutOfMemoryIn Where) {
  if (Caught.isNull())
    return true;
  const CXXRecordDecl *R = recordOf(Caught);
  if (!R || !R->getIdentifier())
    return false;
  std::string Name = R->getQualifiedNameAsString();
  if (Name == "std::exception")
    return true;
  switch (Where) {
  case OutOfMemoryIn::Device:
    return Name == "c10::Error" || isOutOfMemoryError(Caught);
  case OutOfMemoryIn::Cpu:
    return Name == "c10::Error";
  case OutOfMemoryIn::Script:
    return Name == "std::runtime_error";
  }
  return false;
}

bool isPythonError(QualType T) {
  return isOrDerivesFrom(recordOf(T), "pybind11::error_already_set");
}

enum class Owner { None, Pointer, Container, Other };

/// Library class templates that own what their arguments say.
static Owner ownerKind(const CXXRecordDecl *R) {
  if (!R || !R->getIdentifier() || (!R->isInStdNamespace() && !isTorchDecl(R)))
    return Owner::None;
  return llvm::StringSwitch<Owner>(R->getName())
      .Cases("unique_ptr", "shared_ptr", "optional", "intrusive_ptr",
             Owner::Pointer)
      .Cases("vector", "deque", "list", "forward_list", Owner::Container)
      .Cases("map", "multimap", "unordered_map", "unordered_multimap",
             Owner::Container)
      .Cases("set", "multiset", "unordered_set", Owner::Container)
      .Cases("SmallVector", "OrderedDict", "List", "Dict", Owner::Container)
      .Cases("pair", "tuple", "array", "variant", "stack", "queue",
             Owner::Other)
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
  if (isTensor(T) || isOrDerivesFrom(R, "c10::IValue") ||
      isOrDerivesFrom(R, "torch::nn::utils::rnn::PackedSequence"))
    return true;
  if (isModule(T))
    return false;
  if (R->isInStdNamespace() || isTorchDecl(R)) {
    const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(R);
    if (!Spec || ownerKind(R) == Owner::None)
      return false;
    llvm::SmallVector<TemplateArgument, 4> Args(
        Spec->getTemplateArgs().asArray());
    while (!Args.empty()) {
      TemplateArgument Arg = Args.pop_back_val();
      if (Arg.getKind() == TemplateArgument::Pack)
        Args.append(Arg.pack_begin(), Arg.pack_end());
      else if (Arg.getKind() == TemplateArgument::Type &&
               ownsTensors(Arg.getAsType(), Seen))
        return true;
    }
    return false;
  }
  if (!R->hasDefinition())
    return false;
  R = R->getDefinition();
  return llvm::any_of(R->fields(),
                      [&](const FieldDecl *Field) {
                        return ownsTensors(Field->getType(), Seen);
                      }) ||
         llvm::any_of(R->bases(), [&](const CXXBaseSpecifier &Base) {
           return ownsTensors(Base.getType(), Seen);
         });
}

bool ownsTensors(QualType T) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
  return ownsTensors(T, Seen);
}

StringRef releaseMethod(QualType T) {
  if (T.isNull() || T.isConstQualified())
    return {};
  if (isTensor(T))
    return "reset";
  switch (ownerKind(recordOf(T))) {
  case Owner::Pointer:
    return "reset";
  case Owner::Container:
    return "clear";
  case Owner::None:
  case Owner::Other:
    return {};
  }
  return {};
}

/// Operators that carry the weight of a network outside of modules.
static bool isHeavyOperator(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("matmul", "mm", "bmm", "addmm", "baddbmm", true)
      .Cases("linear", "bilinear", "einsum", "tensordot", true)
      .Cases("conv1d", "conv2d", "conv3d", "convolution", true)
      .Cases("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", true)
      .Cases("lstm", "gru", "rnn_tanh", "rnn_relu", "cdist", true)
      .Cases("scaled_dot_product_attention", "data_parallel", true)
      .Default(false);
}

Work workOf(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return Work::None;
  if (isBackward(Call) || asModuleCall(Call))
    return Work::Heavy;
  if (isTorchDecl(Callee) && Callee->getIdentifier() &&
      isHeavyOperator(Callee->getName()))
    return Work::Heavy;
  if (const OpFacts *Facts = opFacts(Callee))
    return Facts->Outputs > 0 && (!Facts->View || !viewedBy(Call)) &&
                   mayHoldTensor(Call->getType())
               ? Work::Some
               : Work::None;
  if (isTorchDecl(Callee))
    return Work::None;
  // A user's function that is defined elsewhere, a std::function, Python.
  if (Callee->getReturnType()->isReferenceType())
    return Work::None;
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  bool CallsOperator = Method && Method->getOverloadedOperator() == OO_Call;
  if (CallsOperator &&
      Callee->getQualifiedNameAsString().compare(0, 10, "pybind11::") == 0)
    return Work::Some;
  bool InStd = Callee->isInStdNamespace() && !CallsOperator;
  return !InStd && ownsTensors(Call->getType()) ? Work::Some : Work::None;
}

const Expr *viewedBy(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call->getDirectCallee());
  if (!Facts || !Facts->View)
    return nullptr;
  bool MayCopy = llvm::StringSwitch<bool>(Facts->Name)
                     .Cases("to", "contiguous", "cuda", "cpu", "type_as", true)
                     .Cases("pin_memory", "to_dense", "toType", true)
                     .Default(Facts->Name.contains("dropout"));
  if (MayCopy)
    return nullptr;
  if (const Expr *Object = objectOf(Call))
    return Object;
  return Call->getNumArgs() > 0 ? Call->getArg(0) : nullptr;
}

bool isMetadataAccess(const CallExpr *Call) {
  return llvm::StringSwitch<bool>(calleeName(Call))
      .Cases("size", "sizes", "dim", "numel", "defined", true)
      .Cases("device", "dtype", "scalar_type", "options", "is_cuda", true)
      .Cases("nbytes", "element_size", "empty", "has_value", true)
      .Default(false);
}

} // namespace libtorch_tidy::torch
