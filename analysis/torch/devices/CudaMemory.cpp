//===- CudaMemory.cpp - Devices' caching allocators -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/devices/CudaMemory.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
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
  return llvm::StringSwitch<bool>(cpp::calleeName(Call))
      .Cases("is_available", "is_cuda", "hasCUDA", "hasHIP", true)
      .Case("type", Call->getType()->isEnumeralType())
      .Default(false);
}

} // namespace libtorch_tidy::torch
