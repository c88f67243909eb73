// What is certain, and why.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t --level=0

#include "Inputs/shared.h"
#include <functional>
#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  void watch() {
    last.register_hook([self = shared_from_this()](Tensor g) { return g; });
    fc->weight.register_hook(
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory leak: this hook captures a shared pointer to this object by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
    // CHECK-NOTES: :[[@LINE+1]]:10: note: it is captured here
        [self = shared_from_this()](Tensor g) { return g; });
  }
  torch::nn::Linear fc{4, 4};
  Tensor last; // Set anew by each forward pass.
};

void hooks(Tensor w) {
  Tensor loss = w.exp().sum();
  w.register_hook([loss](Tensor g) { return g * loss; });
  auto hook = [loss, w](Tensor g) { return g * loss + w.grad(); };
  w.register_hook(hook);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  // CHECK-NOTES: :[[@LINE-3]]:22: note: it is captured here
}

struct Session {
  torch::nn::Linear net{4, 4};
  std::function<Tensor(Tensor)> run;
};
void open(std::shared_ptr<Session> session) {
  session->run = [session](Tensor x) { return session->net(x); };
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: memory leak: the function in 'run' captures 'session' by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
}
// Another file may clear it.
void share(std::shared_ptr<Shared> shared) {
  shared->run = [shared](Tensor x) { return shared->net(x); };
}
