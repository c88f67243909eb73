//===- Device.h - What a program does on a GPU ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The programs of this folder need a GPU, and LibTorch 2.9 or later with CUDA:
/// scripts/measure-device builds and runs them.

#ifndef LIBTORCH_TIDY_TEST_PROOF_DEVICE_DEVICE_H
#define LIBTORCH_TIDY_TEST_PROOF_DEVICE_DEVICE_H

#include "Allocator.h"
#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <chrono>
#include <cstdio>
#include <string>
#include <torch/cuda.h>

namespace proof {

using namespace device;

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

} // namespace proof

#endif
