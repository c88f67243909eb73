// Results of operators that live on while a network runs.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t -- -- -I%S/../Inputs
#include "net.h"

namespace F = torch::nn::functional;
using torch::Tensor;

Tensor stitch(Net &blender, const Batches &shots, Tensor grid, Tensor canvas) {
  torch::NoGradGuard no_grad;
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Tensor warped;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'warped' is declared outside the loop that makes it, so the tensor stays alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &shot : shots) {
    warped = F::grid_sample(shot, grid);
    // CHECK-FIXES: Tensor warped = F::grid_sample(shot, grid);
    canvas.add_(warped);
  }
  return blender(canvas);
}

double exposure(Net &net, const Tensor &shot, Tensor x, int rounds) {
  torch::NoGradGuard no_grad;
  Tensor wide = shot.to(torch::kDouble).pow(2.2);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'wide' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  const double gain = wide.mean().item<double>();
  // CHECK-FIXES: const double gain = wide.mean().item<double>();
  // CHECK-FIXES-NEXT: wide = torch::Tensor();
  for (int i = 0; i < rounds; ++i)
    x = net(x * gain);
  return x.sum().item<double>();
}

// Used in the loop or after it, small, or in a graph. What a view shows is held
// by both names.
double needed(Net &net, const Tensor &shot, Tensor x, int rounds) {
  torch::NoGradGuard no_grad;
  Tensor inside = shot.pow(2), after = shot.exp(), small = shot.sum();
  Tensor held = shot.sqrt();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'held' and 'view' are last used before the loop, but their memory stays allocated while the loop runs a module; reset them first [libtorch-long-lived-intermediate]
  Tensor view = held.select(0, 1);
  Tensor mask = shot > 0;
  double gain = small.item<double>() + view.mean().item<double>() +
                mask.sum().item<double>() + after.mean().item<double>();
  for (int i = 0; i < rounds; ++i)
    x = net(x * inside * gain);
  return (x + after).sum().item<double>();
}
double in_graph(Net &net, const Tensor &shot, Tensor x, int rounds) {
  Tensor wide = net(shot);
  Tensor gain = wide.exp();
  for (int i = 0; i < rounds; ++i)
    x = net(x * gain);
  return x.sum().item<double>();
}

// What forward() computes from its input, in a member that nobody reads.
struct PositionsImpl : torch::nn::Module {
  Tensor forward(const Tensor &x) {
    last_input = x + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: wasted memory: 'last_input' keeps what forward() computed alive until the next call, in training with its autograd graph, and nothing reads it; make it a local variable [libtorch-long-lived-intermediate]
    shown = x * 2;
    before = before.defined() ? before + x : x.exp();
    return last_input;
  }
  Tensor show() const { return shown; }
  Tensor last_input, shown, before;
};
