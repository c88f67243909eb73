// A hook needs the values of its tensor only: a detached copy has them.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t

#include <torch/torch.h>

using torch::Tensor;

void leaf() {
  Tensor w = torch::randn({4, 4}, torch::requires_grad());
  w.register_hook([w](Tensor grad) { return grad * w; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  // CHECK-FIXES: w.register_hook([w = w.detach()](Tensor grad) { return grad * w; });
  (w * 2).sum().backward();
}

void all(Tensor w, double scale) {
  auto y = w * 2;
  y.register_hook([=](const Tensor &grad) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'y' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  // CHECK-FIXES: y.register_hook([=, y = y.detach()](const Tensor &grad) {
    std::cout << y.sizes() << y.sum().item<double>();
    return grad * scale;
  });
  y.sum().backward();
}

void renamed(torch::nn::Linear fc) {
  Tensor &w = fc->weight;
  auto unused = w.register_hook([self = w, n = 0](Tensor grad) mutable {
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  // CHECK-FIXES: auto unused = w.register_hook([self = w.detach(), n = 0](Tensor grad) mutable {
    ++n;
    return torch::mul(grad, self.abs());
  });
  auto hook = [b = fc->bias](Tensor grad) { return grad + b; };
  // CHECK-FIXES: auto hook = [b = fc->bias.detach()](Tensor grad) { return grad + b; };
  fc->bias.register_hook(hook);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'fc->bias' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  auto copy = fc->bias;
  copy.register_hook([copy, w](Tensor grad) { return grad + copy + w.sum(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'copy' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  // CHECK-FIXES: copy.register_hook([copy = copy.detach(), w](Tensor grad) { return grad + copy + w.sum(); });
}
