// Everything that counts as a guard, and what does not.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <ATen/core/LegacyTypeDispatch.h>
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

using torch::Tensor;

static void show(const Tensor &t) { std::cout << t.argmax(); }

void no_grad(Net net, const Tensor &x) { torch::NoGradGuard g; show(net(x)); }
void braces(Net net, const Tensor &x) { at::NoGradGuard g{}; show(net(x)); }
void constant(Net net, const Tensor &x) { const c10::NoGradGuard g; show(net(x)); }
void by_auto(Net net, const Tensor &x) { auto g = torch::NoGradGuard(); show(net(x)); }
void by_ref(Net net, const Tensor &x) { const auto &g = torch::NoGradGuard(); (void)g; show(net(x)); }
void in_pointer(Net net, const Tensor &x) { auto g = std::make_unique<torch::NoGradGuard>(); show(net(x)); }
void comma(Net net, const Tensor &x) { auto y = (torch::NoGradGuard(), net(x)); show(y); }
static Tensor run(const torch::NoGradGuard &, Net net, const Tensor &x) { return net(x); }
void argument(Net net, const Tensor &x) { auto y = run(torch::NoGradGuard(), net, x); show(y); }
void mode(Net net, const Tensor &x) { torch::AutoGradMode g(false); show(net(x)); }
void inference(Net net, const Tensor &x) { c10::InferenceMode g; show(net(x)); }
void inference_true(Net net, const Tensor &x) { torch::InferenceMode g(true); show(net(x)); }
void below(Net net, const Tensor &x) { at::AutoDispatchBelowAutograd g; show(net(x)); }
void below_inplace(Net net, const Tensor &x) { at::AutoDispatchBelowADInplaceOrView g; show(net(x)); }
void switched(Net net, const Tensor &x) { at::GradMode::set_enabled(false); show(net(x)); }
void kept(Net net, const Tensor &x) { static torch::NoGradGuard g; show(net(x)); }
void optional_guard(Net net, const Tensor &x) {
  std::optional<torch::NoGradGuard> g;
  g.emplace();
  show(net(x));
}
void in_inference(Net net, const Tensor &x) {
  c10::InferenceMode g;
  torch::AutoGradMode on(true);
  show(net(x));
}

// Wrappers that own one.
class Guard {
  std::unique_ptr<torch::NoGradGuard> guard = std::make_unique<torch::NoGradGuard>();
};
void wrapped(Net net, const Tensor &x) { Guard g; show(net(x)); }
#define NO_GRAD() torch::NoGradGuard macro_guard
void by_macro(Net net, const Tensor &x) { NO_GRAD(); show(net(x)); }

// In every caller of this unit.
static void called_guarded(Net net, const Tensor &x) { show(net(x)); }
static void between(Net net, const Tensor &x) { called_guarded(net, x); }
void caller(Net net, const Tensor &x) { torch::NoGradGuard g; between(net, x); }
void lambda(Net net, const Tensor &x) {
  auto run = [&] { show(net(x)); };
  torch::NoGradGuard g;
  run();
}
// A function that leaves gradients off.
static void switch_off() { torch::GradMode::set_enabled(false); }
void after_switch(Net net, const Tensor &x) { switch_off(); show(net(x)); }

// All parameters are frozen, or there are none.
void frozen(Net net, const Tensor &x) {
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  show(net(x));
}
void frozen_weight(const Tensor &x) {
  torch::nn::Conv1d conv(torch::nn::Conv1dOptions(1, 1, 3).bias(false));
  conv->weight.requires_grad_(false);
  show(conv(x));
}
void no_parameters(const Tensor &x) {
  torch::nn::ReLU relu;
  torch::nn::MSELoss loss;
  show(relu(x));
  show(loss(x, x));
}

// These are none.
void temporary(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  torch::NoGradGuard();
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'temporary' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void closed_block(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  {
    torch::NoGradGuard g;
  }
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'closed_block' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void mode_on(Net net, const Tensor &x) {
  torch::AutoGradMode g(true);
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'mode_on' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void overridden(Net net, const Tensor &x) {
  torch::NoGradGuard g;
  torch::AutoGradMode on(true);
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'overridden' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
// A guard that nothing owns goes on.
void leaked(Net net, const Tensor &x) {
  new torch::NoGradGuard;
  show(net(x));
}
void given(Net net, const Tensor &x) {
  torch::NoGradGuard *g = nullptr;
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'given' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  g = new torch::NoGradGuard;
  show(net(x));
  delete g;
}
// Nothing does under InferenceMode, wherever it is.
void within(Net net, const Tensor &x) {
  c10::InferenceMode g;
  auto inner = [&] {
    at::GradMode::set_enabled(true);
    show(net(x));
  };
  inner();
}
static void switches(Net net, const Tensor &x) {
  torch::AutoGradMode on(true);
  show(net(x));
}
static void hands_on(Net net, const Tensor &x) { switches(net, x); }
void above(Net net, const Tensor &x) {
  c10::InferenceMode g;
  hands_on(net, x);
}
static void runs(Net net, const Tensor &x) { show(net(x)); }
static void switches_between(Net net, const Tensor &x) {
  torch::AutoGradMode on(true);
  runs(net, x);
}
void above_between(Net net, const Tensor &x) {
  c10::InferenceMode g;
  switches_between(net, x);
  [&] {
    at::GradMode::set_enabled(true);
    [&] { show(net(x)); }();
  }();
}
static void runs_too(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'runs_too' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void no_grad_above_between(Net net, const Tensor &x) {
  torch::NoGradGuard g;
  torch::AutoGradMode on(true);
  runs_too(net, x);
}
static void switches_too(Net net, const Tensor &x) {
  torch::AutoGradMode on(true);
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'switches_too' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void above_no_grad(Net net, const Tensor &x) {
  torch::NoGradGuard g;
  switches_too(net, x);
}
void inference_false(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  c10::InferenceMode g(false);
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'inference_false' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void only_eval(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  net->eval();
  show(net(x.detach()));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'only_eval' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
static void sometimes_guarded(Net net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  show(net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: inference without NoGradGuard: 'net' runs in 'sometimes_guarded' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
void with_guard(Net net, const Tensor &x) {
  torch::NoGradGuard g;
  sometimes_guarded(net, x);
}
void without_guard(Net net, const Tensor &x) { sometimes_guarded(net, x); }

// A function that runs what it is given runs it under its own guard.
template <typename Function> void generic_without(Function f) {
  torch::NoGradGuard g;
  f();
}
void without(const std::function<void()> &f) {
  torch::InferenceMode g;
  f();
}
void given(Net net, const Batches &batches) {
  generic_without([&] { show(net(batches.front())); });
  without([&] { show(net(batches.front())); });
  without([&] {
    std::for_each(batches.begin(), batches.end(),
                  [&](const Tensor &x) { show(net(x)); });
  });
  auto step = [&] { show(net(batches.front())); };
  without(step);
}
