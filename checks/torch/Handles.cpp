//===- Handles.cpp - LibTorch's pointers ----------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Handles.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace libtorch_tidy::torch {

bool isSharedHandle(QualType T) {
  if (isTensor(T))
    return true;
  const CXXRecordDecl *R = recordOf(T);
  if (isOrDerivesFrom(R, "c10::intrusive_ptr") ||
      isOrDerivesFrom(R, "torch::nn::AnyModule"))
    return true;
  QualType Pointee = pointeeOf(T);
  return !Pointee.isNull() && isModule(Pointee) &&
         !isOrDerivesFrom(R, "std::unique_ptr");
}

bool isNonOwningHandle(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  return isOrDerivesFrom(R, "c10::weak_intrusive_ptr") ||
         isOrDerivesFrom(R, "c10::ArrayRef") ||
         isOrDerivesFrom(R, "at::OptionalTensorRef");
}

} // namespace libtorch_tidy::torch
