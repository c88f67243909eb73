// RUN: %check_libtorch_tidy %s libtorch-empty-cache-in-loop %t

#include <torch/torch.h>

using torch::Tensor;

// As c10/cuda/CUDACachingAllocator.h declares it, which needs CUDA's headers.
namespace c10::cuda::CUDACachingAllocator {
class CUDAAllocator {
public:
  virtual void emptyCache() = 0;
};
CUDAAllocator *get();
inline void emptyCache() { return get()->emptyCache(); }
} // namespace c10::cuda::CUDACachingAllocator

using c10::cuda::CUDACachingAllocator::emptyCache;

void training(torch::nn::Linear net, torch::optim::Optimizer &optimizer,
              const std::vector<Tensor> &batches) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const Tensor &x : batches) {
      optimizer.zero_grad();
      net(x).sum().backward();
      optimizer.step();
      c10::cuda::CUDACachingAllocator::emptyCache();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    }
  }
}

void inference(torch::nn::Linear net, const Tensor &x, bool option) {
  int iter = 0;
  while (true) {
    Tensor y = net(x);
    if (torch::cuda::is_available())
      emptyCache();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    if (option && iter % 100) {
      emptyCache();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in 99 of 100 iterations gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    }
    if (iter % 50 != 0)
      c10::cuda::CUDACachingAllocator::get()->emptyCache();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in 49 of 50 iterations gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    if (x.is_cuda() && x.device().type() == torch::kCUDA)
      emptyCache();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    ++iter;
  }
}

Tensor step(torch::nn::Linear net, const Tensor &x) { return net(x); }
void helper(torch::nn::Linear net, const Tensor &x) {
  do {
    try {
      step(net, x);
    } catch (const std::exception &) {
      emptyCache();
    }
    { emptyCache(); }
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
  } while (true);
}

template <typename T> void templated(T x) {
  for (int i = 0; i < 1000; ++i) {
    x.exp();
    emptyCache();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
  }
}
void instances(Tensor x) { templated(x); }

#define TIDY_UP emptyCache()
void macro(torch::nn::Linear net, const Tensor &x) {
  for (int i = 0; i < 1000; ++i) {
    net(x);
    TIDY_UP;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
  }
  for (int i = 0; i < 1000; ++i) {
    net(x);
    emptyCache(); // NOLINT(libtorch-empty-cache-in-loop)
  }
}
