// Advice only: silent unless level 2 is asked for.
// RUN: %check_libtorch_tidy %s libtorch-empty-cache-in-loop %t --level=1

#include <torch/torch.h>

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
void inference(torch::nn::Linear net, const torch::Tensor &x) {
  while (true) {
    net(x);
    c10::cuda::CUDACachingAllocator::emptyCache();
  }
}
