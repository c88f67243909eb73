// A TorchScript module that is warmed up without a guard.
#include "Memory.h"
#include <torch/torch.h>

/// Four layers whose activations have 1 MB each for 1024 rows.
torch::jit::Module makeModule() {
  torch::jit::Module module("net");
  for (const char *name : {"w0", "w1", "w2", "w3"})
    module.register_parameter(
        name, torch::randn({256, 256}, torch::requires_grad()), false);
  module.define(R"JIT(
    def forward(self, x):
      x = torch.relu(torch.mm(x, self.w0))
      x = torch.relu(torch.mm(x, self.w1))
      x = torch.relu(torch.mm(x, self.w2))
      return torch.relu(torch.mm(x, self.w3))
  )JIT");
  return module;
}

void predict(torch::jit::Module module, const torch::Tensor &rows) {
#ifdef FIXED
  torch::NoGradGuard warm_up_guard;
#endif
  module.forward({rows});
  torch::NoGradGuard no_grad;
  for (int i = 0; i < 3; ++i) {
    proof::Span span;
    torch::Tensor scores = module.forward({rows}).toTensor();
    span.print("guarded call");
    std::printf("requires grad: %d\n", scores.requires_grad());
    const float *first = scores.data_ptr<float>();
    proof::printBits("scores",
                     std::vector<float>(first, first + scores.numel()));
  }
}

int main() {
  proof::begin();
  predict(makeModule(), torch::randn({1024, 256}));
}
