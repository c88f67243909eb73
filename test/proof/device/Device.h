//===- Device.h - What a program does on a GPU ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The programs of this folder need a GPU, and LibTorch 2.9 or later with CUDA:
/// scripts/measure-device builds and runs them.

#ifndef LIBTORCH_TIDY_TEST_PROOF_DEVICE_DEVICE_H
#define LIBTORCH_TIDY_TEST_PROOF_DEVICE_DEVICE_H

#include <ATen/cuda/Sleep.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <torch/cuda.h>
#include <torch/torch.h>

namespace proof {

inline c10::CachingDeviceAllocator::DeviceStats statistics() {
  return c10::getDeviceAllocator(c10::kCUDA)->getDeviceStats(0);
}
/// Bytes that tensors have, the most of them since restart(), and those that
/// the allocator holds. The first of c10::CachingAllocator::StatType is of all.
inline int64_t live() { return statistics().allocated_bytes[0].current; }
inline int64_t peak() { return statistics().allocated_bytes[0].peak; }
inline int64_t reserved() { return statistics().reserved_bytes[0].current; }
inline void restart() {
  c10::getDeviceAllocator(c10::kCUDA)->resetPeakStats(0);
}

/// Work for the current stream of about ten milliseconds.
inline void busy() { at::cuda::sleep(20'000'000); }

template <typename Run> double millisecondsOf(Run run) {
  torch::cuda::synchronize();
  const auto start = std::chrono::steady_clock::now();
  run();
  torch::cuda::synchronize();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

/// Libraries take memory when they are first used, in both threads.
inline void warmUp() {
  auto x = torch::rand({64, 64}, torch::kCUDA).requires_grad_();
  torch::matmul(x, x).sum().backward();
  torch::cuda::synchronize();
}

} // namespace proof

#endif
