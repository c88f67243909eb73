// The loop, and the condition that was meant the other way round.
// RUN: %check_libtorch_tidy %s libtorch-empty-cache-in-loop %t

#include <torch/torch.h>

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
void inference(torch::nn::Linear net, const torch::Tensor &x) {
  for (int i = 0; i < 10000; ++i) {
    net(x);
    if (i % 100)
      c10::cuda::CUDACachingAllocator::emptyCache();
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in 99 of 100 iterations gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
      // CHECK-NOTES: :[[@LINE-5]]:3: note: this loop runs tensor work
      // CHECK-NOTES: :[[@LINE-4]]:9: note: this is true unless the remainder is 0
  }
}
void every_second(torch::nn::Linear net, const torch::Tensor &x, int n) {
  int i = 0;
  while (i < n) {
    net(x);
    if (i % 2 == 0)
      c10::cuda::CUDACachingAllocator::emptyCache();
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in 1 of 2 iterations gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
      // CHECK-NOTES: :[[@LINE-5]]:3: note: this loop runs tensor work
      // CHECK-NOTES: :[[@LINE-4]]:9: note: this is true in every second iteration
    ++i;
  }
}
