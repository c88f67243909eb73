// A hundred forward passes with CUDA's caching allocator.
#include "Device.h"

int main() {
  proof::warmUp();
  torch::NoGradGuard guard;
  torch::nn::Sequential net(torch::nn::Linear(64, 256), torch::nn::ReLU(),
                            torch::nn::Linear(256, 64));
  net->to(torch::kCUDA);
  torch::Tensor x = torch::randn({16384, 64}, torch::kCUDA);
  const auto pass = [&] {
    net->forward(x).sum().item<float>();
#ifndef FIXED
    c10::cuda::CUDACachingAllocator::emptyCache();
#endif
  };
  for (int i = 0; i < 10; ++i)
    pass();
  const auto before = proof::statistics();
  const double time = proof::millisecondsOf([&] {
    for (int i = 0; i < 100; ++i)
      pass();
  });
  const auto after = proof::statistics();
  std::printf("%lld allocations and %lld frees of the device in 100 "
              "iterations, %.3f ms each\n",
              (long long)(after.num_device_alloc - before.num_device_alloc),
              (long long)(after.num_device_free - before.num_device_free),
              time / 100);
}
