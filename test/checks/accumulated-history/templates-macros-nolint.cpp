// A template is told once; macros are told and left alone; NOLINT is obeyed.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

template <typename Model> void validate(Model &model, const Batches &data) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += model->forward(x).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += model->forward(x).sum().detach();
  std::cout << total;
}
void use(Net a, torch::nn::Linear b, const Batches &data) {
  validate(a, data);
  validate(b, data);
}
template <typename Model> void never_instantiated(Model &model, Tensor x) {
  Tensor total;
  while (true)
    total += model->forward(x);
}

#define ADD(total, x) total += (x)
#define LOOP(body)                                                             \
  for (const Tensor &x : data) {                                               \
    body                                                                       \
  }
void macros(Net net, const Batches &data) {
  Tensor a = torch::zeros({}), b = torch::zeros({});
  for (const Tensor &x : data)
    ADD(a, net(x).sum());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: 'a' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  LOOP(b += net(x).sum();)
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'b' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
  std::cout << a << b;
}

void suppressed(Net net, const Batches &data) {
  Tensor a = torch::zeros({}), b = torch::zeros({});
  for (const Tensor &x : data) {
    a += net(x).sum(); // NOLINT(libtorch-accumulated-history)
    // NOLINTNEXTLINE(libtorch-*)
    b += net(x).sum();
  }
  std::cout << a << b;
}

auto in_lambda = [](Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += net(x).sum().detach();
  std::cout << total;
};

// Odd but legal code: nothing to say, no crash.
void odd(const Batches &data) {
  for (;;) {
  }
  goto out;
out:
  try {
    for (const Tensor &x : data)
      throw x;
  } catch (...) {
  }
}
void function_try(Net net, const Batches &data) try {
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += net(x).sum().detach();
  std::cout << total;
} catch (const std::exception &) {
}
