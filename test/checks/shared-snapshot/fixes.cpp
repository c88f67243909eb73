// Values that are kept change with the next step.
// RUN: %check_libtorch_tidy %s libtorch-shared-snapshot %t --level=1

#include <torch/torch.h>

#include <map>

using torch::Tensor;
void note(double);

void difference(torch::nn::Linear net, torch::optim::SGD &optimizer) {
  auto before = net->weight.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: shared memory: 'before' has the memory of the parameter, which the optimizer writes in place, and is read after that with the new values; clone() it [libtorch-shared-snapshot]
  // CHECK-FIXES: auto before = net->weight.detach().clone();
  optimizer.step();
  note((net->weight - before).norm().item<double>());
}
void compared(torch::nn::Linear net, torch::optim::Adam &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    Tensor old = net->weight.data();
    // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: shared memory: 'old' has the memory of the parameter
    // CHECK-FIXES: Tensor old = net->weight.data().clone();
    optimizer.step();
    if (torch::equal(old, net->weight))
      return;
  }
}
// The best ones so far.
void best(torch::nn::Linear net, torch::optim::SGD &optimizer, int n) {
  std::vector<Tensor> saved;
  double lowest = 1e9;
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(torch::ones({2, 4})).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (loss.item<double>() < lowest) {
      lowest = loss.item<double>();
      saved.clear();
      for (const auto &p : net->parameters())
        saved.push_back(p.detach());
      // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: shared memory: 'saved' has the memory of the parameter
      // CHECK-FIXES: saved.push_back(p.detach().clone());
    }
  }
  torch::NoGradGuard guard;
  auto parameters = net->parameters();
  for (size_t i = 0; i < saved.size(); ++i)
    parameters[i].copy_(saved[i]);
}
void by_name(torch::nn::Linear net, torch::optim::SGD &optimizer) {
  std::map<std::string, Tensor> start;
  for (const auto &item : net->named_parameters())
    start[item.key()] = item.value().detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: shared memory: 'start' has the memory of the parameter
  // CHECK-FIXES: start[item.key()] = item.value().detach().clone();
  optimizer.step();
  for (const auto &item : net->named_parameters())
    note((item.value() - start[item.key()]).norm().item<double>());
}
