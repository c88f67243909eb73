// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=0

#include <torch/torch.h>

using torch::Tensor;

Tensor parentheses(torch::nn::Linear net, Tensor x) {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name, so it ends with its own statement and guards nothing; give it a name
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
  return net(x);
}

Tensor braces(torch::nn::Linear net, Tensor x) {
  at::NoGradGuard{};
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  // CHECK-FIXES: at::NoGradGuard no_grad_guard;
  return net(x);
}

Tensor inference(torch::nn::Linear net, Tensor x) {
  c10::InferenceMode();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this InferenceMode has no name
  // CHECK-FIXES: c10::InferenceMode guard;
  return net(x);
}

Tensor argument(torch::nn::Linear net, Tensor x, bool training) {
  torch::AutoGradMode(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this AutoGradMode has no name
  // CHECK-FIXES: torch::AutoGradMode guard(false);
  c10::InferenceMode{!training};
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this InferenceMode has no name
  // CHECK-FIXES: c10::InferenceMode guard2{!training};
  at::AutoDispatchBelowAutograd();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this AutoDispatchBelowAutograd has no name
  // CHECK-FIXES: at::AutoDispatchBelowAutograd guard3;
  return net(x);
}

Tensor taken(torch::nn::Linear net, Tensor x, bool no_grad_guard) {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard2;
  return net(x);
}

struct Evaluator {
  torch::nn::Linear net{2, 2};
  Tensor no_grad_guard;
  Tensor evaluate(Tensor x) {
    using torch::NoGradGuard;
    if (x.defined()) {
      NoGradGuard(); // off
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective guard: this NoGradGuard has no name
      // CHECK-FIXES: NoGradGuard no_grad_guard2; // off
      return net(x) + no_grad_guard;
    }
    auto run = [&] {
      torch::NoGradGuard();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective guard: this NoGradGuard has no name
      // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
      return net(x);
    };
    return run();
  }
};

Tensor vexing(torch::nn::Linear net, Tensor x) {
  torch::NoGradGuard guard();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: ineffective guard: 'guard' declares a function with return type NoGradGuard, not a guard (vexing parse): nothing is guarded
  // CHECK-FIXES: torch::NoGradGuard guard;
  return net(x);
}

Tensor vexing_inference(torch::nn::Linear net, Tensor x) {
  c10::InferenceMode mode();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: ineffective guard: 'mode' declares a function with return type InferenceMode
  // CHECK-FIXES: c10::InferenceMode mode;
  return net(x);
}

Tensor for_good(torch::nn::Linear net, Tensor x) {
  static torch::NoGradGuard guard;
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: misplaced guard: static 'guard' is made once and never ends: gradient mode stays changed for the rest of the first thread that comes here, and no other thread is guarded; drop 'static'
  // CHECK-FIXES: torch::NoGradGuard guard;
  return net(x);
}

Tensor for_good_const(torch::nn::Linear net, Tensor x) {
  static const c10::InferenceMode guard(true);
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: misplaced guard: static 'guard' is made once
  // CHECK-FIXES: const c10::InferenceMode guard(true);
  return net(x);
}
