// A loop that applies one layer after the other is a forward pass, not a growth; one
// that applies the same layer again and again is.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -- -I%S/../Inputs

#include "net.h"
#include <torch/script.h>

using torch::Tensor;
namespace nn = torch::nn;

float through_a_list(std::vector<nn::Linear> &layers, Tensor x) {
  for (auto &layer : layers)
    x = layer->forward(x);
  return x.sum().item<float>();
}
float through_indices(nn::Sequential net, Tensor x) {
  for (size_t i = 0; i < net->size(); ++i)
    x = net[i]->as<nn::Linear>()->forward(x);
  return x.sum().item<float>();
}
float through_children(torch::jit::Module &net, Tensor x) {
  for (const torch::jit::Module &child : net.children()) {
    torch::jit::Module own = child;
    x = own.forward({x}).toTensor();
  }
  return x.sum().item<float>();
}
static Tensor run(nn::Linear layer, const Tensor &x) {
  return layer->forward(x);
}
float through_a_helper(std::vector<nn::Linear> &layers, Tensor x) {
  for (auto it = layers.begin(); it != layers.end(); ++it)
    x = run(*it, x);
  return x.sum().item<float>();
}
struct Described {
  std::shared_ptr<torch::jit::Module> module;
  int64_t parameters;
};
static Tensor describe(Described *what, const Tensor &x) {
  what->parameters = what->module->parameters().size();
  return what->module->forward({x}).toTensor();
}
float through_descriptions(torch::jit::Module &net, Tensor x) {
  for (const torch::jit::Module &child : net.children()) {
    Described one{std::make_shared<torch::jit::Module>(child), 0};
    x = describe(&one, x);
  }
  return x.sum().item<float>();
}

float again_and_again(nn::Linear layer, Tensor x, int n) {
  for (int i = 0; i < n; ++i)
    x = layer->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: 'x' keeps the autograd graph and activations of every iteration, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: x = layer->forward(x).detach();
  return x.sum().item<float>();
}
float over_time(std::vector<nn::Linear> &layers, int n) {
  Tensor state = torch::zeros({4});
  for (int i = 0; i < n; ++i) {
    for (auto &layer : layers)
      state = layer->forward(state);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'state' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: state = layer->forward(state).detach();
  }
  return state.sum().item<float>();
}
float sum_of_layers(std::vector<nn::Linear> &layers, const Tensor &x) {
  Tensor sum = torch::zeros({4});
  for (auto &layer : layers)
    sum += layer->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: sum += layer->forward(x).detach();
  return sum.sum().item<float>();
}
float sum_written_out(std::vector<nn::Linear> &layers, const Tensor &x) {
  Tensor sum = torch::zeros({4});
  for (auto &layer : layers)
    sum = sum + layer->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: sum = sum + layer->forward(x).detach();
  return sum.sum().item<float>();
}
static Tensor loss_of(nn::Linear &net, int i) {
  return net->forward(torch::ones({4})).sum() * i;
}
float same_net_by_reference(nn::Linear net, int n) {
  Tensor sum;
  for (int i = 0; i < n; ++i)
    sum = sum.defined() ? sum + loss_of(net, i) : torch::zeros({});
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: sum = (sum.defined() ? sum + loss_of(net, i) : torch::zeros({})).detach();
  return sum.item<float>();
}
static Tensor again(nn::Linear &net, const Tensor &x) {
  return net->forward(x);
}
float same_layer_by_reference(nn::Linear net, Tensor x, int n) {
  for (int i = 0; i < n; ++i)
    x = again(net, x);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: 'x' keeps the autograd graph and activations of every iteration, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: x = again(net, x).detach();
  return x.sum().item<float>();
}
