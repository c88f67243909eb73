// Guards that end, or begin, before their scope does.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <iostream>
#include <memory>
#include <optional>

using torch::Tensor;

static void show(const Tensor &t) { std::cout << t.argmax(); }

void reset(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::optional<torch::NoGradGuard> g;
  g.emplace();
  show(net(x));
  g.reset();
  show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'reset' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: the guard ends here
}
void null(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto g = std::make_unique<torch::NoGradGuard>();
  show(net(x));
  g = nullptr;
  show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'null' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: the guard ends here
}
void shared(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto g = std::make_shared<torch::InferenceMode>();
  show(net(x));
  g.reset();
  show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'shared' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: the guard ends here
}
void deleted(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto *g = new torch::NoGradGuard;
  show(net(x));
  delete g;
  show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'deleted' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:3: note: the guard ends here
}
// Empty as yet.
void before(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::unique_ptr<torch::NoGradGuard> g;
  show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'before' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  g = std::make_unique<torch::NoGradGuard>();
  show(net(x));
}
// Ended on one way, where nothing is left on the other.
void asked(Net net, const Tensor &x, bool guard) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::optional<torch::NoGradGuard> g;
  if (guard)
    g.emplace();
  show(net(x));
  if (g)
    g.reset();
  show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'asked' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:7: note: the guard ends here
}
// The new guard begins before the old one ends, and that switches gradients on.
void made_again(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  auto g = std::make_unique<torch::NoGradGuard>();
  show(net(x));
  g = std::make_unique<torch::NoGradGuard>();
  show(net(x));
  // CHECK-NOTES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'made_again' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:5: note: the guard that this replaces ends after the new one has begun, and switches gradients on again
}

// These guard, or may.
void filled_again(Net net, const Tensor &x) {
  std::optional<torch::NoGradGuard> g;
  g.emplace();
  g.reset();
  g.emplace();
  show(net(x));
  g.emplace();
  show(net(x));
}
void given_another(Net net, const Tensor &x) {
  auto g = std::make_unique<torch::NoGradGuard>();
  g.reset();
  g.reset(new torch::NoGradGuard);
  show(net(x));
}
void sometimes(Net net, const Tensor &x, bool end) {
  auto g = std::make_unique<torch::NoGradGuard>();
  if (end)
    g.reset();
  show(net(x));
}
void below_another(Net net, const Tensor &x) {
  torch::NoGradGuard outer;
  auto g = std::make_unique<torch::NoGradGuard>();
  g.reset();
  show(net(x));
}
// It begins where gradients are off, and brings that back.
void brings_back(Net net, const Tensor &x) {
  std::optional<torch::NoGradGuard> g;
  {
    torch::NoGradGuard inner;
    g.emplace();
  }
  g.reset();
  show(net(x));
}
// What another owns goes on.
void moved(Net net, const Tensor &x) {
  auto g = std::make_unique<torch::NoGradGuard>();
  auto owner = std::move(g);
  g.reset();
  show(net(x));
}
void moved_out(Net net, const Tensor &x) {
  std::unique_ptr<torch::NoGradGuard> owner;
  {
    auto g = std::make_unique<torch::NoGradGuard>();
    owner = std::move(g);
  }
  show(net(x));
}
void released(Net net, const Tensor &x) {
  auto g = std::make_unique<torch::NoGradGuard>();
  g.release();
  g.reset();
  show(net(x));
}
void copied(Net net, const Tensor &x) {
  auto g = std::make_shared<torch::NoGradGuard>();
  auto owner = g;
  g.reset();
  show(net(x));
}
void fill(std::optional<torch::NoGradGuard> &g);
void filled_by_others(Net net, const Tensor &x) {
  std::optional<torch::NoGradGuard> g;
  fill(g);
  show(net(x));
}
void filled_by_lambda(Net net, const Tensor &x) {
  std::optional<torch::NoGradGuard> g;
  auto fill = [&] { g.emplace(); };
  fill();
  show(net(x));
}
void of_caller(Net net, const Tensor &x, std::optional<torch::NoGradGuard> &g) {
  g.emplace();
  show(net(x));
}
static std::optional<torch::NoGradGuard> everywhere;
void outside(Net net, const Tensor &x) {
  everywhere.emplace();
  show(net(x));
}
// A handler has the mode of all points that throw.
void handled(Net net, const Tensor &x) {
  std::optional<torch::NoGradGuard> g;
  try {
    g.emplace();
    show(net(x));
    g.reset();
  } catch (const std::exception &) {
    show(net(x));
  }
}
// Gradients stay off under an InferenceMode, whatever guard ends below it.
void below_inference(Net net, const Tensor &x, bool again) {
  std::optional<torch::NoGradGuard> g;
  g.emplace();
  c10::InferenceMode inference;
  g.reset();
  show(net(x));
}
void perhaps_inference(Net net, const Tensor &x) {
  std::optional<c10::InferenceMode> inference;
  auto fill = [&] { inference.emplace(); };
  fill();
  inference.emplace();
  torch::AutoGradMode on(true);
  show(net(x));
}
// Nobody deletes it: it has not ended in the handler.
void leaked(Net net, const Tensor &x) {
  try {
    auto *const g = new torch::NoGradGuard;
    show(x);
  } catch (const std::exception &) {
    show(net(x));
  }
}
// It may be off: what switches gradients on then is not known to.
void chosen_inference(Net net, const Tensor &x, bool fast) {
  c10::InferenceMode inference(fast);
  torch::AutoGradMode on(true);
  show(net(x));
}
void emplaced_inference(Net net, const Tensor &x, bool fast) {
  std::optional<c10::InferenceMode> inference;
  inference.emplace(fast);
  torch::AutoGradMode on(true);
  show(net(x));
}
