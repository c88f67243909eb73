//===- DeviceCache.h - A caching allocator as CUDA's ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What c10/cuda/CUDACachingAllocator.h (its header needs CUDA) does on a
/// device, here for the CPU: freed blocks are kept for the next request of
/// their size, until emptyCache() gives them back.

#ifndef LIBTORCH_TIDY_TEST_PROOF_DEVICECACHE_H
#define LIBTORCH_TIDY_TEST_PROOF_DEVICECACHE_H

#include "Memory.h"
#include <map>

namespace proof {

/// Requests that the device itself had to answer: cudaMalloc, cudaFree.
inline int64_t DeviceAllocations = 0, DeviceFrees = 0;
/// Bytes of tensors.
inline int64_t InUse = 0;

inline std::multimap<size_t, void *> &freeBlocks() {
  static std::multimap<size_t, void *> Blocks;
  return Blocks;
}

inline void keepBlock(void *Data) {
  if (!Data)
    return;
  char *Block = static_cast<char *>(Data) - Header;
  size_t Size = 0;
  std::memcpy(&Size, Block, sizeof Size);
  InUse -= static_cast<int64_t>(Size);
  freeBlocks().emplace(Size, Block);
}

class CachingAllocator final : public c10::Allocator {
public:
#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(size_t Size) override{
#else
  c10::DataPtr allocate(size_t Size) const override {
#endif
      void *Block = nullptr;
  if (auto It = freeBlocks().find(Size); It != freeBlocks().end()) {
    Block = It->second;
    freeBlocks().erase(It);
  } else {
    if (posix_memalign(&Block, Header, Header + Size) != 0)
      throw std::bad_alloc();
    std::memcpy(Block, &Size, sizeof Size);
    ++DeviceAllocations;
  }
  InUse += static_cast<int64_t>(Size);
  void *Data = static_cast<char *>(Block) + Header;
  return {Data, Data, &keepBlock, c10::Device(c10::DeviceType::CPU)};
}
#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  void copy_data(void *To, const void *From, size_t Size) const override {
  std::memcpy(To, From, Size);
}
#endif
c10::DeleterFnPtr raw_deleter() const override { return &keepBlock; }
}; // namespace proof

/// begin(), with the caching allocator.
inline void beginWithCache() {
  static CachingAllocator Allocator;
  begin();
  c10::SetAllocator(c10::DeviceType::CPU, &Allocator, /*priority=*/255);
}

} // namespace proof

namespace c10::cuda::CUDACachingAllocator {
inline void emptyCache() {
  for (auto &[Size, Block] : proof::freeBlocks()) {
    std::free(Block);
    ++proof::DeviceFrees;
  }
  proof::freeBlocks().clear();
}
} // namespace c10::cuda::CUDACachingAllocator

#endif // LIBTORCH_TIDY_TEST_PROOF_DEVICECACHE_H
