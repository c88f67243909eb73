//===- DeviceMemory.cpp - Memory of devices -------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/devices/DeviceMemory.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

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

// The names are those of CUDACachingAllocator.cpp.
static constexpr uint64_t MinBlockSize = 512;          ///< And its multiples.
static constexpr uint64_t SmallSize = 1ULL << 20;      ///< Up to it.
static constexpr uint64_t SmallBuffer = 2ULL << 20;    ///< A segment of those.
static constexpr uint64_t MinLargeAlloc = 10ULL << 20; ///< Below it:
static constexpr uint64_t LargeBuffer = 20ULL << 20;   ///< a segment of this.
static constexpr uint64_t RoundLarge = 2ULL << 20;     ///< Others, rounded.

struct CachingAllocator::Part {
  uint64_t Size = 0, Address = 0;
  Pool *In = nullptr;
  Part *Before = nullptr, *After = nullptr; ///< Neighbours in the segment.
  bool IsUsed = false;
};

CachingAllocator::CachingAllocator() = default;
CachingAllocator::~CachingAllocator() = default;

bool CachingAllocator::IsBefore::operator()(const Part *A,
                                            const Part *B) const {
  return std::tie(A->Size, A->Address) < std::tie(B->Size, B->Address);
}

uint64_t CachingAllocator::rounded(uint64_t Bytes) {
  return Bytes > UINT64_MAX - MinBlockSize ? Bytes
                                           : llvm::alignTo(Bytes, MinBlockSize);
}

CachingAllocator::Part *CachingAllocator::newPart(uint64_t Size,
                                                  uint64_t Address, Pool *In) {
  if (Spare.empty()) {
    All.push_back(std::make_unique<Part>());
    Spare.push_back(All.back().get());
  }
  Part *P = Spare.back();
  Spare.pop_back();
  *P = Part();
  P->Size = Size;
  P->Address = Address;
  P->In = In;
  return P;
}

CachingAllocator::Part *CachingAllocator::allocate(uint64_t Bytes) {
  const uint64_t Size = rounded(Bytes);
  const bool IsSmall = Size <= SmallSize;
  Pool &In = IsSmall ? Small : Large;
  Part Wanted;
  Wanted.Size = Size;
  Part *P = nullptr;
  if (const auto Best = In.lower_bound(&Wanted); Best != In.end()) {
    P = *Best;
    In.erase(Best);
  } else {
    const uint64_t Segment = IsSmall ? SmallBuffer
                             : Size < MinLargeAlloc
                                 ? LargeBuffer
                                 : llvm::alignTo(Size, RoundLarge);
    // Segments do not touch each other.
    P = newPart(Segment, 2 * Reserved, &In);
    Reserved += Segment;
  }
  const uint64_t Rest = P->Size - Size;
  if (IsSmall ? Rest >= MinBlockSize : Rest > SmallSize) {
    Part *Free = newPart(Rest, P->Address + Size, &In);
    Free->Before = P;
    Free->After = P->After;
    if (Free->After)
      Free->After->Before = Free;
    P->After = Free;
    P->Size = Size;
    In.insert(Free);
  }
  P->IsUsed = true;
  return P;
}

/// \p Next, a neighbour that is free, becomes a part of \p P.
void CachingAllocator::absorb(Part *P, Part *Next) {
  P->In->erase(Next);
  P->Address = std::min(P->Address, Next->Address);
  P->Size += Next->Size;
  if (P->After == Next)
    P->After = Next->After;
  else
    P->Before = Next->Before;
  if (P->After)
    P->After->Before = P;
  if (P->Before)
    P->Before->After = P;
  Spare.push_back(Next);
}

void CachingAllocator::free(Part *P) {
  P->IsUsed = false;
  for (Part *Neighbour : {P->Before, P->After})
    if (Neighbour && !Neighbour->IsUsed)
      absorb(P, Neighbour);
  P->In->insert(P);
}

} // namespace libtorch_tidy::torch
