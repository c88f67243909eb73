// Parameters of a TorchScript module require gradients after load(), and eval()
// leaves them so. The result of freeze() has none; the module it is given keeps
// its own.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

int64_t loaded(torch::jit::Module &module, Tensor x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  module.eval();
  Tensor y = module.forward({x}).toTensor();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: inference without NoGradGuard: 'module' runs in 'loaded' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return y.argmax().item<int64_t>();
}

int64_t frozen(torch::jit::Module &module, Tensor x) {
  auto fast = torch::jit::freeze(module);
  return fast.forward({x}).toTensor().argmax().item<int64_t>();
}

int64_t frozenInPlace(const std::string &path, Tensor x) {
  torch::jit::Module module = torch::jit::load(path);
  module.eval();
  module = torch::jit::freeze(module);
  return module.forward({x}).toTensor().argmax().item<int64_t>();
}

int64_t unfrozen(torch::jit::Module &module, Tensor x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto fast = torch::jit::freeze(module);
  return module.forward({x}).toTensor().argmax().item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: inference without NoGradGuard: 'module' runs in 'unfrozen' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
}

class Frozen {
public:
  explicit Frozen(const std::string &path)
      : module(torch::jit::freeze(torch::jit::load(path))) {}
  int64_t run(Tensor x) {
    return module.forward({x}).toTensor().argmax().item<int64_t>();
  }

private:
  torch::jit::Module module;
};

class FrozenLater {
public:
  explicit FrozenLater(const std::string &path) {
    module = torch::jit::load(path);
    module.eval();
    module = torch::jit::freeze(module);
  }
  int64_t run(Tensor x) {
    return module.forward({x}).toTensor().argmax().item<int64_t>();
  }

private:
  torch::jit::Module module;
};

class Loaded {
public:
  explicit Loaded(const std::string &path) : module(torch::jit::load(path)) {}
  int64_t run(Tensor x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return module.forward({x}).toTensor().argmax().item<int64_t>();
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'module' runs in 'run' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does
  }

private:
  torch::jit::Module module;
};

// The parts of a tuple carry its history on, also through one that is a temporary.
void parts_of_a_tuple(torch::jit::Module &model, const std::vector<torch::jit::IValue> &inputs) {
  auto all = model.forward(inputs).toTuple()->elements();
  torch::Tensor loss = torch::zeros({});
  for (size_t i = 0; i < all.size(); ++i)
    loss += torch::mse_loss(all[i].toTensor(), torch::ones({2}));
  loss.backward();
  auto first = model.forward(inputs).toTuple()->elements()[0].toTensor();
  torch::mse_loss(first, torch::ones({2})).backward();
}
void parts_of_another(torch::jit::Module &model, const std::vector<torch::jit::IValue> &inputs) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto all = model.forward(inputs).toTuple()->elements();
  std::cout << all[0].toTensor().argmax();
  // CHECK-MESSAGES: :[[@LINE-2]]:20: warning: inference without NoGradGuard: 'model' runs in 'parts_of_another' and records an autograd graph that nothing back-propagates
}
