// Copies, values that are taken anew, and views that are meant.
// RUN: %check_libtorch_tidy %s libtorch-shared-snapshot %t --level=2

#include <torch/torch.h>

using torch::Tensor;
void note(double);

void copies(torch::nn::Linear net, torch::optim::SGD &optimizer, Tensor input) {
  auto before = net->weight.detach().clone();
  auto norm = net->weight.detach().norm();
  auto cast = net->weight.detach().to(torch::kFloat64);
  auto features = input.detach();
  optimizer.step();
  note((net->weight - before).norm().item<double>());
  note((net->weight.norm() - norm).item<double>());
  note((net->weight - cast).norm().item<double>());
  note((net->weight - features).norm().item<double>());
}
void no_step(torch::nn::Linear net) {
  auto before = net->weight.detach();
  note((net->weight - before).norm().item<double>());
}
void taken_anew(torch::nn::Linear net, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    optimizer.step();
    auto now = net->weight.detach();
    note((net->weight - now).norm().item<double>());
  }
}
// The values of today.
void live(torch::nn::Linear net, torch::optim::SGD &optimizer, int n) {
  auto weight = net->weight.detach();
  for (int i = 0; i < n; ++i) {
    optimizer.step();
    note(weight.norm().item<double>());
  }
}
void clamped(torch::nn::Linear net, torch::optim::SGD &optimizer) {
  auto weight = net->weight.detach();
  optimizer.step();
  weight.clamp_(-1, 1);
  note((net->weight - weight).norm().item<double>());
}
void other_module(torch::nn::Linear net, torch::nn::Linear teacher, torch::optim::SGD &optimizer) {
  auto target = teacher->weight.detach();
  optimizer.step();
  note((net->weight - target).norm().item<double>());
}
void replaced(torch::nn::Linear net, torch::optim::SGD &optimizer) {
  auto before = net->weight.detach();
  optimizer.step();
  before = torch::zeros_like(before);
  note((net->weight - before).norm().item<double>());
}
