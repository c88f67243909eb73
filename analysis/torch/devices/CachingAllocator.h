//===- CachingAllocator.h - What a GPU's allocator reserves -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_CACHINGALLOCATOR_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_CACHINGALLOCATOR_H

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace libtorch_tidy::torch {

/// How LibTorch asks a GPU for memory: in segments, of which it gives out parts
/// and which it keeps. The rules of c10/cuda/CUDACachingAllocator.cpp in
/// 1.13.1 with its defaults, on one stream: without a limit of the device,
/// where it would give back what is free, and without emptyCache().
class CachingAllocator {
public:
  /// A part of a segment.
  struct Part;
  /// What it gives out for \p Bytes.
  static uint64_t rounded(uint64_t Bytes);

  CachingAllocator();
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator &) = delete;
  CachingAllocator &operator=(const CachingAllocator &) = delete;

  /// \p Bytes is above 0.
  Part *allocate(uint64_t Bytes);
  void free(Part *P);
  /// The bytes of all segments, which is what the process takes of the device.
  uint64_t reserved() const { return Reserved; }

private:
  struct IsBefore {
    bool operator()(const Part *A, const Part *B) const;
  };
  using Pool = std::set<Part *, IsBefore>;
  Part *newPart(uint64_t Size, uint64_t Address, Pool *In);
  void absorb(Part *P, Part *Next);

  Pool Small, Large; ///< What is free.
  std::vector<std::unique_ptr<Part>> All;
  std::vector<Part *> Spare; ///< Of All: they are parts of others now.
  uint64_t Reserved = 0;
};

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_CACHINGALLOCATOR_H
