// How far a guard reaches: what lives as long as its thread, what is no guard for
// an argument that was meant, and threads that run a forward pass in what they
// call.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t

#include <iostream>
#include <thread>
#include <torch/torch.h>

using torch::Tensor;

float lasting(torch::nn::Linear net, Tensor x) {
  thread_local c10::InferenceMode mode;
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: misplaced guard: thread_local 'mode' ends with its thread, not with this function: gradient mode stays changed for the rest of each thread that comes here; drop 'thread_local' [libtorch-ineffective-grad-guard]
  return net(x).sum().item<float>();
}

float meant(torch::nn::Linear net, Tensor x) {
  c10::InferenceMode guard(bool());
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: ineffective guard: 'guard' declares a function with return type InferenceMode, not a guard (vexing parse): nothing is guarded; use braces [libtorch-ineffective-grad-guard]
  return net(x).sum().item<float>();
}
// A function with a parameter that has a name is meant as one.
float declared(torch::nn::Linear net, Tensor x) {
  c10::InferenceMode guard(bool enabled());
  c10::InferenceMode other(bool (*)());
  return net(x).sum().item<float>();
}

class Service {
public:
  void start() {
    torch::NoGradGuard no_grad;
    threads_.emplace_back([this] { work(); });
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
    // CHECK-FIXES: threads_.emplace_back([this] { torch::NoGradGuard no_grad_guard; work(); });
    threads_.emplace_back([this] { guarded(); });
  }

private:
  void work() { answer(net_(input_)); }
  void guarded() {
    torch::NoGradGuard no_grad;
    work();
  }
  void answer(const Tensor &scores) { std::cout << scores.argmax(); }

  torch::nn::Linear net_{4, 4};
  Tensor input_;
  std::vector<std::thread> threads_;
};
