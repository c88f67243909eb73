// Caches of accelerators, of devices' allocators and of pinned memory.
// REQUIRES: libtorch-2.14
// RUN: %check_libtorch_tidy %s libtorch-empty-cache-in-loop %t --torch-flags "%torch-2.14-flags"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <vector>

struct Cache {
  void emptyCache();
  void empty_cache();
};

void loops(const std::vector<at::Tensor> &batches, Cache &own) {
  for (const at::Tensor &x : batches) {
    at::matmul(x, x);
    at::accelerator::emptyCache();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: this loop runs tensor work
    at::getDeviceAllocator(at::kCUDA)->emptyCache();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    // CHECK-NOTES: :[[@LINE-7]]:3: note: this loop runs tensor work
    at::accelerator::emptyHostCache();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: wasted time: emptyHostCache() in every iteration gives back to the system the pinned memory that the next one allocates again; it frees nothing that a tensor holds [libtorch-empty-cache-in-loop]
    // CHECK-NOTES: :[[@LINE-10]]:3: note: this loop runs tensor work
    at::getHostAllocator(at::kCUDA)->empty_cache();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: wasted time: empty_cache() in every iteration gives back to the system the pinned memory that the next one allocates again; it frees nothing that a tensor holds [libtorch-empty-cache-in-loop]
    // CHECK-NOTES: :[[@LINE-13]]:3: note: this loop runs tensor work
    own.emptyCache();
    own.empty_cache();
  }
  at::accelerator::emptyCache();
  at::accelerator::emptyHostCache();
  for (int i = 0; i < 3; ++i) { // A few times.
    at::matmul(batches[0], batches[0]);
    at::accelerator::emptyCache();
    at::accelerator::emptyHostCache();
  }
}
