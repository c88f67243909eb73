// A TorchScript method that gets no tensor, and whose result is read as
// something else, returns an attribute: it is no forward pass.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad,libtorch-jit-unguarded-warmup %t

#include <iostream>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

struct Settings {
  double cutoff;
  int64_t types;
  bool spin;
  std::string name;
};

Settings settings(torch::jit::Module &model) {
  Settings s;
  s.cutoff = model.run_method("get_rcut").toDouble();
  s.types = model.run_method("get_ntypes").toInt();
  s.spin = model.get_method("has_spin")({}).toBool();
  s.name = model.run_method("get_name").toStringRef();
  for (const auto &type : model.run_method("get_type_map").toList())
    std::cout << c10::IValue(type).toStringRef();
  auto options = model.run_method("get_options").toGenericDict();
  std::cout << options.size();
  auto scale = model.run_method("get_scale", 3, "volts");
  if (scale.isDouble())
    std::cout << scale.toDouble();
  model.run_method("reset_state");
  return s;
}

// Then the model is run as it should be.
void ask_first(torch::jit::Module &model, const Tensor &x) {
  std::cout << model.run_method("get_rcut").toDouble();
  torch::NoGradGuard guard;
  std::cout << model.forward({x}).toTensor().argmax();
}

// With a tensor, or as a tensor: a forward pass.
void run(torch::jit::Module &model, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.run_method("score", x).toDouble();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'model' runs with gradient mode on in 'run', but nothing back-propagates the result; its activations are kept as long as the result lives [libtorch-inference-without-no-grad]
}
void generate(torch::jit::Module &model) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.run_method("generate", 3).toTensor().argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'model' runs with gradient mode on in 'generate', but nothing back-propagates the result; its activations are kept as long as the result lives [libtorch-inference-without-no-grad]
}
void listed(torch::jit::Module &model, std::vector<c10::IValue> inputs) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.forward(inputs).toDouble();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'model' runs with gradient mode on in 'listed', but nothing back-propagates the result; its activations are kept as long as the result lives [libtorch-inference-without-no-grad]
}
