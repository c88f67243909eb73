// Guards that guard nothing, one that never ends, and a mode that is left off.
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

void copy_weights(Net &from, Net &to) {
#ifndef FIXED
  torch::GradMode::set_enabled(false);
#else
  torch::NoGradGuard no_grad_guard;
#endif
  auto weights = from->named_parameters();
  for (auto &parameter : to->named_parameters())
    parameter.value().copy_(weights[parameter.key()]);
}

/// Trains after copying, as an agent with a target network does.
void agent(Net &net, const torch::Tensor &rows) {
  Net target;
  copy_weights(net, target);
  std::printf("gradient mode after set_enabled(false): %s\n",
              torch::GradMode::is_enabled() ? "on" : "off");
  torch::optim::SGD optimizer(net->parameters(), 1);
  torch::Tensor loss = net->forward(rows).mean();
  loss.requires_grad_(true); // Without it, backward() throws.
  loss.backward();
  optimizer.step();
  const auto before = target->parameters(), after = net->parameters();
  int changed = 0;
  for (size_t i = 0; i < after.size(); ++i)
    changed += !torch::equal(before[i], after[i]);
  std::printf("weights that training changes after it: %d of %zu\n", changed,
              after.size());
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
  torch::GradMode::set_enabled(true);
  agent(net, rows);
}
