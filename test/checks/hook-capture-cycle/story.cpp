// Where what the hook holds gets its history.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t
#include <torch/torch.h>

using torch::Tensor;

void computed(Tensor w) {
  Tensor y = w * 2;
  w.register_hook([y](Tensor grad) { return grad * y.sum(); });
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'y' by value, which is computed from the hooked tensor 'w': its graph keeps that tensor and its hook, so none of them is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  // CHECK-NOTES: :[[@LINE-3]]:14: note: 'y' gets its autograd graph here
}
