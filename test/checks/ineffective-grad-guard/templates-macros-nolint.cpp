// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=0

#include <torch/torch.h>

using torch::Tensor;

template <typename Net> Tensor run(Net net, Tensor x) {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  // CHECK-FIXES: torch::NoGradGuard no_grad_guard;
  torch::AutoGradMode(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this AutoGradMode has no name
  // CHECK-FIXES: torch::AutoGradMode guard(false);
  return net(x);
}

template <typename Net> Tensor vexing(Net net, Tensor x) {
  torch::NoGradGuard guard();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: ineffective guard: 'guard' declares a function
  // CHECK-FIXES: torch::NoGradGuard guard;
  return net(x);
}

template <typename Net> Tensor closed(Net net, Tensor x) {
  { torch::NoGradGuard guard; }
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'guard' ends with its block
  return net(x);
}

template <typename Net> struct Runner {
  Net net;
  Tensor run(Tensor x) {
    static torch::NoGradGuard guard;
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: misplaced guard: static 'guard' is made once
    // CHECK-FIXES: torch::NoGradGuard guard;
    return net(x);
  }
};

// Any class may be meant.
template <typename Guard> Tensor with(torch::nn::Linear net, Tensor x) {
  Guard();
  {
    Guard guard;
  }
  return net(x);
}

void instantiate(torch::nn::Linear net, torch::nn::Conv2d conv, Tensor x) {
  run(net, x);
  run(conv, x);
  vexing(net, x);
  closed(net, x);
  Runner<torch::nn::Linear>{net}.run(x);
  with<torch::NoGradGuard>(net, x);
}

#define NO_GRAD torch::NoGradGuard no_grad_guard
#define NO_GRAD_UNNAMED torch::NoGradGuard()
#define EXPECT_NO_THROW(STATEMENT)                                             \
  try {                                                                        \
    STATEMENT;                                                                 \
  } catch (...) {                                                              \
  }
#define DEBUG(STATEMENT)

Tensor named_by_macro(torch::nn::Linear net, Tensor x) {
  NO_GRAD;
  return net(x);
}

Tensor unnamed_by_macro(torch::nn::Linear net, Tensor x) {
  NO_GRAD_UNNAMED;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  return net(x);
}

Tensor blocks(torch::nn::Linear net, Tensor x) {
  {
    NO_GRAD;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective guard: 'no_grad_guard' ends with its block
  }
  {
    NO_GRAD;
    DEBUG(net(x));
  }
  EXPECT_NO_THROW(torch::NoGradGuard());
  EXPECT_NO_THROW({ torch::NoGradGuard guard; });
  return net(x);
}

Tensor suppressed(torch::nn::Linear net, Tensor x) {
  torch::NoGradGuard(); // NOLINT(libtorch-ineffective-grad-guard)
  // NOLINTNEXTLINE
  torch::NoGradGuard guard();
  return net(x);
}
