// raw_delete() of CUDA's allocator, which is inline in 2.x, and the method that it calls.
// REQUIRES: libtorch-2.14
// RUN: %check_libtorch_tidy %s libtorch-manual-release %t --torch-flags "%torch-2.14-flags"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>

// As c10/cuda/CUDACachingAllocator.h, which needs CUDA's headers.
namespace c10::cuda::CUDACachingAllocator {
class CUDAAllocator : public c10::DeviceAllocator {
public:
  virtual void raw_delete(void *ptr) = 0;
};
CUDAAllocator *get();
inline void raw_delete(void *ptr) { get()->raw_delete(ptr); }
} // namespace c10::cuda::CUDACachingAllocator
namespace allocator = c10::cuda::CUDACachingAllocator;

struct Pool {
  void raw_delete(void *ptr);
};

void released(Pool &pool) {
  at::Tensor x = at::rand({4}).cuda();
  allocator::raw_delete(x.data_ptr());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: raw_delete() releases the memory of 'x', which LibTorch owns: its allocator releases it again, or hands it out again; x.reset() releases it [libtorch-manual-release]
  at::Tensor y = at::rand({4}).cuda();
  at::getDeviceAllocator(at::kCUDA)->raw_deallocate(y.mutable_data_ptr());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: raw_deallocate() releases the memory of 'y', which LibTorch owns: its allocator releases it again, or hands it out again; y.reset() releases it [libtorch-manual-release]
  // The program's own.
  pool.raw_delete(x.data_ptr());
}
