// Found, but what to write instead is not certain.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=0

#include <torch/torch.h>

using torch::Tensor;

Tensor closed_block(torch::nn::Linear net, Tensor x) {
  { torch::NoGradGuard guard; }
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'guard' ends with its block, which holds nothing else: it guards nothing; declare it in the block that it is to guard
  return net(x);
}

Tensor closed_block_lines(torch::nn::Linear net, Tensor x) {
  {
    // Off.
    auto guard = torch::NoGradGuard();
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: ineffective guard: 'guard' ends with its block
  }
  return net(x);
}

Tensor branch(torch::nn::Linear net, Tensor x, bool training) {
  if (!training)
    torch::NoGradGuard guard;
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'guard' ends with the branch of this 'if', which holds nothing else: it guards nothing; declare it in the block that it is to guard
  return net(x);
}

Tensor branch_block(torch::nn::Linear net, Tensor x, bool training) {
  if (training) {
    net->train();
  } else {
    c10::InferenceMode guard;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'guard' ends with its block
  }
  return net(x);
}

void gradients_off() { torch::NoGradGuard guard; }
// CHECK-MESSAGES: :[[@LINE-1]]:43: warning: ineffective guard: 'guard' ends with its block

struct Agent {
  Agent() {
    torch::NoGradGuard guard;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'guard' ends with its block
  }
};

Tensor unnamed_branch(torch::nn::Linear net, Tensor x, bool training) {
  if (!training)
    torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective guard: this NoGradGuard has no name
  return net(x);
}

void unnamed_last() {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
}

Tensor unnamed_in_switch(torch::nn::Linear net, Tensor x, int mode) {
  switch (mode) {
  case 0:
    net->eval();
    torch::NoGradGuard();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective guard: this NoGradGuard has no name
    return net(x);
  case 1:
    torch::NoGradGuard();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective guard: this NoGradGuard has no name
    break;
  default:
    break;
  }
  return net(x);
}

Tensor jumped_over(torch::nn::Linear net, Tensor x) {
  if (!x.defined())
    goto end;
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  x = net(x);
end:
  return x;
}

// Named, it would end the training.
void before_backward(torch::nn::Linear net, Tensor x) {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  Tensor target = net(x);
  (net(x) - target).pow(2).mean().backward();
}

// `AutoGradMode guard(bool(mode));` declares a function, too.
Tensor function_again(torch::nn::Linear net, Tensor x, int mode) {
  torch::AutoGradMode(bool(mode));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this AutoGradMode has no name
  (torch::NoGradGuard());
  // CHECK-MESSAGES: :[[@LINE-1]]:4: warning: ineffective guard: this NoGradGuard has no name
  (void)torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: ineffective guard: this NoGradGuard has no name
  return net(x);
}

Tensor vexing_argument(torch::nn::Linear net, Tensor x) {
  torch::AutoGradMode guard();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: ineffective guard: 'guard' declares a function with return type AutoGradMode
  return net(x);
}

Tensor other_order(torch::nn::Linear net, Tensor x) {
  const static torch::NoGradGuard guard;
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: misplaced guard: static 'guard' is made once
  return net(x);
}

void train_on(Tensor loss) { loss.backward(); }

// With gradients off, what is back-propagated later would throw.
void helper_trains(torch::nn::Linear net, Tensor x) {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  train_on(net(x).sum());
}

void trained_after_its_block(torch::nn::Linear net, Tensor x) {
  std::vector<Tensor> losses;
  {
    torch::NoGradGuard();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective guard: this NoGradGuard has no name
    losses.push_back(net(x).sum());
  }
  for (Tensor &loss : losses)
    loss.backward();
}

Tensor loss_of(torch::nn::Linear net, Tensor x) {
  torch::NoGradGuard();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: ineffective guard: this NoGradGuard has no name
  return net(x).sum();
}
void caller_trains(torch::nn::Linear net, Tensor x) { loss_of(net, x).backward(); }

void above_a_local_leaf() {
  auto w = torch::rand({3}, torch::requires_grad());
  Tensor loss;
  {
    torch::AutoGradMode(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective guard: this AutoGradMode has no name
    loss = (w * w).sum();
  }
  loss.backward();
}
