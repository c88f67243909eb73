// Parameters that are frozen where the module runs bring no history.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/script.h>

using torch::Tensor;

void train(Net net, bool on) {
  for (auto &p : net->parameters())
    p.requires_grad_(on);
}
void freeze(std::vector<Tensor> parameters) {
  for (auto &p : parameters)
    p.detach_();
}
torch::jit::Module load(const std::string &path) {
  torch::jit::Module loaded = torch::jit::load(path);
  loaded.eval();
  return torch::jit::optimize_for_inference(loaded);
}

float around(Net net, const Tensor &x) {
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  const float y = net(x).item<float>();
  for (auto &p : net->parameters())
    p.requires_grad_(true);
  return y;
}
float byHelper(Net net, Net other, const Tensor &x) {
  train(net, false);
  freeze(other->parameters());
  const float y = net(x).item<float>() + other(x).item<float>();
  train(net, true);
  return y;
}
float byIndex(Net net, const Tensor &x) {
  auto all = net->parameters();
  for (size_t i = 0; i < all.size(); ++i)
    all[i].set_requires_grad(false);
  return net(x).item<float>();
}

float byAlgorithm(Net net, const Tensor &x) {
  auto all = net->parameters();
  std::for_each(all.begin(), all.end(),
                [](Tensor &p) { p.set_requires_grad(false); });
  return net(x).item<float>();
}
float byGenericLambda(Net net, const Tensor &x) {
  auto all = net->parameters();
  std::for_each(all.begin(), all.end(), [](auto &p) { p.set_requires_grad(false); });
  return net(x).item<float>();
}
static void stop(Tensor p) { p.requires_grad_(false); }
static void let(Tensor p, bool train) { p.set_requires_grad(train); }
float byEach(Net net, Net other, Net third, const Tensor &x) {
  for (auto &p : net->parameters())
    stop(p);
  for (auto &p : other->parameters())
    let(p, false);
  auto off = [](auto &p) { p.requires_grad_(false); };
  for (auto &p : third->parameters())
    off(p);
  return net(x).item<float>() + other(x).item<float>() + third(x).item<float>();
}
float byNamedParameters(Net net, const Tensor &x) {
  auto all = net->named_parameters();
  std::for_each(all.begin(), all.end(),
                [](torch::OrderedDict<std::string, Tensor>::Item &p) {
                  p.value().requires_grad_(false);
                });
  return net(x).item<float>();
}
float byApply(Net net, const Tensor &x) {
  net->apply([](torch::nn::Module &layer) {
    for (auto &p : layer.parameters(/*recurse=*/false))
      p.requires_grad_(false);
  });
  return net(x).item<float>();
}
void still(torch::nn::Module &layer) {
  for (auto &p : layer.parameters(/*recurse=*/false))
    p.requires_grad_(false);
}
float byFunction(Net net, const Tensor &x) {
  net->apply(still);
  return net(x).item<float>();
}
float byName(Net net, const Tensor &x) {
  net->apply([](const std::string &, torch::nn::Module &layer) { still(layer); });
  return net(x).item<float>();
}
float byLayers(Net net, const Tensor &x) {
  for (auto &layer : net->children())
    for (auto &p : layer->parameters())
      p.set_requires_grad(false);
  return net(x).item<float>();
}
float byNamedLayers(Net net, const Tensor &x) {
  for (const auto &layer : net->named_modules())
    for (auto &p : layer.value()->parameters(/*recurse=*/false))
      p.set_requires_grad(false);
  return net(x).item<float>();
}
// Only some of them.
float byAlgorithmIf(Net net, const Tensor &x, int64_t rank) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto all = net->parameters();
  std::for_each(all.begin(), all.end(), [&](Tensor &p) {
    if (p.dim() == rank)
      p.set_requires_grad(false);
  });
  return net(x).item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'byAlgorithmIf'
}
float byEachIf(Net net, Net other, const Tensor &x, int64_t rank) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  for (auto &p : net->parameters())
    if (p.dim() == rank)
      stop(p);
  for (auto &p : other->parameters())
    let(p, true);
  return net(x).item<float>() + other(x).item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'byEachIf'
}
float byLayersIf(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  for (auto &layer : net->children())
    if (layer->as<torch::nn::Linear>())
      for (auto &p : layer->parameters())
        p.set_requires_grad(false);
  return net(x).item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'byLayersIf'
}

class Agent {
public:
  Agent() {
    for (auto &p : target->parameters())
      p.detach_();
  }
  float value(const Tensor &x) { return target(x).item<float>(); }
  float act(const Tensor &x) {
    train(net, false);
    const float y = net(x).item<float>();
    train(net, true);
    return y;
  }
  Net net, target;
};
float ofAnother(Agent &agent, const Tensor &x) {
  return agent.target(x).item<float>();
}

float scripts(const std::string &path, const Tensor &x) {
  torch::jit::Module made = load(path), here = torch::jit::load(path);
  torch::jit::freeze_module_inplace(&here);
  return made.forward({x}).toTensor().item<float>() +
         here.forward({x}).toTensor().item<float>();
}

// They train again, or some of them still do.
float thawed(Net net, Net some, const Tensor &x) {
  train(net, false);
  train(net, true);
  const float y = net(x).item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'net' runs in 'thawed'
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  bool first = true;
  for (auto &p : some->parameters()) {
    if (first)
      p.requires_grad_(false);
    first = false;
  }
  return y + some(x).item<float>();
}
