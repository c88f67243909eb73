//===- CachingAllocator.cpp - What a GPU's allocator reserves -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/devices/CachingAllocator.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

namespace libtorch_tidy::torch {

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
