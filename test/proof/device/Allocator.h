//===- Allocator.h - What the allocator of a GPU says -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Needs LibTorch 2.9 or later, with CUDA, and no header of CUDA's own.

#ifndef LIBTORCH_TIDY_TEST_PROOF_DEVICE_ALLOCATOR_H
#define LIBTORCH_TIDY_TEST_PROOF_DEVICE_ALLOCATOR_H

#include <c10/core/CachingDeviceAllocator.h>
#include <torch/torch.h>

namespace proof::device {

inline c10::DeviceAllocator &allocator() {
  return *c10::getDeviceAllocator(c10::kCUDA);
}
inline c10::CachingDeviceAllocator::DeviceStats statistics() {
  return allocator().getDeviceStats(0);
}
/// Bytes that tensors have, the most of them since restart(), and those that
/// the allocator holds. The first of c10::CachingAllocator::StatType is of all.
inline int64_t live() { return statistics().allocated_bytes[0].current; }
inline int64_t peak() { return statistics().allocated_bytes[0].peak; }
inline int64_t reserved() { return statistics().reserved_bytes[0].current; }
inline void restart() { allocator().resetPeakStats(0); }

/// cuBLAS takes its memory when it is first used, in each thread.
inline void warmUp() {
  torch::nn::Linear layer(64, 64);
  layer->to(c10::kCUDA);
  auto x = torch::rand({64, 64}, c10::kCUDA).requires_grad_();
  torch::matmul(layer(x), x).sum().backward();
}

} // namespace proof::device

#endif
