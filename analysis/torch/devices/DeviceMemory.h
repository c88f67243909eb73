//===- DeviceMemory.h - Memory of devices -----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_DEVICEMEMORY_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_DEVICEMEMORY_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace libtorch_tidy::torch {

/// Gives the free blocks of a device's allocator back to the device:
/// c10::cuda::CUDACachingAllocator::emptyCache() and the same for other
/// devices; of 2.x, at::accelerator::emptyCache() and
/// getDeviceAllocator(device)->emptyCache(). Null is allowed.
bool isEmptyCache(const clang::CallExpr *Call);

/// Gives the free blocks of the allocator of pinned memory of the host back to
/// the system: at::accelerator::emptyHostCache(),
/// getHostAllocator(device)->empty_cache(), CachingHostAllocator_emptyCache().
/// Null is allowed.
bool isEmptyHostCache(const clang::CallExpr *Call);

/// The names of both, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> EmptyCacheFunctions;

/// A condition that is about where the program runs and not about what it
/// does: torch::cuda::is_available(), device.is_cuda(), x.is_cuda(),
/// device.type() == torch::kCUDA.
bool asksForDevice(const clang::Expr *Condition);

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

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_DEVICEMEMORY_H
