// What shows that the handler is meant for running out of memory.
// RUN: %check_libtorch_tidy %s libtorch-oom-catch-type %t
#include <torch/script.h>
#include <torch/torch.h>

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
torch::Tensor detect(torch::jit::Module &module, const torch::Tensor &x) {
  try {
    return module({x}).toTensor();
  } catch (const std::bad_alloc &) {
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'std::bad_alloc'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
  // CHECK-NOTES: :[[@LINE-3]]:12: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
  // CHECK-NOTES: :[[@LINE+1]]:5: note: the handler is meant for running out of memory: it empties the cache of the allocator
    c10::cuda::CUDACachingAllocator::emptyCache();
  }
  return module({x}).toTensor();
}
