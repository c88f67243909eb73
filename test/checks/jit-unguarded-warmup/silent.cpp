// Guarded from the first call, never guarded, or not to be guarded.
// RUN: %check_libtorch_tidy %s libtorch-jit-unguarded-warmup %t -- -- -I%S/../Inputs
#include "net.h"
#include <torch/script.h>

using torch::Tensor;

void guarded(torch::jit::Module &module, const Tensor &x) {
  {
    torch::NoGradGuard warm_up;
    module.forward({x});
  }
  module.forward({x});
  torch::NoGradGuard no_grad;
  module.forward({x});
}

void never(torch::jit::Module &module, const Tensor &x) {
  module.forward({x});
  module.forward({x});
}

// One or the other.
Tensor either(torch::jit::Module &module, const Tensor &x, bool train) {
  if (train)
    return module.forward({x}).toTensor();
  torch::NoGradGuard no_grad;
  return module.forward({x}).toTensor();
}
void branches(torch::jit::Module &module, const Tensor &x, bool train) {
  if (train) {
    module.forward({x});
  } else {
    torch::NoGradGuard no_grad;
    module.forward({x});
  }
}

// Trained, then evaluated.
void fine_tune(torch::jit::Module &module, const Tensor &x) {
  module.forward({x}).toTensor().sum().backward();
  torch::NoGradGuard no_grad;
  module.forward({x});
}

// Two modules; another one by then.
void modules(torch::jit::Module &a, torch::jit::Module &b, const Tensor &x) {
  a.forward({x});
  {
    torch::NoGradGuard no_grad;
    b.forward({x});
  }
  a = torch::jit::load("model.pt");
  torch::NoGradGuard no_grad;
  a.forward({x});
}

// Not of TorchScript: it remembers nothing.
void eager(Net &net, const Tensor &x) {
  net(x);
  torch::NoGradGuard no_grad;
  net(x);
}

// Frozen: there is nothing to record.
void frozen(const std::string &path, const Tensor &x) {
  auto module = torch::jit::freeze(torch::jit::load(path));
  module.forward({x});
  torch::NoGradGuard no_grad;
  module.forward({x});
}
void without_gradients(torch::jit::Module &module, const Tensor &x) {
  for (auto parameter : module.parameters())
    parameter.set_requires_grad(false);
  module.forward({x});
  torch::NoGradGuard no_grad;
  module.forward({x});
}

// Called under a guard only.
static void warm_up(torch::jit::Module &module, const Tensor &x) {
  module.forward({x});
  torch::NoGradGuard no_grad;
  module.forward({x});
}
void calls(torch::jit::Module &module, const Tensor &x) {
  torch::NoGradGuard no_grad;
  warm_up(module, x);
}

class Detector {
public:
  explicit Detector(const std::string &path) : module_(torch::jit::load(path)) {
    torch::NoGradGuard guard;
    module_.forward({torch::zeros({1, 4})});
  }
  Tensor detect(const Tensor &x) {
    torch::NoGradGuard guard;
    return module_.forward({x}).toTensor();
  }

private:
  torch::jit::script::Module module_;
};
