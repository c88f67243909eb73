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

// Inputs in lists of their own, in which no tensor is.
std::vector<c10::IValue> no_inputs() { return std::vector<c10::IValue>(); }
Settings listed_settings(torch::jit::Module &model, int rate) {
  Settings s;
  std::vector<torch::jit::IValue> dummy;
  s.types = model.get_method("num_types")(dummy).toInt();
  s.name = model.get_method("type_name")(dummy).toString()->string();
  std::vector<c10::IValue> rates = {rate};
  model.get_method("reset")(rates);
  auto inputs = no_inputs();
  inputs.push_back("volts");
  inputs.emplace_back(rate);
  std::string method = "scale_of";
  auto scale = model.get_method(method)(inputs);
  s.cutoff = scale.toDouble();
  for (const auto &name : model.get_method("names")(no_inputs()).toList().vec())
    std::cout << name.toStringRef();
  return s;
}

// A getter hands out a value of the model, also where that is a tensor.
class Actor {
public:
  Tensor initial(int envs) {
    std::vector<torch::jit::IValue> input{envs};
    return model_.get_method("get_h0")(input).toTensor();
  }
  float mean() {
    std::string getter = "get_mean";
    return model_.get_method(getter)({}).toTensor().item<float>();
  }

private:
  torch::jit::Module model_ = torch::jit::load("actor.pt");
};

// With a tensor, or as a tensor: a forward pass.
void run(torch::jit::Module &model, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.run_method("score", x).toDouble();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'run' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void generate(torch::jit::Module &model) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.run_method("generate", 3).toTensor().argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'generate' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void listed(torch::jit::Module &model, std::vector<c10::IValue> inputs) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.forward(inputs).toDouble();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'listed' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void pushed(torch::jit::Module &model, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::vector<c10::IValue> inputs;
  inputs.push_back(x);
  std::cout << model.forward(inputs).toDouble();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'pushed' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void fill(std::vector<c10::IValue> &inputs); // In another file.
void filled(torch::jit::Module &model) {
  std::vector<c10::IValue> inputs;
  fill(inputs);
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.forward(inputs).toDouble();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'filled' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void assigned(torch::jit::Module &model, const std::vector<c10::IValue> &from) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::vector<c10::IValue> inputs;
  inputs = from;
  std::cout << model.forward(inputs).toDouble();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'assigned' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void got(torch::jit::Module &model, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::cout << model.run_method("get_scores", x).toTensor().argmax();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'model' runs in 'got' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
// A tensor goes in, and none comes out.
void set(torch::jit::Module &model, const Tensor &x) {
  model.get_method("set_attribute")({"gain", x});
  if (model.run_method("update_buffer", x).toInt() < 0)
    std::cout << "not set";
}
