// Gradient mode belongs to a thread.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t -- -- -I%S/../Inputs
#include "net.h"
#include <ATen/Parallel.h>
#include <future>
#include <thread>

using torch::Tensor;

void threads(Net &net, const Batches &batches) {
  torch::NoGradGuard no_grad;
  std::thread one([&] {
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
    std::cout << net(batches[0]);
  });
  std::vector<std::thread> many;
  for (const Tensor &x : batches)
    many.emplace_back([&net, x] { std::cout << net->forward(x); });
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
    // CHECK-FIXES: many.emplace_back([&net, x] { torch::NoGradGuard no_grad_guard; std::cout << net->forward(x); });
  many.push_back(std::thread([&net](const Tensor &x) {
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
    Tensor y = net(x);
    std::cout << y.sum().item<float>();
  }, batches[1]));
  auto result = std::async(std::launch::async, [&] {
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
    return net->forward(batches[2]);
  });
  std::cout << result.get();
  one.join();
  for (auto &thread : many)
    thread.join();
}

void named_body(Net &net, const Tensor &x) {
  auto work = [&]() {
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
    std::cout << net(x);
  };
  c10::InferenceMode mode;
  std::thread thread(work);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: ineffective guard: 'mode' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
  thread.join();
}

// What others may call as well is not edited.
void worker(Net &net, const Tensor &x) { std::cout << net(x); }
class Pool {
public:
  void run() { std::cout << net_(torch::ones({8, 4})); }
  void start() {
    torch::NoGradGuard no_grad;
    if (!thread_.joinable()) {
      thread_ = std::thread(&Pool::run, this);
      // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
    }
  }

private:
  Net net_;
  std::thread thread_;
};
void function(Net &net, const Tensor &x) {
  torch::AutoGradMode off(false);
  std::thread thread(worker, std::ref(net), x);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: ineffective guard: 'off' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
  thread.join();
}

// How many threads take part is a matter of the build.
void parallel(Net &net, const Batches &batches, Batches &out) {
  torch::NoGradGuard no_grad;
  at::parallel_for(0, batches.size(), 1, [&](int64_t begin, int64_t end) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: 'no_grad' reaches only the part of this range that the calling thread takes: in other threads the forward pass runs with gradients on; make one there [libtorch-ineffective-grad-guard]
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
    for (int64_t i = begin; i < end; ++i)
      out[i] = net(batches[i]);
  });
}

#define START(Body) std::thread([&] { Body; }).join()
void by_macro(Net &net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  START(std::cout << net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: 'no_grad' does not reach the thread started here: gradient mode belongs to a thread, and the forward pass in this one runs with gradients on; make one there [libtorch-ineffective-grad-guard]
}
