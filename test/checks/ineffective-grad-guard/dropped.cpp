// Guards that a function makes, and nobody keeps.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=0

#include <memory>
#include <torch/torch.h>

using torch::Tensor;

torch::NoGradGuard make_guard() { return torch::NoGradGuard(); }
std::unique_ptr<torch::NoGradGuard> guard_unless(bool training) {
  return training ? nullptr : std::make_unique<torch::NoGradGuard>();
}

Tensor factory(torch::nn::Linear net, Tensor x) {
  make_guard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name, so it ends with its own statement and guards nothing; give it a name [libtorch-ineffective-grad-guard]
  // CHECK-FIXES: const auto no_grad_guard = make_guard();
  return net(x);
}

Tensor pointer(torch::nn::Linear net, Tensor x, bool training) {
  std::make_unique<torch::NoGradGuard>();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  // CHECK-FIXES: const auto no_grad_guard = std::make_unique<torch::NoGradGuard>();
  std::make_shared<torch::AutoGradMode>(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this AutoGradMode has no name
  // CHECK-FIXES: const auto guard = std::make_shared<torch::AutoGradMode>(false);
  guard_unless(training);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  // CHECK-FIXES: const auto no_grad_guard2 = guard_unless(training);
  return net(x);
}

Tensor cast(torch::nn::Linear net, Tensor x) {
  (void)make_guard();
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: ineffective guard: this NoGradGuard has no name
  return net(x);
}

// Somebody else holds it, or it lives on.
std::shared_ptr<torch::NoGradGuard> shared_guard();
Tensor kept(torch::nn::Linear net, Tensor x) {
  shared_guard();
  auto guard = make_guard();
  std::vector<std::unique_ptr<torch::NoGradGuard>> guards;
  guards.push_back(std::make_unique<torch::NoGradGuard>());
  std::unique_ptr<torch::NoGradGuard> perhaps;
  perhaps = guard_unless(false);
  return make_guard(), net(x);
}
