// A model that differentiates inside throws under a guard: silent.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad,libtorch-jit-unguarded-warmup %t

#include <iostream>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using Dict = c10::Dict<std::string, Tensor>;

// The inputs require gradients: why else?
double by_inputs(torch::jit::Module &model, std::vector<float> &xyz) {
  auto options = torch::TensorOptions().requires_grad(true);
  Tensor pos = torch::from_blob(xyz.data(), {4, 3}, options);
  return model.forward({pos}).toTensor().item<double>();
}
double by_dict(torch::jit::Module &model, Tensor pos) {
  pos.requires_grad_(true);
  Dict input;
  input.insert("pos", pos);
  auto out = model.forward({input}).toGenericDict();
  return out.at("total").toTensor().item<double>();
}

// So do names: of methods, outputs, variables and members.
double by_method(torch::jit::Module &model, const Tensor &pos) {
  auto out = model.run_method("forward_lower", pos).toTuple();
  return out->elements()[0].toTensor().item<double>();
}
void by_output(torch::jit::Module &model, const Tensor &pos, double *f) {
  auto out = model.forward({pos}).toGenericDict();
  Tensor values = out.at("forces").toTensor().cpu();
  std::copy_n(values.data_ptr<double>(), values.numel(), f);
}
class Potential {
public:
  void compute(const Tensor &pos) {
    auto out = model_.forward({pos}).toTuple();
    atomVirial_ = out->elements()[1].toTensor().sum().item<double>();
  }

private:
  torch::jit::Module model_;
  double atomVirial_ = 0;
};
// No warm-up without gradients either.
void warm_up(torch::jit::Module &model, const Tensor &pos, bool evaluate) {
  std::vector<double> dforce;
  model.forward({pos});
  if (evaluate)
    dforce.resize(12);
  torch::NoGradGuard guard;
  model.forward({pos});
}

// An eager model of the kind.
struct EnergyImpl : torch::nn::Module {
  EnergyImpl() { fc = register_module("fc", torch::nn::Linear(3, 1)); }
  Tensor forward(Tensor pos) {
    pos.requires_grad_();
    Tensor energy = fc(pos).sum();
    return -torch::autograd::grad({energy}, {pos})[0];
  }
  Tensor energy(Tensor pos) {
    pos.requires_grad_();
    Tensor total = fc(pos).sum();
    Tensor slope = torch::autograd::grad({total}, {pos}, {}, true)[0];
    return total + slope.norm();
  }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Energy);
void eager(Energy model, const Tensor &pos) {
  std::cout << model(pos).norm().item<double>();
  std::cout << model->energy(pos).item<double>();
}
struct Wrapped : torch::nn::Module {
  Wrapped() { inner = register_module("inner", Energy()); }
  Tensor forward(Tensor pos) { return inner->energy(pos); }
  Energy inner{nullptr};
};
void wrapped(Wrapped &model, const Tensor &pos) {
  std::cout << model.forward(pos).item<double>();
}

// One of another file: the names of what it returns say what it does.
struct SchNetImpl : torch::nn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor graph);
  torch::nn::Linear fc{3, 1};
};
TORCH_MODULE(SchNet);
float unseen(SchNet model, const Tensor &graph) {
  auto [energy, forces] = model->forward(graph);
  return energy.item<float>() + forces.norm().item<float>();
}
float unseen_pair(SchNet model, const Tensor &graph) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto [mean, deviation] = model->forward(graph);
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: inference without NoGradGuard: 'model' runs in 'unseen_pair' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return mean.item<float>() + deviation.norm().item<float>();
}

// Names that say something else.
void forced(torch::jit::Module &model, const Tensor &x, bool force_cpu) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  if (!force_cpu)
    std::cerr << "enforce: no gradients here";
  std::cout << model.forward({x}).toTensor().argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'forced' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
// Inputs that do not require them.
void plain(torch::jit::Module &model, std::vector<float> &xyz) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto options = torch::TensorOptions().requires_grad(false);
  Tensor pos = torch::from_blob(xyz.data(), {4, 3}, options);
  std::cout << model.forward({pos}).toTensor().argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'plain' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
