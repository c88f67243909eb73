// Hooks that refer to what ends before the tensor does.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t

#include <torch/torch.h>

using torch::Tensor;

Tensor returned(Tensor x) {
  int calls = 0;
  Tensor y = x * 2;
  y.register_hook([&](Tensor g) { ++calls; });
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: dangling reference: this hook refers to 'calls', which ends with this function while the tensor keeps the hook: backward() will run it on a dangling reference; capture a copy [libtorch-hook-capture-cycle]
  // CHECK-NOTES: :[[@LINE-2]]:37: note: 'calls' is captured by reference here
  return y;
}

struct NetImpl : torch::nn::Module {
  void watch(double limit) {
    fc->weight.register_hook([&limit](Tensor g) { return g.clamp(0, limit); });
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: dangling reference: this hook refers to 'limit', which ends with this function while the tensor keeps the hook: backward() will run it on a dangling reference; capture a copy [libtorch-hook-capture-cycle]
    // CHECK-NOTES: :[[@LINE-2]]:32: note: 'limit' is captured by reference here
  }
  torch::nn::Linear fc{4, 4};
};
TORCH_MODULE(Net);

void of_parameter(Net net) {
  double sum = 0;
  for (auto &p : net->parameters())
    p.register_hook(
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: dangling reference: this hook refers to 'sum', which ends with this function while the tensor keeps the hook: backward() will run it on a dangling reference; capture a copy [libtorch-hook-capture-cycle]
    // CHECK-NOTES: :[[@LINE+1]]:11: note: 'sum' is captured by reference here
        [&total = sum](Tensor g) { total += g.sum().item<double>(); });
}

double in_a_block(Tensor w) {
  for (int i = 0; i < 3; ++i)
    w.register_hook([&](Tensor g) { return g * i; });
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: dangling reference: this hook refers to 'i', which ends with its block while the tensor keeps the hook: backward() will run it on a dangling reference; capture a copy [libtorch-hook-capture-cycle]
    // CHECK-NOTES: :[[@LINE-2]]:48: note: 'i' is captured by reference here
    // CHECK-NOTES: :[[@LINE+2]]:3: note: this backward() runs the hook
  Tensor loss = w.exp().sum();
  loss.backward();
  return loss.item<double>();
}
