// RUN: %check_libtorch_tidy %s libtorch-oom-catch-type %t --level=0

#include <torch/script.h>
#include <torch/torch.h>

void certain(torch::jit::Module &module, const torch::Tensor &x) {
  try {
    module.forward({x});
  } catch (const c10::OutOfMemoryError &e) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    std::cerr << e.what();
  }
}
void likely(torch::jit::Module &module, const torch::Tensor &x, int64_t n) {
  try {
    module.forward({x});
  } catch (const c10::Error &e) {
    n /= 2;
  }
}

// Code that is not seen may throw what the handler is for.
bool reserve(int64_t n);
void unseen(torch::nn::Linear net, const torch::Tensor &x, int64_t n) {
  try {
    if (reserve(n))
      net(x);
  } catch (const std::runtime_error &e) {
    std::cerr << "out of memory";
  }
}
