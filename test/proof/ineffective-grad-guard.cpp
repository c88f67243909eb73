// Guards that guard nothing, and one that never ends.
#include "Memory.h"
#include <torch/torch.h>

/// Eight layers whose activations have 1 MB each for 1024 rows.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    for (int i = 0; i < 8; ++i)
      layers->push_back(torch::nn::Linear(256, 256));
    register_module("layers", layers);
  }
  torch::Tensor forward(torch::Tensor x) {
    for (const auto &layer : *layers)
      x = torch::relu(layer->as<torch::nn::Linear>()->forward(x));
    return x;
  }
  torch::nn::ModuleList layers;
};
TORCH_MODULE(Net);

float unnamed(Net &net, const torch::Tensor &rows) {
  proof::Span span;
#ifndef FIXED
  torch::NoGradGuard();
#else
  torch::NoGradGuard no_grad_guard;
#endif
  torch::Tensor scores = net->forward(rows);
  span.print("prediction under a guard without a name");
  return scores.sum().item<float>();
}

float declared(Net &net, const torch::Tensor &rows) {
  proof::Span span;
#ifndef FIXED
  torch::NoGradGuard guard();
#else
  torch::NoGradGuard guard;
#endif
  torch::Tensor scores = net->forward(rows);
  span.print("prediction under a guard with parentheses");
  return scores.sum().item<float>();
}

float lasting(Net &net, const torch::Tensor &rows) {
#ifndef FIXED
  static torch::NoGradGuard guard;
#else
  torch::NoGradGuard guard;
#endif
  torch::Tensor scores = net->forward(rows);
  return scores.sum().item<float>();
}

int main() {
  proof::begin();
  Net net;
  torch::Tensor rows = torch::randn({1024, 256});
  unnamed(net, rows); // Fills LibTorch's caches.
  std::vector<float> sums = {unnamed(net, rows), declared(net, rows),
                             lasting(net, rows)};
  std::printf("gradient mode after a static guard: %s\n",
              torch::GradMode::is_enabled() ? "on" : "off");
  proof::printBits("sums", sums);
}
