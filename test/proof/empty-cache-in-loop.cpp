// A hundred forward passes with a caching allocator.
#include "DeviceCache.h"

int main() {
  proof::beginWithCache();
  torch::NoGradGuard guard;
  torch::nn::Sequential net(torch::nn::Linear(64, 256), torch::nn::ReLU(),
                            torch::nn::Linear(256, 64));
  torch::Tensor x = torch::randn({32, 64});
  std::vector<float> results;
  int64_t allocations = 0, frees = 0, most = 0;
  for (int i = 0; i < 110; ++i) {
    // The first passes fill the cache.
    if (i == 10) {
      allocations = proof::DeviceAllocations;
      frees = proof::DeviceFrees;
    }
    results.push_back(net->forward(x).sum().item<float>());
    most = std::max(most, proof::InUse);
#ifndef FIXED
    c10::cuda::CUDACachingAllocator::emptyCache();
#endif
  }
  std::printf("device in 100 iterations: %lld allocations and %lld frees, "
              "%lld bytes in use between them\n",
              static_cast<long long>(proof::DeviceAllocations - allocations),
              static_cast<long long>(proof::DeviceFrees - frees),
              static_cast<long long>(most));
  proof::printBits("sums", results);
}
