// Memory that LibTorch owns is released by hand, on a device. Each kind is run
// by itself: CUDA does not recover.
#include "Device.h"
#include <cuda_runtime.h>

/// Reads all of \p x.
static void use(const torch::Tensor &x) {
  try {
    std::printf("the sum of the other is %g\n", x.sum().item<double>());
  } catch (const std::exception &error) {
    std::string what = error.what();
    std::printf("the other: %s\n", what.substr(0, what.find('\n')).c_str());
  }
}

int main(int argc, char **argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  proof::warmUp();
  proof::allocator().emptyCache();
  // Both are of one segment of 20 MB.
  auto first = torch::ones({1 << 20}, torch::kCUDA);
  auto second = torch::ones({1 << 20}, torch::kCUDA);
  std::printf("%lld bytes apart\n", (long long)((char *)second.data_ptr() -
                                                (char *)first.data_ptr()));
  if (kind == "first")
    std::printf("cudaFree(): %s\n",
                cudaGetErrorName(cudaFree(first.data_ptr())));
  if (kind == "second")
    std::printf("cudaFree(): %s\n",
                cudaGetErrorName(cudaFree(second.data_ptr())));
  if (kind == "reset")
    std::printf("cudaDeviceReset(): %s\n", cudaGetErrorName(cudaDeviceReset()));
  cudaGetLastError();
  use(kind == "first" ? second : first);
  std::fflush(stdout);
}
