//===- CudaMemory.cpp - Devices' caching allocators -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/CudaMemory.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

static constexpr StringRef EmptyCacheNames[] = {"emptyCache", "empty_cache"};
const llvm::ArrayRef<StringRef> EmptyCacheFunctions = EmptyCacheNames;

bool isEmptyCache(const CallExpr *Call) {
  if (!llvm::is_contained(EmptyCacheNames, calleeName(Call)))
    return false;
  // The function of 1.13 and 2.x, the allocator's method that it calls in 2.x,
  // and the same of other devices. By name alone: its header needs CUDA's, and
  // some programs declare it themselves.
  return llvm::StringSwitch<bool>(
             Call->getDirectCallee()->getQualifiedNameAsString())
      .Case("c10::cuda::CUDACachingAllocator::emptyCache", true)
      .Case("c10::cuda::CUDACachingAllocator::CUDAAllocator::emptyCache", true)
      .Case("c10::hip::HIPCachingAllocator::emptyCache", true)
      .Case("c10::xpu::XPUCachingAllocator::emptyCache", true)
      .Default(false);
}

bool asksForDevice(const Expr *Condition) {
  const Expr *E = peel(Condition);
  if (const auto *Op = dyn_cast_or_null<BinaryOperator>(E);
      Op && Op->isEqualityOp())
    return asksForDevice(Op->getLHS()) || asksForDevice(Op->getRHS());
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call || !isTorchDecl(Call->getDirectCallee()))
    return false;
  return llvm::StringSwitch<bool>(calleeName(Call))
      .Cases("is_available", "is_cuda", "hasCUDA", "hasHIP", true)
      .Case("type", Call->getType()->isEnumeralType())
      .Default(false);
}

} // namespace libtorch_tidy::torch
