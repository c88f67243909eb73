// A helper's parameter, and the call that gives it.
// RUN: %check_libtorch_tidy %s libtorch-create-graph-cycle %t
#include <torch/torch.h>

static void back(torch::Tensor loss, bool create_graph) {
  loss.backward({}, true, create_graph);
}

void step(torch::nn::Linear net, torch::Tensor x) {
  back(net(x).pow(2).mean(), true);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  // CHECK-NOTES: :[[@LINE-6]]:3: note: 'create_graph' is what this backward() gets as create_graph
}
