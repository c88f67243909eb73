// The way to the script, and what shows that memory is meant.
// RUN: %check_libtorch_tidy %s libtorch-oom-catch-type %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

Tensor predict(torch::jit::Module &module, const Tensor &x) {
  return module.forward({x}).toTensor();
}
Tensor predictAll(torch::jit::Module &module, const Tensor &x) {
  return predict(module, x.contiguous());
}

void smaller(torch::jit::Module &module, const Tensor &x, int64_t batch) {
  try {
    predictAll(module, x);
  } catch (const c10::Error &e) {
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: 'predictAll' runs a TorchScript module
  // CHECK-NOTES: :[[@LINE-9]]:10: note: 'predict' runs a TorchScript module
  // CHECK-NOTES: :[[@LINE-13]]:10: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
  // CHECK-NOTES: :[[@LINE+1]]:5: note: the handler is meant for running out of memory: it retries with less work
    batch /= 2;
  }
}

void text(torch::jit::Module &module, const Tensor &x) {
  try {
    module.forward({x});
  } catch (const c10::Error &e) {
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
  // CHECK-NOTES: :[[@LINE+1]]:26: note: the handler is meant for running out of memory: its text mentions it
    if (strstr(e.what(), "out of memory"))
      return;
    throw;
  }
}

bool oom = false;
void flag(torch::jit::Module &module, const Tensor &x) {
  try {
    module.forward({x});
  } catch (const c10::Error &e) {
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
  // CHECK-NOTES: :[[@LINE+1]]:5: note: the handler is meant for running out of memory: it uses 'oom'
    oom = true;
  }
}

Tensor made(int64_t n) {
  try {
    return torch::zeros({n}).exp_();
  } catch (const c10::OutOfMemoryError &e) {
  }
  try {
    return torch::zeros({n});
  } catch (const c10::OutOfMemoryError &e) {
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees the CPU run out of memory: its allocator throws a plain 'c10::Error', not 'c10::OutOfMemoryError'; catch 'c10::Error' [libtorch-oom-catch-type]
  // CHECK-NOTES: :[[@LINE-3]]:12: note: this tensor is made on the CPU, and nothing in the try block allocates on a device
    return Tensor();
  }
}
