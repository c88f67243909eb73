// All ways to ask for the graph of the gradients.
// RUN: %check_libtorch_tidy %s libtorch-create-graph-cycle %t

#include <torch/torch.h>

using torch::Tensor;

constexpr bool kCreateGraph = true;

void spellings(Tensor w, Tensor grad) {
  (w * w).sum().backward({}, true, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  (w * w).backward(grad, c10::nullopt, /*create_graph=*/true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  (w * w).sum().backward(Tensor(), /*keep_graph=*/c10::nullopt, kCreateGraph);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  Tensor loss = (w * w).sum();
  loss.backward({}, {}, {true});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  const bool create = true;
  bool also = create;
  loss.backward({}, true, create, std::vector<Tensor>{w});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  loss.backward({}, true, also);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  auto *pointer = &loss;
  pointer->backward({}, true, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  torch::autograd::backward({loss}, {}, true, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  torch::autograd::backward({loss, w.sum()}, {grad, {}}, c10::nullopt,
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
                            kCreateGraph);
}

// What comes before does not count, in a function that runs once.
double step(torch::nn::Linear net, torch::optim::SGD &optimizer, Tensor x) {
  optimizer.zero_grad();
  Tensor loss = net(x).pow(2).mean();
  loss.backward({}, true, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
  Tensor penalty = net->weight.grad().pow(2).sum();
  penalty.backward();
  optimizer.step();
  return loss.item<double>();
}

void no_reset_in_loop(torch::nn::Linear net, torch::optim::SGD &optimizer,
                      const std::vector<Tensor> &data) {
  for (const Tensor &x : data) {
    net(x).pow(2).mean().backward({}, true, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
    net->weight.grad().zero_();
    optimizer.step();
  }
}

// The flag comes from the caller.
void back(Tensor loss, bool create_graph = false) {
  loss.backward({}, c10::nullopt, create_graph);
}
void callers(Tensor w) {
  back((w * w).sum());
  back((w * w).sum(), false);
  back((w * w).sum(), true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
}

template <typename Net> void generic(Net net, Tensor x) {
  net->forward(x).sum().backward({}, true, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
}
void use(torch::nn::Linear net, Tensor x) { generic(net, x); }

#define BACK(loss) loss.backward({}, true, true)
void macro(Tensor w) { BACK((w * w).sum()); }
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]

// What its caller resets are the gradients of another model.
static void curvature(torch::nn::Linear &net, Tensor x) {
  net(x).sum().backward({}, true, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: backward() with create_graph=true stores gradients whose graph owns the parameters: each parameter and its gradient keep each other until the gradient is reset; torch::autograd::grad returns them instead [libtorch-create-graph-cycle]
}
static void plain(torch::nn::Linear &net, torch::optim::SGD &opt, Tensor x) {
  opt.zero_grad();
  net(x).sum().backward();
}
void two_models(Tensor x) {
  {
    torch::nn::Linear net(4, 4);
    curvature(net, x);
  }
  torch::nn::Linear other(4, 4);
  torch::optim::SGD opt(other->parameters(), 0.1);
  plain(other, opt, x);
  opt.zero_grad();
}
