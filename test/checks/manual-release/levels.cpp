// What is certain, what is likely, what is advice.
// RUN: %check_libtorch_tidy %s libtorch-manual-release %t --level=0 --check-suffix=L0
// RUN: %check_libtorch_tidy %s libtorch-manual-release %t --level=1 --check-suffix=L1

#include <cstdlib>
#include <torch/torch.h>

extern "C" int cudaDeviceReset();

void mine() {
  torch::Tensor X = torch::rand({100, 100});
  free(X.data_ptr());
  // CHECK-MESSAGES-L0: :[[@LINE-1]]:3: warning: double free: free() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
  // CHECK-MESSAGES-L1: :[[@LINE-2]]:3: warning: double free: free() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
}
void given(const torch::Tensor &X) {
  free(X.data_ptr());
  // CHECK-MESSAGES-L1: :[[@LINE-1]]:3: warning: double free: free() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
}
void unload() {
  cudaDeviceReset();
  // CHECK-MESSAGES-L1: :[[@LINE-1]]:3: warning: cudaDeviceReset() destroys the context of the device under LibTorch: tensors and modules on it, its streams and its allocator's blocks are invalid from here on, and no other can be made; emptyCache() gives back what no tensor holds [libtorch-manual-release]
}
int main() {
  mine();
  // The last statement, as samples of CUDA have it for a profiler.
  cudaDeviceReset();
  return 0;
}
// An exception, and one path of two, lead on.
void fails(bool Bad) {
  cudaDeviceReset();
  // CHECK-MESSAGES-L1: :[[@LINE-1]]:3: warning: cudaDeviceReset() destroys
  if (Bad)
    abort();
}
