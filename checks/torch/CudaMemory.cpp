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

static constexpr StringRef EmptyCacheNames[] = {
    "emptyCache", "empty_cache", "emptyHostCache",
    "CachingHostAllocator_emptyCache"};
const llvm::ArrayRef<StringRef> EmptyCacheFunctions = EmptyCacheNames;

bool isEmptyCache(const CallExpr *Call) {
  if (!llvm::is_contained(EmptyCacheNames, calleeName(Call)))
    return false;
  // The base of the allocators of devices (c10/core/CachingDeviceAllocator.h).
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  if (Method && isOrDerivesFrom(Method->getParent(), "c10::DeviceAllocator"))
    return true;
  // The function of 1.13 and 2.x, the allocator's method that it calls in 2.x,
  // and the same of other devices. By name alone: its header needs CUDA's, and
  // some programs declare it themselves.
  return llvm::StringSwitch<bool>(
             Call->getDirectCallee()->getQualifiedNameAsString())
      .Case("c10::cuda::CUDACachingAllocator::emptyCache", true)
      .Case("c10::cuda::CUDACachingAllocator::CUDAAllocator::emptyCache", true)
      .Case("c10::hip::HIPCachingAllocator::emptyCache", true)
      .Case("c10::xpu::XPUCachingAllocator::emptyCache", true)
      // ATen/DeviceAccelerator.h
      .Case("at::accelerator::emptyCache", true)
      // ATen/detail: what a build for one of these devices has.
      .Case("at::MPSHooksInterface::emptyCache", true)
      .Case("at::MTIAHooksInterface::emptyCache", true)
      .Default(false);
}

bool isEmptyHostCache(const CallExpr *Call) {
  if (!llvm::is_contained(EmptyCacheNames, calleeName(Call)))
    return false;
  // The base of the allocators of hosts (ATen/core/CachingHostAllocator.h).
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  if (Method && isOrDerivesFrom(Method->getParent(), "at::HostAllocator"))
    return true;
  // ATen/DeviceAccelerator.h, and ATen/cuda and ATen/xpu, by name alone as
  // above.
  return llvm::StringSwitch<bool>(
             Call->getDirectCallee()->getQualifiedNameAsString())
      .Case("at::accelerator::emptyHostCache", true)
      .Case("at::cuda::CachingHostAllocator_emptyCache", true)
      .Case("at::xpu::CachingHostAllocator_emptyCache", true)
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
