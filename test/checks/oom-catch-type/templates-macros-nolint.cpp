// RUN: %check_libtorch_tidy %s libtorch-oom-catch-type %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

void report(const char *text);

// Once for all instantiations, those with a general type aside.
template <typename E, typename T> void run(torch::jit::Module &module, T x) {
  try {
    module.forward({x});
  } catch (const E &e) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    report("out of memory");
  }
}
void instances(torch::jit::Module &module, const Tensor &x) {
  run<c10::Error>(module, x);
  run<c10::Error>(module, 1.0);
  run<std::exception>(module, x);
}

#define GUARDED(call)                                                          \
  try {                                                                        \
    call;                                                                      \
  } catch (const c10::OutOfMemoryError &e) {                                   \
    report(e.what());                                                          \
  }
void macro(torch::jit::Module &module, const Tensor &x) {
  GUARDED(module.forward({x}))
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
  GUARDED(x.exp())
}

void silenced(torch::jit::Module &module, const Tensor &x) {
  try {
    module.forward({x});
  } catch (const c10::OutOfMemoryError &e) { // NOLINT(libtorch-oom-catch-type)
    report("memory");
  }
}

struct Members {
  Tensor y;
  // The members that are made are part of what is tried.
  Members(torch::jit::Module &module, const Tensor &x) try
      : y(module.forward({x}).toTensor()) {
    module.forward({y});
  } catch (const c10::OutOfMemoryError &e) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    report("memory");
  }
};
